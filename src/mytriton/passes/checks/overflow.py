"""Overflow: an int that wraps, or loses its upper bits, on its way into an address.

Only the ops that addresses are made of are looked at: what `add`, `sub`, `mul` and the like give is
compared with the same in 64 bits. Ops that are used to wrap on purpose (`%`, `&`, `^`, `>>`, …)
clear the taint: a hash may overflow as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...elementary.term import IrTerm
from ...ir.effects import accesses_memory
from ...ir.nodes import Function, Op, Operand, Param, Value, walk
from ...ir.types import I64, ScalarType, element_of
from .. import loop_values
from .shadows import Rules, Sink

ARITHMETIC = frozenset(("add", "sub", "mul", "shl", "neg"))
_MOVES = ("broadcast", "reshape", "trans", "slice", "split", "join", "cat", "gather", "hint")
FORWARDS = ARITHMETIC | {"cast", "addptr", "select", "minimum", "maximum", *_MOVES}
"""The ops through which a number reaches an address as the number it is."""


def _bits(operand: Operand) -> tuple[str, int]:
    """The kind and width of an operand's elements."""
    assert operand is not None
    element = element_of(operand.ty)
    return element.kind, element.bits


def may_wrap(op: Op) -> bool:
    """Whether the op gives an int that may differ from what it means in 64 bits."""
    if not op.types or not isinstance(element_of(op.types[0]), ScalarType):
        return False
    kind, bits = _bits(op.results[0])
    if kind not in "iu" or bits > 32:
        return False
    if op.name == "cast":
        source, width = _bits(op.operands[0])
        return source in "iu" and (width > bits or (width == bits and source != kind))
    return op.name in ARITHMETIC


def _lanes(op: Op, operands: Sequence[Operand], result: IrTerm) -> IrTerm:
    wide = [IrTerm(operand).to(I64) for operand in operands]
    exact = wide[0] if op.name == "cast" else wide[0].op(op.name, *wide[1:])
    return exact.ne(result.to(I64))


def _clears(op: Op) -> bool:
    return op.name not in FORWARDS


def overflow(function: Function) -> Rules:
    """The rules for the addresses of one function."""
    wrapping = frozenset(op for op in address_ops(function) if may_wrap(op))
    return replace(_RULES, taints=wrapping.__contains__)


def address_ops(function: Function) -> set[Op]:
    """The ops whose numbers reach an address."""
    carried = _carried(function)
    found: set[Op] = set()
    seen: set[Value | Param] = set()
    todo = [op.operands[0] for op in walk(function.body) if accesses_memory(op)]
    while todo:
        value = todo.pop()
        if not isinstance(value, (Value, Param)) or value in seen:
            continue
        seen.add(value)
        if value in carried:
            todo += carried[value]
        elif isinstance(value, Value) and value.op.name in FORWARDS:
            found.add(value.op)
            todo += value.op.operands
    return found


def _carried(function: Function) -> dict[Value | Param, list[Operand]]:
    """What the results of loops and branches, and the values that loops carry, may be."""
    found: dict[Value | Param, list[Operand]] = {}
    for op in walk(function.body):
        if op.row.has_control_flow:
            for k, result in enumerate(op.results):
                incoming = loop_values.incoming(op, k)
                for value in _places(op, k, result):
                    found[value] = incoming
    return found


def _places(op: Op, k: int, result: Value) -> Iterator[Value | Param]:
    yield result
    yield from loop_values.iter_args(op, k)


_ADDRESS = (Sink("ptr", "an address", early=True),)
_RULES = Rules(
    kind="overflow",
    taints=lambda op: False,
    lanes=_lanes,
    clears=_clears,
    sinks=dict.fromkeys(("load", "store", "atomic", "atomic_cas"), _ADDRESS),
)
