"""`triton.backends.driver`: what a driver answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from .compiler import GPUTarget


class DriverBase(ABC):
    """The device that kernels go to, for libraries that ask.

    utils: `get_device_properties(device)` gives a dict with `multiprocessor_count`,
    `max_shared_mem` (bytes), `warpSize` and clocks (kHz).
    """

    utils: Any

    @staticmethod
    def is_active() -> bool:
        """Whether the device is there."""
        raise NotImplementedError

    @abstractmethod
    def get_current_target(self) -> GPUTarget: ...

    @abstractmethod
    def get_current_device(self) -> int: ...

    @abstractmethod
    def set_current_device(self, device: int) -> None: ...

    @abstractmethod
    def get_current_stream(self, device: int | None = None) -> int: ...

    @abstractmethod
    def get_active_torch_device(self) -> Any: ...

    @abstractmethod
    def get_device_interface(self) -> Any: ...

    @abstractmethod
    def get_benchmarker(self) -> Callable[..., Any]: ...


__all__ = ["DriverBase"]
