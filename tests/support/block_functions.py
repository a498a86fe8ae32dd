"""A function of blocks, run on every backend and held to one reference.

A property is a function of blocks written in the language and a function of arrays written in
NumPy. `BlockFunction` turns the first into a kernel, once for each shape and dtype: load every
input, call it, store what it returns. As traced, after the passes, and as native code it must give
the second's answer. On the way the IR must pass the verifier and survive being printed and read
back, so that every property is also one of the text, the verifier and the passes.

    check_everywhere(lambda x: tl.cumsum(x, 0), np.cumsum, [x])
    check_value(lambda x: x + 1, x + 1, x)               # cudasim too, where it can be lowered
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

import mytriton.language as tl
from mytriton.errors import CompileError
from mytriton.ir.build import Builder, using
from mytriton.ir.check import check
from mytriton.ir.nodes import Function, Param
from mytriton.ir.parse import parse
from mytriton.ir.text import print_function
from mytriton.ir.types import BOOL, PointerType, ScalarType, Type, VectorType, element_of, shape_of
from mytriton.passes.pipeline import optimize
from mytriton.targets import CompileOptions, cpu, cuda, interpret
from mytriton.targets.memory import Buffer

from . import backends
from .compare import quiet, require_equal
from .dtypes import DTYPES, element_type
from .guarded import guarded_copies
from .memory import arguments_of, buffer

Array = np.ndarray[Any, Any]
BACKENDS = ("traced", "interpret", "cpu")
"""Where every property holds; `traced` is the IR before the passes, interpreted."""


def available() -> list[str]:
    """The backends, or those of them that MYTRITON_TEST_TARGETS=interpret,cpu names."""
    return [backend for backend in BACKENDS if not backends.missing(backend)]


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


# -- from Python to IR


def trace(body: Callable[..., Any], *types: Type) -> Function:
    """The IR that a Python function emits when called with tensors of these types."""
    params = [Param(f"p{i}", ty) for i, ty in enumerate(types)]
    with using(Builder(where=())) as builder:
        body(*map(tl.tensor, params))
        return builder.function("kernel", params)


def text(body: Callable[..., Any], *types: Type) -> str:
    """The SSA text of what `body` emits."""
    return print_function(trace(body, *types))


def round_trip(function: Function) -> None:
    """The function is valid, and its text reads back to the same text."""
    check(function)
    text = print_function(function)
    assert print_function(parse(text)) == text


def load_block(shape: tuple[int, ...], pointer: Any) -> Any:
    """The whole array as a block, or its one number."""
    if not shape:
        return tl.load(pointer)
    return tl.reshape(tl.load(pointer + tl.arange(0, int(np.prod(shape)))), shape)


def store_block(value: Any, pointer: Any) -> None:
    """All elements of a block in row-major order, or the one number."""
    value = tl.to_tensor(value)
    if isinstance(value.type, VectorType):
        size = value.type.size
        tl.store(pointer + tl.arange(0, size), tl.reshape(value, (size,)))
    else:
        tl.store(pointer, value)


def as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (tuple, list)) else [values]


class BlockFunction:
    """A kernel that applies a function of blocks to inputs of some shapes and dtypes."""

    def __init__(self, body: Callable[..., Any], inputs: Sequence[Array]) -> None:
        self.shapes = [np.shape(a) for a in inputs]
        pointers = [PointerType(element_type(np.asarray(a).dtype)) for a in inputs]
        self.results: list[Type] = []

        def called(*given: Any) -> list[Any]:
            return as_list(body(*map(load_block, self.shapes, given)))

        def measure(*given: Any) -> None:
            self.results += [tl.to_tensor(r).type for r in called(*given)]

        trace(measure, *pointers)

        def kernel(*given: Any) -> None:
            count = len(pointers)
            for value, pointer in zip(called(*given[:count]), given[count:], strict=True):
                store_block(value, pointer)

        outputs = [PointerType(element_of(ty)) for ty in self.results]
        self.traced = trace(kernel, *pointers, *outputs)
        round_trip(self.traced)

    @cached_property
    def function(self) -> Function:
        """The IR after the passes."""
        function = optimize(self.traced)
        round_trip(function)
        return function

    @cached_property
    def native(self) -> cpu.CpuKernel:
        with time_limit(20, "compiling"):
            return cpu.compile(self.function, CompileOptions(overlap=False))

    def on(self, backend: str, inputs: Sequence[Array]) -> list[Array]:
        """The results on a backend."""
        made = [np.zeros(shape_of(ty), DTYPES[element_of(ty).name]) for ty in self.results]
        with guarded_copies([*map(np.asarray, inputs), *made]) as arrays:
            self.launch(backend, [buffer(a) for a in arrays])
        return list(arrays[len(inputs) :])

    def launch(self, backend: str, arguments: list[Buffer]) -> None:
        if backend == "cpu":
            self.native.launch((1, 1, 1), arguments)
        elif backend == "cudasim":
            cuda.sim.run(cuda.generate(self.function), (1, 1, 1), arguments)
        else:
            function = self.traced if backend == "traced" else self.function
            interpret.run(function, arguments, (1, 1, 1))

    def everywhere(self, inputs: Sequence[Array]) -> Iterator[tuple[str, list[Array]]]:
        for backend in available():
            yield backend, self.on(backend, inputs)

    def where_lowered(self, inputs: Sequence[Array]) -> Iterator[tuple[str, list[Array]]]:
        """On every backend, and on cudasim where the lane rule lowers it."""
        yield from self.everywhere(inputs)
        if backends.missing("cudasim"):
            return
        try:
            yield "cudasim", self.on("cudasim", inputs)
        except CompileError as error:
            if not backends.beyond("cudasim", error):
                raise


# -- one answer everywhere


def check_results(backend: str, got: list[Array], wanted: list[Any], **limits: Any) -> None:
    assert len(got) == len(wanted)
    for place, (one, other) in enumerate(zip(got, wanted)):
        require_equal(one, other, f"{backend}, result {place}", **limits)


def check_everywhere(
    body: Callable[..., Any],
    reference: Callable[..., Any],
    *datasets: Sequence[Array],
    rtol: float = 0.0,
    atol: float = 0.0,
    signs: bool = False,
) -> None:
    """The function of blocks gives the reference's answer for each list of inputs (all of the same
    shapes and dtypes), on every backend."""
    function = BlockFunction(body, datasets[0])
    for inputs in datasets:
        with np.errstate(all="ignore"):
            wanted = as_list(reference(*map(quiet, inputs)))
        for backend, got in function.everywhere(inputs):
            check_results(backend, got, wanted, rtol=rtol, atol=atol, signs=signs)


def check_value(body: Callable[..., Any], wanted: Any, *inputs: Any, rtol: float = 0.0) -> None:
    """`body` of blocks holding the inputs gives `wanted`, one array or a list of them, on every
    backend, cudasim too where the lane rule lowers it."""
    arrays = [np.asarray(a) for a in inputs]
    for backend, got in BlockFunction(body, arrays).where_lowered(arrays):
        check_results(backend, got, as_list(wanted), rtol=rtol)


def type_of(body: Callable[..., Any], *inputs: Any) -> str:
    """The dtype's name of what a function of blocks gives."""
    return str(element_of(BlockFunction(body, [np.asarray(a) for a in inputs]).results[0]).name)


# -- by the interpreter alone


def evaluate(body: Callable[..., Any], *inputs: Any) -> Any:
    """What `body` returns when called with the inputs as blocks: one array, or a tuple of them."""
    arrays = [np.asarray(a) for a in inputs]
    results = BlockFunction(body, arrays).on("traced", arrays)
    return results[0] if len(results) == 1 else tuple(results)


def interpret_body(body: Callable[..., Any], *arguments: Any) -> None:
    """Runs `body` as a kernel: arrays are pointers (written in place), ints i32, floats f32."""
    types = [
        PointerType(element_type(a.dtype)) if isinstance(a, np.ndarray) else scalar_type(a)
        for a in arguments
    ]
    function = trace(body, *types)
    interpret.run(function, arguments_of(function, arguments), (1, 1, 1))


def scalar_type(value: bool | int | float) -> ScalarType:
    return BOOL if isinstance(value, bool) else tl.int32 if isinstance(value, int) else tl.float32
