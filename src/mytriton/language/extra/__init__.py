"""`tl.extra`: libdevice, and the few things only CUDA kernels ask for."""

from . import cuda, libdevice

__all__ = ["cuda", "libdevice"]
