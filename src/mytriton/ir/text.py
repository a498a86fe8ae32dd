"""The SSA text: one line an op, regions indented, readable back by `parse`.

What a reader can work out is left out, nothing else is. An op is
`%results = name operands {attributes} : types`; absent operands are `none`, constants of a type
other than their spelling's own (bool, i32, f32) carry it, defaulted attributes are not shown.

    kernel sum(x: ptr<f32>, n: i32) {
        %3 = for 0, n, 1, 0.0 : f32 (%0 i : i32, %1 total : f32) {
            %2 = add %1, 1.0 : f32
            yield %2
        }
        store x, %3, none
    }
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .nodes import Const, Function, Op, Operand, Param, Region, Value, number
from .numeric import canonical
from .recursion import Walk, run
from .types import BOOL, F32, F64, I32, PointerType, ScalarType, VectorType

INDENT = "    "
MAX_INDENT = 40
"""Regions deeper than this are indented no further, so that the text grows with the program."""
EXACT = 8
"""A number of at most this many characters is shown exactly."""
RESERVED = frozenset(("none", "true", "false", "nan", "inf"))
"""Words of the text that a parameter's name must be told from."""
OpLine = tuple[str, Op | None]
"""A line, and the op that it is of."""
_NAME = re.compile(r"[^\W\d]\w*")


def name_text(name: str) -> str:
    """A parameter's name, in backquotes where it is not a plain word."""
    plain = _NAME.fullmatch(name) and name not in RESERVED
    return name if plain else f"`{name}`"


def float_text(value: float, element: ScalarType) -> str:
    """A short decimal that the type reads back as the value, in Python's spelling: `0.1`."""
    if element == F64 or not np.isfinite(value) or len(repr(value)) <= EXACT:
        return repr(value)
    if element == F32:
        return repr(float(str(np.float32(value))))
    short = (float(f"{value:.{digits}g}") for digits in range(1, 9))
    return repr(next((near for near in short if canonical(element, near) == value), value))


def constant_text(constant: Const) -> str:
    """A constant with its type where the spelling does not say it: `2.0`, `2.0:f16`, `7:i64`."""
    value, ty = constant.value, constant.ty
    if isinstance(value, float):
        text, usual = float_text(value, ty), F32
    else:
        text, usual = (str(value).lower(), BOOL) if isinstance(value, bool) else (str(value), I32)
    return text if ty == usual else f"{text}:{ty}"


def attribute_text(value: Any) -> str:
    """An attribute's value: a word, number, "string", type, or tuple of these."""
    if isinstance(value, (ScalarType, PointerType, VectorType)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        inner = ", ".join(map(attribute_text, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    assert value is None or isinstance(value, (bool, int, float)), f"attribute {value!r}"
    return str(value).lower()


def attributes_text(attrs: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{key}={attribute_text(v)}" for key, v in attrs.items()) + "}"


class SSAPrinter:
    """Prints ops. `numbers` names the values (else each list is numbered on its own); with
    `show_where` each op is followed by the kernel line it came from."""

    def __init__(
        self, numbers: Mapping[Value | Param, int] | None = None, show_where: bool = False
    ) -> None:
        self.numbers = numbers
        self.show_where = show_where

    def print_ops(self, ops: Sequence[Op], depth: int = 0) -> str:
        """The lines of a list of ops, indented by `depth` steps. The empty `yield` that ends a
        function is not shown."""
        if self.numbers is None:
            numbers = number(Function("", (), Region((), tuple(ops))))
            return SSAPrinter(numbers, self.show_where).print_ops(ops, depth)
        return "\n".join(line for line, _ in self.lines(ops, depth))

    def lines(self, ops: Sequence[Op], depth: int = 0) -> list[OpLine]:
        """The lines of `print_ops`, each with the op that it is of; `numbers` must be given."""
        end = bool(ops) and ops[-1].name == "yield" and not ops[-1].operands
        lines: list[OpLine] = []
        run(self._write(ops[:-1] if end else ops, depth, lines))
        return lines

    def operand(self, operand: Operand) -> str:
        if isinstance(operand, Const):
            return constant_text(operand)
        if operand is None:
            return "none"
        if self.numbers is not None and operand in self.numbers:
            return f"%{self.numbers[operand]}"
        return name_text(operand.name) if isinstance(operand, Param) else "%?"

    def head(self, op: Op) -> str:
        """The op's own line, without its regions."""
        text = op.name
        if op.results:
            text = f"{', '.join(map(self.operand, op.results))} = {text}"
        if op.operands:
            text += f" {', '.join(map(self.operand, op.operands))}"
        if op.attrs:
            text += f" {attributes_text(op.attrs)}"
        return f"{text} : {', '.join(map(repr, op.types))}" if op.types else text

    def _write(self, ops: Sequence[Op], depth: int, lines: list[OpLine]) -> Walk[None]:
        """Adds the lines of the ops, `depth` steps to the right."""
        for op in ops:
            first = len(lines)
            indent = INDENT * min(depth, MAX_INDENT)
            lines.append((indent + self.head(op), op))
            for place, region in enumerate(op.regions):
                separator = op.row.region_separator if place else ""
                head = f"{' ' * bool(separator)}{separator}{self._params(region)} {{"
                lines[-1] = lines[-1][0] + head, op
                yield self._write(region.ops, depth + 1, lines)
                lines.append((indent + "}", op))
            if self.show_where and op.where:
                lines[first] = f"{lines[first][0]}  # {op.where[0]}", op

    def _params(self, region: Region) -> str:
        inside = (
            f"{self.operand(p)}{' ' * bool(p.name)}{name_text(p.name) if p.name else ''} : {p.ty}"
            for p in region.params
        )
        return f" ({', '.join(inside)})" if region.params else ""


def print_function(function: Function, show_where: bool = False) -> str:
    """The text of a function, which `parse` reads back."""
    return "\n".join(line for line, _ in function_lines(function, show_where))


def function_lines(function: Function, show_where: bool = False) -> list[OpLine]:
    """The lines of a function's text, each with the op that it is of; None of the first and the
    last."""
    params = ", ".join(f"{name_text(p.name)}: {p.ty}" for p in function.params)
    body = SSAPrinter(number(function), show_where).lines(function.body.ops, depth=1)
    return [(f"kernel {name_text(function.name)}({params}) {{", None), *body, ("}", None)]
