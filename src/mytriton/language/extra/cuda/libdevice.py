"""`tl.extra.cuda.libdevice`: another name of `tl.extra.libdevice`."""

from ..libdevice import *  # noqa: F403
