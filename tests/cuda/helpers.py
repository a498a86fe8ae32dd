"""Kernels from Python or SSA text, run by cudasim in every order and compared with the
interpreter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from mytriton.frontend.trace import trace
from mytriton.ir.nodes import Function
from mytriton.ir.parse import parse
from mytriton.ir.types import BY_IR_NAME, Element, PointerType
from mytriton.passes.pipeline import optimize
from mytriton.targets import interpret
from mytriton.targets.cuda import CudaSource, generate, sim
from mytriton.targets.memory import Argument, Buffer

from .conftest import compile_everywhere

Array = np.ndarray[Any, Any]
Grid = tuple[int, int, int]


def element(name: str) -> Element:
    """The type of `f32`, `*f32`, `**f32`."""
    return PointerType(element(name[1:])) if name.startswith("*") else BY_IR_NAME[name]


def traced(function: Callable[..., Any], **arguments: Any) -> Function:
    """The optimised IR of a kernel; a str argument names a run-time type, the rest are
    constexprs."""
    function = inspect.unwrap(getattr(function, "fn", function))
    types = {n: element(v) if isinstance(v, str) else v for n, v in arguments.items()}
    return optimize(trace(function, types))


def ssa(text: str) -> Function:
    """The function of an SSA text; `add(x: …) {…}` without the word kernel."""
    return parse(f"kernel {inspect.cleandoc(text)}")


def arguments_of(function: Function, given: tuple[Any, ...]) -> list[Argument]:
    """The launch's arguments: an array becomes the buffer of its param's type."""
    packed: list[Argument] = []
    for param, argument in zip(function.params, given, strict=True):
        if isinstance(argument, np.ndarray):
            address = argument.__array_interface__["data"][0]
            assert isinstance(param.ty, PointerType)
            packed.append(Buffer(param.ty, address, argument.nbytes, argument))
        else:
            packed.append(argument)
    return packed


def simulate(
    function: Function, *given: Any, grid: Grid = (1, 1, 1), debug: bool = True, **options: Any
) -> CudaSource:
    """Compiles the function's text for every architecture and runs it under cudasim."""
    source = generate(function, debug=debug)
    compile_everywhere(source)
    sim.run(source, grid, arguments_of(function, given), **options)
    return source


def copies(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in given)


def agree(function: Function, *given: Any, grid: Grid = (1, 1, 1)) -> tuple[Any, ...]:
    """cudasim leaves the bits that the interpreter leaves, whatever the order of the threads.

    Returns the arguments as they are afterwards.
    """
    wanted = copies(given)
    interpret.run(function, arguments_of(function, wanted), grid)
    for order in sim.ORDERS:
        got = copies(given)
        source = simulate(function, *got, grid=grid, order=order, seed=3)
        for place, (left, right) in enumerate(zip(got, wanted)):
            if isinstance(left, np.ndarray):
                why = f"argument {place}, order {order}\n{source.text}"
                np.testing.assert_array_equal(left, right, err_msg=why)
    return wanted
