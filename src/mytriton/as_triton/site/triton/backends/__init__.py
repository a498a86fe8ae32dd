"""`triton.backends`: the compiler and driver of each kind of device."""

from __future__ import annotations

from dataclasses import dataclass

from .compiler import BaseBackend
from .driver import DriverBase


@dataclass(frozen=True)
class Backend:
    """The compiler class and the driver class of one kind of device."""

    compiler: type[BaseBackend]
    driver: type[DriverBase]


def _backends() -> dict[str, Backend]:
    from ..runtime.driver import CPUDriver, CudaDriver

    return {"cpu": Backend(BaseBackend, CPUDriver), "nvidia": Backend(BaseBackend, CudaDriver)}


backends = _backends()

__all__ = ["Backend", "backends"]
