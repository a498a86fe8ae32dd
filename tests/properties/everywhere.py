"""A function of blocks, run on every CPU target and held to one reference.

One idea: a property is a function of blocks written in the language and a function of arrays
written in NumPy. `Kernel` turns the first into IR, once for each shape and dtype: load every input,
call it, store what it returns. The IR as traced, after the passes, and as native code must give the
second's answer. On the way the IR must pass the verifier and survive being printed and read back,
so that every property is also one of the text, the verifier and the passes.

    agree(lambda x: tl.cumsum(x, 0), np.cumsum, [x])
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

import mytriton.language as tl
from mytriton.ir.build import Builder, using
from mytriton.ir.check import check
from mytriton.ir.nodes import Function, Param
from mytriton.ir.parse import parse
from mytriton.ir.text import print_function
from mytriton.ir.types import PointerType, VectorType, element_of, shape_of
from mytriton.passes.pipeline import optimize
from mytriton.targets import cpu, interpret
from mytriton.targets.memory import Buffer

Array = np.ndarray[Any, Any]

DTYPES: dict[str, np.dtype[Any]] = {
    "int1": np.dtype(np.bool_),
    **{f"{s}int{b}": np.dtype(f"{s}int{b}") for s in ("", "u") for b in (8, 16, 32, 64)},
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
    "fp64": np.dtype(np.float64),
}
"""The NumPy dtype of each element type, by Triton's name."""

TRITON = {dtype: name for name, dtype in DTYPES.items()}
INTS = [name for name in DTYPES if "int" in name and name != "int1"]
FLOATS = [name for name in DTYPES if "fp" in name or name == "bf16"]
WIDE_FLOATS = ["fp16", "bf16", "fp32", "fp64"]

TARGETS = ("traced", "interpret", "cpu")
"""Where every property holds; `traced` is the IR before the passes, interpreted."""


def available() -> list[str]:
    """The targets, or those of them that MYTRITON_TEST_TARGETS=interpret,cpu names."""
    chosen = os.environ.get("MYTRITON_TEST_TARGETS", "")
    return [target for target in TARGETS if not chosen or target in chosen.split(",")]


@contextmanager
def time_limit(seconds: int, what: str) -> Iterator[None]:
    """Fails where the body takes longer: a compiler that blows up must not stop the whole run."""

    def expired(number: int, frame: Any) -> None:
        raise TimeoutError(f"{what} took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def buffer(array: Array) -> Buffer:
    ty = PointerType(tl.dtype(TRITON[array.dtype]))
    return Buffer(ty, array.ctypes.data, array.nbytes, array)


def trace(body: Callable[..., Any], types: Sequence[Any]) -> Function:
    """The IR of a Python function called with tensors of these types."""
    params = [Param(f"p{i}", ty) for i, ty in enumerate(types)]
    with using(Builder(where=())) as builder:
        body(*map(tl.tensor, params))
        return builder.function("kernel", params)


def block(shape: tuple[int, ...], pointer: Any) -> Any:
    """The whole array as a block, or its one number."""
    if not shape:
        return tl.load(pointer)
    return tl.reshape(tl.load(pointer + tl.arange(0, math.prod(shape))), shape)


def listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (tuple, list)) else [values]


def round_trip(function: Function) -> None:
    """The text of valid IR reads back to the same text."""
    check(function)
    text = print_function(function)
    assert print_function(parse(text)) == text


class Kernel:
    """The function of blocks, for inputs of some shapes and dtypes."""

    def __init__(self, body: Callable[..., Any], inputs: Sequence[Array]) -> None:
        self.shapes = [np.shape(a) for a in inputs]
        pointers = [PointerType(tl.dtype(TRITON[np.asarray(a).dtype])) for a in inputs]
        self.results: list[Any] = []

        def called(*given: Any) -> list[Any]:
            return listed(body(*map(block, self.shapes, given)))

        def measure(*given: Any) -> None:
            self.results += [tl.to_tensor(r).type for r in called(*given)]

        trace(measure, pointers)

        def kernel(*given: Any) -> None:
            count = len(pointers)
            for value, pointer, ty in zip(called(*given[:count]), given[count:], self.results):
                value = tl.to_tensor(value)
                if not isinstance(ty, VectorType):
                    tl.store(pointer, value)
                else:
                    lanes = pointer + tl.arange(0, ty.size)
                    tl.store(lanes, tl.reshape(value, (ty.size,)))

        outputs = [PointerType(element_of(ty)) for ty in self.results]
        self.traced = trace(kernel, [*pointers, *outputs])
        self.function = optimize(self.traced)
        round_trip(self.traced)
        round_trip(self.function)

    @cached_property
    def native(self) -> cpu.CpuKernel:
        with time_limit(20, "compiling"):
            return cpu.compile(self.function, overlap=False)

    def on(self, target: str, inputs: Sequence[Array]) -> list[Array]:
        """The results on a target."""
        given = [np.ascontiguousarray(a).reshape(np.shape(a)).copy() for a in inputs]
        made = [np.zeros(shape_of(ty), DTYPES[element_of(ty).name]) for ty in self.results]
        arguments = [buffer(a) for a in [*given, *made]]
        if target == "cpu":
            self.native.launch((1, 1, 1), arguments)
        else:
            function = self.traced if target == "traced" else self.function
            interpret.run(function, arguments, (1, 1, 1))
        return made

    def everywhere(self, inputs: Sequence[Array]) -> Iterator[tuple[str, list[Array]]]:
        for target in available():
            yield target, self.on(target, inputs)


def require_equal(
    got: Array, want: Array, what: str, rtol: float = 0.0, atol: float = 0.0, signs: bool = False
) -> None:
    """Equal in shape, dtype and value; NaNs are equal, and zeros too unless `signs`."""
    assert got.shape == np.shape(want), f"{what}: shape {got.shape}, expected {np.shape(want)}"
    assert got.dtype == np.asarray(want).dtype, f"{what}: {got.dtype} is not {want.dtype}"
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want, what)
        return
    with np.errstate(all="ignore"):
        left, right = got.astype(np.float64), np.asarray(want).astype(np.float64)
    if rtol or atol:
        np.testing.assert_allclose(left, right, rtol, atol, err_msg=what)
    else:
        np.testing.assert_array_equal(left, right, what)
    if signs:
        numbers = ~np.isnan(right)
        np.testing.assert_array_equal(np.signbit(left)[numbers], np.signbit(right)[numbers], what)


def quiet(x: Array) -> Array:
    """The same with each NaN the usual one: NumPy's fmax does not skip a signalling NaN."""
    if x.dtype.kind in "biu":
        return x
    with np.errstate(all="ignore"):
        return np.where(np.isnan(x), np.array(np.nan, x.dtype), x)


def agree(
    body: Callable[..., Any],
    reference: Callable[..., Any],
    *datasets: Sequence[Array],
    rtol: float = 0.0,
    atol: float = 0.0,
    signs: bool = False,
) -> None:
    """The function of blocks gives the reference's answer for each list of inputs (all of the same
    shapes and dtypes), on every target."""
    kernel = Kernel(body, datasets[0])
    for inputs in datasets:
        with np.errstate(all="ignore"):
            wanted = listed(reference(*map(quiet, inputs)))
        for target, got in kernel.everywhere(inputs):
            assert len(got) == len(wanted)
            for place, (one, other) in enumerate(zip(got, wanted)):
                require_equal(one, other, f"{target}, result {place}", rtol, atol, signs)
