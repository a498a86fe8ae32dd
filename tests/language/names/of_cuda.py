"""`tl.extra.cuda`, and what is refused: each entry shows what happens instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError

from .of_types import TYPES, equal, refuses
from .shown import Launched, Plain, Shown


@triton.jit
def waiting_kernel(out):
    tl.extra.cuda.gdc_wait()
    tl.store(out, tl.extra.cuda.num_warps() + 1000 * tl.extra.cuda.num_threads())
    tl.extra.cuda.gdc_launch_dependents()


@triton.jit
def clock_kernel(out, NAME: tl.constexpr):
    tl.store(out, getattr(tl.extra.cuda, NAME)())


def refused_in_kernel(name: str) -> Plain:
    def check() -> None:
        for target in ("interpret", "cpu"):
            with pytest.raises(CompileError, match="not supported"):
                clock_kernel[(1,)](np.zeros(1, np.int64), NAME=name, target=target)

    return Plain(check)


@triton.jit
def fp8_kernel(x, out, NAME: tl.constexpr):
    lanes = tl.arange(0, 8)
    small = getattr(tl.extra.cuda, NAME)(tl.load(x + lanes), tl.float8e4b15)
    tl.store(out + lanes, getattr(tl.extra.cuda, NAME)(small, tl.float32))


EXACT = np.array([0, 1, -1.5, 0.25, 1.875, -0.125, 0.5, 1.25], np.float32)


def fp8(name: str) -> Launched:
    return Launched(fp8_kernel, (EXACT, np.zeros(8, "f4")), {"out": EXACT}, {"NAME": name})


def waited() -> Launched:
    return Launched(waiting_kernel, (np.zeros(1, np.int32),), {"out": [128004]})


def of_pointers() -> dict[str, Shown]:
    """What a pointer type has no answer to, in Triton either."""
    pointer: Any = TYPES["pointer_type"][0]
    names = ("kind", "get_int_min_value", "get_int_max_value")
    asked: dict[str, Shown] = {
        f"pointer_type.{name}": refuses(lambda name=name: getattr(pointer, name)(), TypeError)
        for name in names
    }
    return asked | {
        "pointer_type.codegen_name": equal(lambda: "float16" in pointer.codegen_name(), True)
    }


OF_CUDA: dict[str, Shown] = {
    **{
        f"cuda.{name}": waited()
        for name in ("gdc_wait", "gdc_launch_dependents", "num_warps", "num_threads")
    },
    **{f"cuda.{name}": refused_in_kernel(name) for name in ("globaltimer", "smid")},
    **{f"cuda.convert_custom_float8_sm{n}": fp8(f"convert_custom_float8_sm{n}") for n in (70, 80)},
    **of_pointers(),
    "math.T": equal(lambda: hasattr(tl.math, "T"), False),
    "target_info.driver": equal(lambda: hasattr(tl.target_info, "driver"), False),
}
