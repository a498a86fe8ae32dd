"""Every public name's entry: `SHOWN[key]`, see `resolve.py` for keys."""

from __future__ import annotations

from .in_kernels import IN_KERNELS
from .of_cuda import OF_CUDA
from .of_libdevice import OF_LIBDEVICE
from .of_types import OF_TYPES
from .on_blocks import ON_BLOCKS
from .resolve import keys_of
from .shown import Shown

SHOWN: dict[str, Shown] = {**ON_BLOCKS, **IN_KERNELS, **OF_TYPES, **OF_LIBDEVICE, **OF_CUDA}


def shown(key: str) -> Shown | None:
    """The entry of a name, its own or that of the function it is."""
    return next((SHOWN[k] for k in keys_of(key) if k in SHOWN), None)
