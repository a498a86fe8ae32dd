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
from mytriton.targets.cuda.launch import nvrtc

from .memory import arguments_of, copies

ARCHITECTURES = ("sm_80", "sm_90a")
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


def compile_everywhere(source: CudaSource | str) -> str:
    """The PTX for sm_80 of a text that every architecture takes."""
    text = source if isinstance(source, str) else source.text
    compiled = [nvrtc.compile_nvrtc(text, arch) for arch in ARCHITECTURES]
    return compiled[0].ptx


def simulate(
    function: Function, *given: Any, grid: Grid = (1, 1, 1), debug: bool = True, **options: Any
) -> CudaSource:
    """Compiles the function's text for every architecture and runs it under cudasim."""
    source = generate(function, debug=debug)
    compile_everywhere(source)
    sim.run(source, grid, arguments_of(function, given), **options)
    return source


def check_simulated(function: Function, *given: Any, grid: Grid = (1, 1, 1)) -> tuple[Any, ...]:
    """cudasim leaves the bits that the interpreter leaves, whatever the order of the threads.

    Returns the arguments as they are afterwards.
    """
    wanted = copies(given)
    interpret.run(function, arguments_of(function, wanted), grid)
    for order in sim.ORDERS:
        got = copies(given)
        source = simulate(function, *got, grid=grid, order=order)
        for place, (left, right) in enumerate(zip(got, wanted)):
            if isinstance(left, np.ndarray):
                why = f"argument {place}, order {order}\n{source.text}"
                np.testing.assert_array_equal(left, right, err_msg=why)
    return wanted
