"""The lane rule for ops that only compute: ids, ranges, element-wise rows, casts, choices,
addresses.

One idea: an element-wise op is its row's C template over the operands' texts; what a type needs
beyond C (wrapping signed ints, rounding small floats, saturation) is put around it by the element's
kind, never by the op's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...ir.nodes import Const, Op, Operand, Param, Value
from ...ir.ops import TABLE, Elementwise
from ...ir.types import (
    F32,
    F64,
    I32,
    Element,
    PointerType,
    ScalarType,
    compute_type,
    element_of,
)
from .lane import CudaPtrRef, Lane, rule
from .order import SAME
from .spelling import is_small_float, local_type, memory_type

AXES = ("x", "y", "z")


@rule("program_id")
def program_id(lane: Lane, op: Op) -> None:
    lane.assign(op.results[0], f"blockIdx.{AXES[op.attribute('axis')]}")


@rule("num_programs")
def num_programs(lane: Lane, op: Op) -> None:
    lane.assign(op.results[0], f"gridDim.{AXES[op.attribute('axis')]}")


@rule("arange")
def arange(lane: Lane, op: Op) -> None:
    """Thread i holds start + i; of a block of one element every thread holds the start."""
    start = op.attribute("start")
    if lane.is_uniform(op.results[0]) and lane.threads > 1:
        text = str(start)
    else:
        text = "threadIdx.x" if start == 0 else f"({start} + threadIdx.x)"
    lane.assign(op.results[0], text)


@rule(*SAME)
def unchanged(lane: Lane, op: Op) -> None:
    """The same value in every lane that holds it; a constant gets a local."""
    (operand,) = op.operands
    if isinstance(operand, Const):
        lane.assign(op.results[0], lane.expression(operand))
    else:
        lane.values[op.results[0]] = lane.operand(operand)


# -- element-wise rows


def template_of(row: Elementwise, element: ScalarType) -> Any:
    """The row's C for an element type: by the type's name, that of what it is computed in, its
    kind, or any."""
    if not isinstance(row.c, Mapping):
        return row.c
    names = (element.ir, compute_type(element).ir, element.kind, "*")
    return next(row.c[name] for name in names if name in row.c)


def elementwise_text(
    row: Elementwise, element: Any, operands: Sequence[str], exact: bool = False
) -> str:
    """The C expression of a row on operands of an element type, of the local type.

    exact: the result is known to stay inside the type, so that plain C's signed arithmetic is
    right.
    """
    template, compute = template_of(row, element), compute_type(element)
    if not isinstance(template, str):
        text = template(*operands, compute)
    elif not exact and is_ring(template) and (unsigned := WRAPPING.get(element.ir)):
        operands = [f"({unsigned}){operands[0]}", *operands[1:]]
        text = f"({local_type(element)}){template.format(*operands)}"
    else:
        text = template.format(*operands, f="f" if compute == F32 else "")
    result = row.result or element
    return text if row.boolean else rounded(text, result)


WRAPPING = {"i32": "unsigned int", "i64": "unsigned long long", "u16": "unsigned int"}
"""Ints whose C arithmetic overflows as signed, where the compiler may assume that it never does:
what they are computed in instead. Narrower ones never overflow C's int; unsigned ones wrap."""


def is_ring(template: str) -> bool:
    """Whether a template is made of +, - and * only, so that it is the same modulo 2^n on unsigned
    ints."""
    return re.fullmatch(r"[-+*(){}\d\s]+", template) is not None


def rounded(text: str, element: Element) -> str:
    """A `float` expression rounded once to a small float type; of any other type the expression
    itself."""
    return f"{element.ir}({bare(text)})" if is_small_float(element) else text


