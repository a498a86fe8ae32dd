"""What a GPU can do at most, from its properties, and its clocks: for judging benchmarks.

The figures follow NVIDIA's data sheets: per multiprocessor and clock, 128 float32 lanes of two
operations each (64 on GA100 and GV100), and a dense tensor-core rate by architecture.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

TENSOR_CORE_OPERATIONS = {7: 1024, 8: 2048, 9: 4096, 10: 8192}
"""Dense 16-bit operations per multiprocessor and clock, by major compute capability (8 is that of
GA100; other Ampere and Ada parts have half)."""


def _properties(device: int | None) -> Any:
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch has no CUDA device here")
    return torch.cuda.get_device_properties(
        torch.cuda.current_device() if device is None else device
    )


def get_dram_gbps(device: int | None = None) -> float:
    """The GPU's memory bandwidth in GB/s: bus width times memory clock, two transfers a clock."""
    found = _properties(device)
    return float(found.memory_clock_rate * 2 * found.memory_bus_width / 8 / 1e6)


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """The GPU's greatest rate outside its tensor cores, in TFLOP/s.

    dtype: torch.float32, or a 16-bit one (twice the rate where there are packed instructions).
    clock_rate: in kHz.
    """
    found = _properties(device)
    half = (found.major, found.minor) in ((7, 0), (7, 5), (8, 0))
    lanes = 64 if half else 128
    packed = 2 if getattr(dtype, "itemsize", 4) == 2 and not half else 1
    packed = 4 if getattr(dtype, "itemsize", 4) == 2 and half else packed
    return float(found.multi_processor_count * lanes * 2 * packed * clock_rate * 1e-9)


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """The GPU's greatest dense rate on its tensor cores, in TFLOP/s (of float32: as tf32).

    clock_rate: in kHz. Raises RuntimeError for a GPU without tensor cores.
    """
    found = _properties(device)
    rate = TENSOR_CORE_OPERATIONS.get(found.major)
    if rate is None:
        raise RuntimeError(f"{found.name} has no tensor cores known here")
    if found.major == 8 and found.minor != 0:
        rate //= 2
    scaled = rate * 2 / getattr(dtype, "itemsize", 4)
    return float(found.multi_processor_count * scaled * clock_rate * 1e-9)


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """What `nvidia-smi` reports of GPU 0 for these query names (`clocks.max.sm`, …)."""
    query = ",".join(attrs)
    command = ["nvidia-smi", "-i", "0", f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    return [int(part) for part in subprocess.check_output(command, text=True).split(",")]


@contextmanager
def set_gpu_clock(
    ref_sm_clock: int = 1350, ref_mem_clock: int = 1215
) -> Iterator[tuple[float, float]]:
    """Locks the clocks of GPU 0, in MHz, for the extent of a `with`; needs the right to do so.

    Gives the tensor-core rate in TFLOP/s and the bandwidth in GB/s at those clocks.
    """
    clock = f"{ref_sm_clock},{ref_sm_clock}"
    subprocess.check_call(["nvidia-smi", "-i", "0", "-pm", "1"])
    subprocess.check_call(["nvidia-smi", "-i", "0", f"--lock-gpu-clocks={clock}"])
    memory = f"{ref_mem_clock},{ref_mem_clock}"
    subprocess.check_call(["nvidia-smi", "-i", "0", f"--lock-memory-clocks={memory}"])
    try:
        import torch

        found = _properties(0)
        tflops = get_max_tensorcore_tflops(torch.float16, ref_sm_clock * 1e3, 0)
        yield tflops, ref_mem_clock * 2 * found.memory_bus_width / 8 / 1e3
    finally:
        for reset in ("--reset-gpu-clocks", "--reset-memory-clocks"):
            subprocess.check_call(["nvidia-smi", "-i", "0", reset])
