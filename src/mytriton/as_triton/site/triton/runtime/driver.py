"""`triton.runtime.driver`: which device kernels go to, and what it is like.

Two drivers: `CPUDriver` (the target `cpu`), and `CudaDriver`, active where PyTorch reports a CUDA
device. A launch itself goes by its arguments; the active driver answers the questions that
libraries ask.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends.compiler import GPUTarget
from ..backends.driver import DriverBase

CACHE_BYTES = 256 * 1024 * 1024
"""What a benchmark writes over to empty a GPU's cache, in bytes; more than any second-level
cache."""


def _torch() -> Any:
    """PyTorch, if the program has imported it; this package never imports it by itself."""
    return sys.modules.get("torch")


class Utils:
    """Device properties, in the form in which Triton's driver gives them."""

    def __init__(self, properties: Callable[[int], dict[str, Any]]) -> None:
        self.get_device_properties = properties


def _cpu_properties(device: int = 0) -> dict[str, Any]:
    """`max_shared_mem` is what a GPU of today offers, so that configurations chosen by it are those
    of a GPU."""
    return {
        "multiprocessor_count": os.cpu_count() or 1,
        "max_shared_mem": 232_448,
        "max_num_regs": 65_536,
        "warpSize": 32,
        "sm_clock_rate": 0,
        "mem_clock_rate": 0,
        "mem_bus_width": 0,
    }


class CPUDriver(DriverBase):
    """This machine's CPU."""

    def __init__(self) -> None:
        self.utils = Utils(_cpu_properties)

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cpu", "", 32)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        """`Event`, `synchronize`, `current_device` and the rest, on the host's clock."""
        return HostInterface

    def get_benchmarker(self) -> Callable[..., Any]:
        from mytriton.tools.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        return np.empty(CACHE_BYTES // 4, np.int32)

    def clear_cache(self, cache: Any) -> None:
        cache.fill(0)


class HostEvent:
    """A moment of the host's clock."""

    def __init__(self, enable_timing: bool = True) -> None:
        self.seconds = 0.0

    def record(self, stream: Any = None) -> None:
        self.seconds = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: HostEvent) -> float:
        """Milliseconds from this event to another."""
        return (end.seconds - self.seconds) * 1e3


class HostInterface:
    """What `torch.cuda` offers a benchmark, for kernels that have run when the launch returns."""

    Event = HostEvent

    @staticmethod
    def synchronize(device: Any = None) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def is_available() -> bool:
        return True


class CudaDriver(DriverBase):
    """The CUDA device that is current in PyTorch."""

    def __init__(self) -> None:
        self.utils = Utils(self._properties)

    @staticmethod
    def is_active() -> bool:
        torch = _torch()
        return torch is not None and bool(torch.cuda.is_available()) and torch.version.hip is None

    def _properties(self, device: int) -> dict[str, Any]:
        found = _torch().cuda.get_device_properties(device)
        return {
            "multiprocessor_count": found.multi_processor_count,
            "max_shared_mem": found.shared_memory_per_block_optin,
            "max_num_regs": found.regs_per_multiprocessor,
            "warpSize": found.warp_size,
            "sm_clock_rate": getattr(found, "clock_rate", 0),
            "mem_clock_rate": getattr(found, "memory_clock_rate", 0),
            "mem_bus_width": getattr(found, "memory_bus_width", 0),
        }

    def get_current_target(self) -> GPUTarget:
        major, minor = _torch().cuda.get_device_capability(self.get_current_device())
        return GPUTarget("cuda", major * 10 + minor, 32)

    def get_current_device(self) -> int:
        return int(_torch().cuda.current_device())

    def set_current_device(self, device: int) -> None:
        _torch().cuda.set_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return int(_torch().cuda.current_stream(device).cuda_stream)

    def get_active_torch_device(self) -> Any:
        return _torch().device("cuda", self.get_current_device())

    def get_device_interface(self) -> Any:
        return _torch().cuda

    def get_benchmarker(self) -> Callable[..., Any]:
        from mytriton.tools.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        torch = _torch()
        return torch.empty(CACHE_BYTES // 4, dtype=torch.int, device="cuda")

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()


class DriverConfig:
    """The driver that is asked: `active`, which starts as `default`."""

    def __init__(self) -> None:
        self._default: DriverBase | None = None
        self._active: DriverBase | None = None

    @property
    def default(self) -> DriverBase:
        """CUDA where there is a device, else the CPU."""
        if self._default is None or isinstance(self._default, CPUDriver):
            # PyTorch may have been imported since.
            wanted = CudaDriver if CudaDriver.is_active() else CPUDriver
            if type(self._default) is not wanted:
                self._default = wanted()
        return self._default

    @property
    def active(self) -> DriverBase:
        return self.default if self._active is None else self._active

    def set_active(self, driver: DriverBase) -> None:
        """Makes a driver the one that is asked, until `reset_active`."""
        self._active = driver

    def reset_active(self) -> None:
        self._active = None

    def set_active_to_cpu(self) -> None:
        self.set_active(CPUDriver())

    def set_active_to_gpu(self) -> None:
        """Raises RuntimeError where PyTorch has no CUDA device."""
        if not CudaDriver.is_active():
            raise RuntimeError("PyTorch has no CUDA device here; driver.set_active_to_cpu()")
        self.set_active(CudaDriver())


driver = DriverConfig()

__all__ = ["CPUDriver", "CudaDriver", "DriverBase", "DriverConfig", "driver"]