def bare(text: str) -> str:
    """The expression without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]


def stays_inside(operand: Operand) -> bool:
    """Whether a value is made of program ids, ranges and constants alone: the numbering of
    elements, which a launch keeps below 2^31, printed as plain C."""
    if isinstance(operand, Const):
        return True
    if not isinstance(operand, Value):
        return False
    op = operand.op
    if op.name in ("program_id", "num_programs", "arange"):
        return True
    return op.name in ("add", "sub", "mul") and all(map(stays_inside, op.operands))


def elementwise(lane: Lane, op: Op) -> None:
    row = op.row.element
    assert row is not None and op.operands[0] is not None
    element = element_of(op.operands[0].ty)
    texts = [lane.expression(operand) for operand in op.operands]
    exact = all(map(stays_inside, op.operands))
    lane.assign(op.results[0], elementwise_text(row, element, texts, exact))


rule(*(name for name, row in TABLE.items() if row.element))(elementwise)


@rule("select")
def select(lane: Lane, op: Op) -> None:
    condition, left, right = (lane.expression(operand) for operand in op.operands)
    lane.assign(op.results[0], f"({condition} ? {left} : {right})")


# -- casts


@rule("cast")
def cast(lane: Lane, op: Op) -> None:
    (operand,), target = op.operands, op.attribute("to")
    assert operand is not None
    cut = op.attribute("rounding") == "rtz"
    lane.assign(
        op.results[0], cast_text(lane.expression(operand), element_of(operand.ty), target, cut)
    )


def cast_text(text: str, source: Element, target: Element, cut: bool = False) -> str:
    """An expression of the source's local type converted as SEMANTICS says; `cut` rounds floats
    toward zero."""
    if isinstance(source, PointerType) or isinstance(target, PointerType):
        return f"({local_type(target)}){text}"
    if target.kind == "b":
        return f"({text} != 0)"
    if target.kind == "f":
        return _to_float(text, source, target, cut)
    if source.kind == "f":
        return f"saturate<{local_type(target)}>({bare(text)})"
    return f"({local_type(target)}){text}"


def _to_float(text: str, source: Element, target: Element, cut: bool) -> str:
    """Rounds once: what a float cannot hold goes through one rounded to odd (or toward zero)."""
    exact = source.kind == "b" or source.bits < 32 or source == F32
    if target == F64 or (target == F32 and not cut):
        return text if local_type(source) == local_type(target) else f"({local_type(target)}){text}"
    if exact:
        single = text if source.kind == "f" else f"(float){text}"
    else:
        wide = f"(double){text}" if source.kind != "f" and source.bits == 32 else bare(text)
        single = f"toward_zero({wide})" if cut else f"odd_float({wide})"
    if target == F32:
        return single
    return f"{target.ir}::cut({bare(single)})" if cut else f"{target.ir}({bare(single)})"


@rule("bitcast")
def bitcast(lane: Lane, op: Op) -> None:
    """The element as memory would hold it, read as the other type."""
    (operand,), target = op.operands, op.attribute("to")
    assert operand is not None
    source, text = element_of(operand.ty), lane.expression(operand)
    if source.kind == "p" and target.kind == "p":
        lane.assign(op.results[0], f"({local_type(target)}){text}")
    else:
        lane.assign(op.results[0], f"bitcast<{memory_type(target)}>({bare(rounded(text, source))})")


# -- addresses


@rule("addptr")
def addptr(lane: Lane, op: Op) -> None:
    """Adds the offset to the index; nothing is printed."""
    base, offset = lane.pointer(op.operands[0]), lane.expression(op.operands[1])
    if base.index != "0":
        offset = total(base.index, offset, op)
    lane.values[op.results[0]] = CudaPtrRef(base.base, offset)


def total(index: str, offset: str, op: Op) -> str:
    """The sum of an index so far and one more offset: in 64 bits, as addresses add, unless both
    stay inside 32."""
    if all(map(_is_number, op.operands[1:])) and re.fullmatch(r"[-+() \d]+", index):
        whole = sum(map(int, re.findall(r"-?\d+", index))) + int(offset)
        plain = I32.min_int <= whole <= I32.max_int
    else:
        plain = all(map(stays_inside, offsets(op)))
    wide = any(element_of(o.ty).bits == 64 for o in offsets(op)) or "(long long)" in index
    return f"({index} + {offset})" if plain or wide else f"((long long){index} + {offset})"


def _is_number(operand: Operand) -> bool:
    return isinstance(operand, Const) and element_of(operand.ty) == I32


def offsets(op: Op) -> Iterator[Value | Param | Const]:
    """The offsets that are added up in an address, last first."""
    pointer: Operand = op.results[0]
    while isinstance(pointer, Value) and pointer.op.name in ("addptr", *SAME):
        if pointer.op.name == "addptr" and (offset := pointer.op.operands[1]) is not None:
            yield offset
        pointer = pointer.op.operands[0]


@rule("map")
def map_elements(lane: Lane, op: Op) -> None:
    """Each thread runs the scalar function on its own element."""
    (region,) = op.regions
    for param, operand in zip(region.params, op.operands):
        lane.values[param] = lane.operand(operand)
    lane.body(region)
    for result, inner in zip(op.results, region.results):
        lane.assign(result, lane.expression(inner))
