"""Small functions of the IR, built op by op, and their launch by the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton.errors import Location
from mytriton.ir.build import Builder, current, emit, using
from mytriton.ir.nodes import Function, Operand, Param, Region
from mytriton.ir.ops import RegionKind
from mytriton.ir.types import BY_IR_NAME, PointerType, Type, VectorType
from mytriton.targets.interpret import run

from .memory import arguments_of

LINE = (Location("kernel.py", 7, "kernel"),)


def kernel(body: Callable[..., None], **params: Type) -> Function:
    """The function whose body is emitted by `body`, called with its params; every op is at LINE."""
    given = [Param(name, ty) for name, ty in params.items()]
    with using(Builder(where=LINE)) as builder:
        body(*given)
        return builder.function("kernel", given)


def region(body: Callable[..., Any], *types: Type, kind: RegionKind = RegionKind.BRANCH) -> Region:
    """The region that `body` emits, called with params of these types."""
    params = [Param(f"a{number}", ty) for number, ty in enumerate(types)]
    return current().region(kind, params, lambda *given: as_tuple(body(*given)))


def loop(body: Callable[..., Any], *types: Type) -> Region:
    return region(body, *types, kind=RegionKind.LOOP)


def as_tuple(values: Any) -> tuple[Operand, ...]:
    return values if isinstance(values, tuple) else () if values is None else (values,)


def several(
    name: str, *operands: Operand, regions: tuple[Region, ...] = (), **attrs: Any
) -> tuple[Operand, ...]:
    """All the results of an op."""
    return current().emit(name, operands, attrs, regions)


def at(pointer: Operand, start: int, end: int) -> Operand:
    """The addresses of elements start … end-1."""
    return emit("addptr", pointer, emit("arange", start=start, end=end))


def ptr(name: str) -> PointerType:
    return PointerType(BY_IR_NAME[name])


def block(shape: int | tuple[int, ...], name: str) -> VectorType:
    return VectorType(shape if isinstance(shape, tuple) else (shape,), BY_IR_NAME[name])


def launch(
    function: Function, *arguments: Any, grid: tuple[int, int, int] = (1, 1, 1), **options: Any
) -> None:
    """Interprets the function; an array becomes the buffer of its param's type."""
    run(function, arguments_of(function, arguments), grid, **options)
