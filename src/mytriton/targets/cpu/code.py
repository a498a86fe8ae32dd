"""LLVM text under construction: registers, buffers of lines, fresh names.

A loop nest is one buffer of lines (`Code`) per loop level, so an instruction is put
straight where it belongs (outside a loop whose index it does not use) and the buffers are stitched
together at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...ir.nodes import Op
from .types import full, literal, suffix


@dataclass(frozen=True, eq=False)
class Reg:
    """A value in LLVM text.

    `lanes` is 0 for a scalar. `level` is the deepest loop of the current nest it depends on.
    `constant` is its number where it is known; `divisor` a power of two that divides it (ints).
    """

    text: str
    type: str
    lanes: int = 0
    level: int = 0
    constant: int | float | bool | None = None
    divisor: int = 1

    @property
    def full(self) -> str:
        return full(self.type, self.lanes)

    @property
    def typed(self) -> str:
        return f"{self.full} {self.text}"


def power_of_two_in(value: int) -> int:
    """The largest power of two that divides an int; 2**62 for zero."""
    return value & -value if value else 1 << 62


def const(type_: str, value: bool | int | float) -> Reg:
    """A scalar constant."""
    divisor = power_of_two_in(value) if isinstance(value, int) and type_ != "i1" else 1
    return Reg(literal(type_, value), type_, constant=value, divisor=divisor)


class Code:
    """Lines of basic blocks; `label` names the block that is open at the end, `ops` says for each
    line the op that it is of.
    """

    def __init__(self, label: str) -> None:
        self.lines: list[str] = []
        self.ops: list[Op | None] = []
        self.label = label

    def add(self, line: str) -> None:
        self.lines.append("  " + line)
        self.ops.append(None)

    def claim(self, op: Op, start: int) -> None:
        """Says that the lines from `start` on, but for those of another op, are of this one."""
        for at in range(start, len(self.ops)):
            if self.ops[at] is None:
                self.ops[at] = op

    def insert(self, at: int, line: str, op: Op) -> None:
        """Puts a line of the op before another."""
        self.lines.insert(at, line)
        self.ops.insert(at, op)

    def start(self, label: str) -> None:
        """Opens a basic block; the one before must have been ended."""
        self.lines.append(f"{label}:")
        self.ops.append(None)
        self.label = label

    def append(self, other: Code) -> None:
        """Puts another buffer, which starts where this one ends, behind this one."""
        self.lines += other.lines
        self.ops += other.ops
        self.label = other.label

    def branch(self, label: str) -> None:
        """Ends the block with a jump to a block that is opened right here."""
        self.add(f"br label %{label}")
        self.start(label)


@dataclass
class Names:
    """Fresh names: the hint itself the first time, then with a number.

    What LLVM does not take in a name (Python takes letters of every script) is written as its code
    point.
    """

    used: dict[str, int] = field(default_factory=dict)

    def fresh(self, hint: str) -> str:
        if not hint.isascii():
            hint = "".join(c if c.isascii() else f".u{ord(c):x}" for c in hint)
        count = self.used.get(hint, 0)
        self.used[hint] = count + 1
        if not count:
            return hint
        name = f"{hint}.{count}"
        return self.fresh(name) if name in self.used else name


@dataclass
class Module:
    """What lies outside the functions: declarations of intrinsics, constants, helper functions."""

    declarations: dict[str, str] = field(default_factory=dict)
    globals: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)

    def intrinsic(self, name: str, result: str, arguments: Iterable[str]) -> str:
        """Declares a function once and returns its name."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {result} @{name}({', '.join(arguments)})"
        return name

    def overloaded(self, name: str, type_: str, lanes: int, count: int) -> str:
        """Declares an intrinsic all of whose operands and result have one type."""
        whole = full(type_, lanes)
        return self.intrinsic(f"{name}.{suffix(type_, lanes)}", whole, [whole] * count)
