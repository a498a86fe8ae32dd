"""The nodes of the IR: constants, parameters, ops with their results, regions and functions.

There is one immutable graph with two readings. Walk an effect's operands and it is the expression
tree; walk a region's ops in order and it is the SSA program. Nodes compare by identity, constants
by value; nothing is changed once made.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Where
from .ops import Row
from .recursion import Walk, run
from .types import ScalarType, Type


@dataclass(frozen=True, eq=False)
class Const:
    """A constant of an element type: bool, int (already inside the type's range) or float
    (representable in it)."""

    value: bool | int | float
    ty: ScalarType

    @property
    def key(self) -> tuple[str, object]:
        """What equality means: the type, and the value to the bit (0.0 is not -0.0, one NaN is like
        another)."""
        if isinstance(self.value, float):
            nan = self.value != self.value
            return self.ty.ir, b"nan" if nan else struct.pack("<d", self.value)
        return self.ty.ir, int(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, eq=False)
class Param:
    """A parameter of a function, or a value that a region is entered with (`op` None in both)."""

    name: str
    ty: Type


@dataclass(frozen=True, eq=False)
class Value:
    """Result number `index` of `op`."""

    op: Op
    index: int
    ty: Type


Operand = Value | Param | Const | None


@dataclass(frozen=True, eq=False)
class Region:
    """Params and ops in order; the last op is a `yield` of the region's results."""

    params: tuple[Param, ...]
    ops: tuple[Op, ...]

    @property
    def results(self) -> tuple[Operand, ...]:
        return self.ops[-1].operands

    @property
    def result_types(self) -> tuple[Type, ...]:
        return tuple(operand.ty for operand in self.results if operand is not None)


@dataclass(frozen=True, eq=False)
class Op:
    """One operation of a row of the op table; `types` are its results' types, `where` the kernel
    lines it came from, `name` its row's."""

    row: Row
    operands: tuple[Operand, ...]
    types: tuple[Type, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    where: Where = ()
    name: str = field(init=False)
    results: tuple[Value, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.row.name)
        values = tuple(Value(self, i, ty) for i, ty in enumerate(self.types))
        object.__setattr__(self, "results", values)

    @property
    def result(self) -> Value | None:
        """The first result; None for an op without one."""
        return self.results[0] if self.results else None

    def attribute(self, name: str) -> Any:
        """What the attribute was given, else its row's default."""
        return self.attrs[name] if name in self.attrs else self.row.attrs[name]

    def __repr__(self) -> str:
        return f"<op {self.name} : {', '.join(map(repr, self.types))}>"


@dataclass(frozen=True, eq=False)
class Function:
    """A kernel: its name, its run-time parameters, and a body without region params that ends in an
    empty `yield`."""

    name: str
    params: tuple[Param, ...]
    body: Region


def walk(region: Region) -> Iterator[Op]:
    """Every op of the region and of the regions inside, each before what it contains."""
    stack = [iter(region.ops)]
    while stack:
        for op in stack[-1]:
            yield op
            if op.regions:
                stack += [iter(inner.ops) for inner in reversed(op.regions)]
                break
        else:
            stack.pop()


def number(function: Function) -> dict[Value | Param, int]:
    """The SSA number of every op result and region param, in textual order: `%0`, `%1`, …"""
    numbers: dict[Value | Param, int] = {}

    def visit(region: Region) -> Walk[None]:
        for op in region.ops:
            for inner in op.regions:
                for param in inner.params:
                    numbers[param] = len(numbers)
                yield visit(inner)
            for value in op.results:
                numbers[value] = len(numbers)

    run(visit(function.body))
    return numbers
