"""Every kernel of the examples is valid IR, reads back from its text, and means the same before the
passes and after each of them.

One idea: the examples run as they are, on the interpreter, but each launch is repeated on the IR
after every pass, from the same memory; the bytes that are left must be the same each time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import mytriton as triton
from mytriton.ir.nodes import Function, walk
from mytriton.ir.types import F32
from mytriton.passes.pipeline import PASSES
from mytriton.runtime.compiled_kernel import CompiledKernel
from mytriton.runtime.hooks import HOOKS
from mytriton.runtime.launch import grid_of
from mytriton.runtime.plan import Plan
from mytriton.targets import interpret
from mytriton.targets.memory import Argument, Buffer
from tests.support.block_functions import round_trip

from .test_gallery import EXAMPLES

FOLDER = Path(__file__).parents[2] / "examples"
X = np.linspace(-3, 3, 21, dtype=np.float32).reshape(3, 7)
CALLS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "vector_add": ("add", (X, X[::-1].copy())),
    "relu": ("relu", (X,)),
    "sigmoid": ("sigmoid", (X,)),
    "softmax": ("softmax", (X,)),
    "layer_norm": ("layer_norm", (X, X[0].copy(), X[1].copy(), 1e-5)),
    "matmul": ("matmul", (X, X.T.copy())),
    "mandelbrot": ("mandelbrot", (5, 3, 20)),
}
"""The examples beside the gallery: the function of each, and small arguments."""


def stages(traced: Function) -> Iterator[tuple[str, Function]]:
    """The function as traced, and after each pass."""
    function = traced
    yield "traced", function
    for step in PASSES:
        function = step(function)
        yield step.__name__, function


def memory_of(arguments: Sequence[Argument]) -> list[bytes]:
    buffers = [a for a in arguments if isinstance(a, Buffer)]
    return [ctypes.string_at(b.address - b.before, b.before + (b.nbytes or 0)) for b in buffers]


def restore(arguments: Sequence[Argument], contents: list[bytes]) -> None:
    buffers = [a for a in arguments if isinstance(a, Buffer)]
    for buffer, content in zip(buffers, contents):
        if buffer.writable:
            ctypes.memmove(buffer.address - buffer.before, content, len(content))


def same(left: bytes, right: bytes) -> bool:
    """Equal bytes, but for which NaN a NaN of 32 bits is."""
    if left == right:
        return True
    if len(left) % 4:
        return False
    one, two = (np.frombuffer(content, np.float32) for content in (left, right))
    different = one.view(np.uint32) != two.view(np.uint32)
    return bool((np.isnan(one) & np.isnan(two))[different].all())


def multiplies(function: Function) -> bool:
    """Whether it has a product of matrices: a sum with one becomes part of it, and rounds so."""
    return any(op.name == "dot" for op in walk(function.body))


def close(buffer: Buffer, left: bytes, right: bytes) -> bool:
    """Whether two contents of a buffer of f32 differ by rounding only."""
    if buffer.type.element_ty is not F32:
        return False
    one, two = (np.frombuffer(content, np.float32) for content in (left, right))
    return np.allclose(one, two, 1e-5, 1e-5, equal_nan=True)


def at_every_stage(traced: Function, grid: Any, given: Sequence[Argument]) -> None:
    """In place of a launch on the interpreter."""
    before = memory_of(given)
    first: list[bytes] = []
    for name, function in stages(traced):
        round_trip(function)
        restore(given, before)
        interpret.run(function, given, grid)
        after = memory_of(given)
        first = first or after
        buffers = [a for a in given if isinstance(a, Buffer)]
        wrong = [
            place
            for place, (buffer, *pair) in enumerate(zip(buffers, first, after))
            if not (same(*pair) or (multiplies(function) and close(buffer, *pair)))
        ]
        assert not wrong, f"after {name}, buffers {wrong} of {traced.name} differ"


@pytest.fixture
def launches() -> Iterator[list[Any]]:
    """The traced functions of all launches; each launch runs after every pass instead of once."""
    seen: list[Any] = []

    def launch(plan: Plan, grid: Any, values: Sequence[Any]) -> CompiledKernel:
        extents, traced = grid_of(grid), plan.compilation["traced"]
        seen.append(traced)
        at_every_stage(traced, extents, plan.arguments(values))
        return CompiledKernel(plan.compilation, plan.target, extents)

    def hook(metadata: Any) -> None:
        """While there is one, every launch goes by its plan."""

    HOOKS.launch_enter_hook.add(hook)
    try:
        with patch.object(Plan, "launch", launch), triton.target("interpret"):
            yield seen
    finally:
        HOOKS.launch_enter_hook.remove(hook)


@pytest.mark.parametrize("name", EXAMPLES)
def test_gallery(name: str, launches: list[Any]) -> None:
    module = import_module(f"examples.gallery.{name}")
    for sizes in EXAMPLES[name].tiny:
        getattr(module, name)(*module.inputs(*sizes))
    assert launches


@pytest.mark.parametrize("name", CALLS)
def test_examples(name: str, launches: list[Any]) -> None:
    function, arguments = CALLS[name]
    getattr(import_module(f"examples.{name}"), function)(*arguments)
    assert launches


def test_every_example_is_called() -> None:
    """The demo launches vector_add's kernel and shows it."""
    assert {path.stem for path in FOLDER.glob("*.py")} - {"demo"} == set(CALLS)


def test_a_difference_is_found() -> None:
    one, two = np.array([1, np.nan], np.float32), np.array([2, np.nan], np.float32)
    assert same(one.tobytes(), one.tobytes()) and not same(one.tobytes(), two.tobytes())
    other = one.copy()
    other.view(np.uint32)[1] += 1
    assert same(one.tobytes(), other.tobytes())
