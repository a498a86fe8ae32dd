"""The quick way from a launch's values to what the CPU target takes, generated per plan.

A launch of a few microseconds cannot afford a `Buffer` object per array. For plans whose arguments
are plain NumPy arrays, torch tensors and numbers this module writes a function that gives the
addresses and numbers, and whether the memory of an array that the kernel stores to overlaps
another's. For add_kernel(x, y, out, n, BLOCK) on NumPy arrays of f32 it is

    def marshal(values):
        try:
            v0, v1, v2, v3, v4, = values
            a0 = s0 = address(id(v0) + 16).value or 0
            a1 = s1 = address(id(v1) + 16).value or 0
            a2 = s2 = address(id(v2) + 16).value or 0
            if a0 & 3 or a1 & 3 or a2 & 3 or not v2.flags.writeable: return None
            e0 = s0 + v0.nbytes
            e1 = s1 + v1.nbytes
            e2 = s2 + v2.nbytes
            return (a0, a1, a2, v3, ), s0 < e2 and s2 < e0 or s1 < e2 and s2 < e1
        except RuntimeError: return None    # a tensor without plain memory

It gives None where something is amiss: then the launch goes the long way (`launch.execute`), which
finds out what and says so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ..ir.nodes import Param
from ..ir.types import F32, PointerType, ScalarType, Type
from ..targets.memory import Argument
from .arrays import Reader, array_kind

if TYPE_CHECKING:
    from .compile import Compilation

Marshal = Callable[[Sequence[Any]], tuple[tuple[Argument, ...], bool] | None]


@dataclass(frozen=True)
class _Pointer:
    """A pointer argument: its place among the values, how its array is read, and whether the kernel
    may store to it."""

    place: int
    size: int
    reader: Reader
    written: bool

    def text(self, part: str) -> str:
        return part.replace("#", str(self.place))


def marshal_of(
    compilation: Compilation, places: Sequence[int], values: Sequence[Any]
) -> Marshal | None:
    """The function for values like these, of which those at the places are the run-time ones; None
    where some argument is neither a number nor an array that can be read quickly."""
    given: list[str] = []
    pointers: list[_Pointer] = []
    stored = compilation.may_store_to
    for param, place in zip(compilation.traced.function.params, places):
        pointer = _pointer(param, place, values[place], param in stored)
        number = None if pointer else _number(param.ty, place, values[place])
        if pointer is None and number is None:
            return None
        if pointer is not None:
            pointers.append(pointer)
        given.append(number or f"a{place}")
    return _compiled(_text(len(values), given, pointers))


def _pointer(param: Param, place: int, value: Any, written: bool) -> _Pointer | None:
    kind = array_kind(value)
    if not isinstance(param.ty, PointerType) or kind is None or kind.reader is None:
        return None
    return _Pointer(place, param.ty.element.itemsize, kind.reader, written)


def _number(ty: Type, place: int, value: Any) -> str | None:
    """The text of a number argument, which its key has found to be of the value's class."""
    if not isinstance(ty, ScalarType):
        return None
    if ty is F32 and type(value) is float:
        return f"c_float(v{place}).value"
    plain = (ty.kind in "iu" and type(value) is int) or (ty.kind == "b" and type(value) is bool)
    return f"v{place}" if plain else None


def _text(count: int, given: Sequence[str], pointers: Sequence[_Pointer]) -> str:
    amiss = [f"a{p.place} & {p.size - 1}" for p in pointers if p.size > 1]
    amiss += [p.text(p.reader.amiss) for p in pointers if p.reader.amiss]
    amiss += [p.text(p.reader.locked) for p in pointers if p.reader.locked and p.written]
    pairs = [(a, b) for a, b in combinations(pointers, 2) if a.written or b.written]
    spans = sorted({p.place: p for pair in pairs for p in pair}.items())
    overlaps = [
        f"s{a.place} < e{b.place} and s{b.place} < e{a.place}" for a, b in pairs
    ]  # fmt: skip
    lines = [
        "".join(f"v{place}, " for place in range(count)) + "= values" if count else "",
        *(p.text(p.reader.address) for p in pointers),
        f"if {' or '.join(amiss)}: return None" if amiss else "",
        *(p.text(p.reader.span) for _, p in spans),
        f"return ({''.join(f'{one}, ' for one in given)}), {' or '.join(overlaps) or 'False'}",
    ]
    body = "\n".join(f"        {line}" for line in lines if line)
    return f"def marshal(values):\n    try:\n{body}\n    except RuntimeError: return None"


def _compiled(text: str) -> Marshal:
    space: dict[str, Any] = {"address": ctypes.c_void_p.from_address, "c_float": ctypes.c_float}
    exec(text, space)
    made: Marshal = space["marshal"]
    return made
