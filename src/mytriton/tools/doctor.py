"""What this machine has, and which targets work on it: `mytriton doctor`.

A line of the report is a check that does the thing: it compiles, loads, or runs a small kernel.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..targets import TARGETS


@dataclass(frozen=True)
class Finding:
    """One line: what was checked, whether it works, and the detail or what to install."""

    name: str
    works: bool
    detail: str


def report() -> list[Finding]:
    """Every check's finding, targets last."""
    return [_attempt(name, check) for name, check in CHECKS.items()]


def _attempt(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, check())
    except Exception as error:  # whatever fails is the finding
        return Finding(name, False, str(error).strip().split("\n")[0] or type(error).__name__)


def _package(name: str, need: str) -> Callable[[], str]:
    def check() -> str:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            raise RuntimeError(f"not installed; {need}") from None

    return check


def _machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _llvm() -> str:
    from llvmlite import binding

    version = ".".join(map(str, binding.llvm_version_info))
    return f"LLVM {version} for {binding.get_host_cpu_name()}"


def _compiler() -> str:
    path = shutil.which("g++") or shutil.which("clang++")
    if path is None:
        raise RuntimeError("no C++ compiler; cudasim needs g++ or clang++")
    return path


def _nvrtc() -> str:
    from ..targets.cuda import compile_nvrtc

    compile_nvrtc('extern "C" __global__ void empty() {}', "sm_80")
    return "compiles CUDA C++ without a GPU"


def _gpu() -> str:
    try:
        import cupy
    except ImportError:
        raise RuntimeError("no CuPy; pip install 'mytriton[cuda13]' where there is a GPU") from None
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return str(properties["name"].decode())


def _on_gpu() -> str:
    name = _gpu()
    import cupy

    _run_small_kernel("cuda", cupy)
    return f"works on {name}"


def _target(name: str) -> Callable[[], str]:
    def check() -> str:
        _run_small_kernel(name, np)
        return f"works: {TARGETS[name].about}"

    return check


def _run_small_kernel(target: str, library: Any) -> None:
    """Doubles an array of the library on the target. Raises RuntimeError for a wrong result."""
    from ._doctor_kernel import double_kernel

    x = library.arange(5, dtype=library.float32)
    out = library.zeros_like(x)
    double_kernel[(1,)](x, out, x.size, BLOCK=8, target=target)
    if not bool((out == 2 * x).all()):
        raise RuntimeError(f"a small kernel gave {out}, not {2 * x}")


CHECKS: dict[str, Callable[[], str]] = {
    "machine": _machine,
    "numpy": _package("numpy", "pip install numpy"),
    "llvm": _llvm,
    "C++ compiler": _compiler,
    "torch (optional)": _package("torch", "pip install 'mytriton[torch]'"),
    "NVRTC (optional)": _nvrtc,
    "GPU (optional)": _gpu,
    **{
        f"target {name}": _on_gpu if target.memory == "gpu" else _target(name)
        for name, target in TARGETS.items()
    },
}
"""The checks by the name of what they check, in the order of the report."""
