"""Strides: how much a block of ints or pointers grows from one index to the next, along each axis.

A stride along an axis is a number times, perhaps, a scalar that only the run will tell; it holds
between any two neighbours along the axis whatever the other indices are, where no int of the
computation wraps. Ints count ones, pointers count elements of what they point to.

    x + rows[:, None] * N + columns[None, :]                  strides (N, 1)
    x + load(index + rows)[:, None] * 64 + columns[None, :]   strides (None, 1): no one stride

What a stride is for: consecutive addresses along an axis make a vector access, equal ones a scalar
access; which loop should run innermost follows (M. Wolf and M. Lam, "A data locality optimizing
algorithm", PLDI 1991). Whether ints wrap is for the reader to prove or to test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.nodes import Const, Function, Op, Operand
from ..ir.structural import pointee
from ..ir.types import Type, element_of, shape_of
from .algebra import constant_of
from .dataflow import Analysis


@dataclass(frozen=True)
class Stride:
    """`factor`, or where `runtime` that times a scalar: the operand `scalar` where it is one, else
    one that no operand of the function holds.
    """

    factor: int
    runtime: bool = False
    scalar: Operand = None

    def text(self, operand: Callable[[Operand], str]) -> str:
        """`64`, `n`, `2*n`; a scalar without a name is `?`."""
        if not self.runtime:
            return str(self.factor)
        name = "?" if self.scalar is None else operand(self.scalar)
        return name if self.factor == 1 else f"{self.factor}*{name}"

    def times(self, factor: int) -> Stride:
        return Stride(self.factor * factor, self.runtime, self.scalar) if factor else ZERO

    def plus(self, other: Stride) -> Stride:
        if ZERO in (self, other):
            return self if other == ZERO else other
        if (self.runtime, self.scalar) != (other.runtime, other.scalar):
            return UNNAMED
        if self.runtime and self.scalar is None:
            return UNNAMED
        return Stride(1, self.runtime, self.scalar).times(self.factor + other.factor)


ZERO, ONE = Stride(0), Stride(1)
UNNAMED = Stride(1, True)
"""Some scalar."""
Strides = tuple[Stride | None, ...]
"""One an axis; None: neighbours along the axis may lie any distance apart."""
Rule = Callable[["StrideAnalysis", Op], "Strides | None"]


class StrideAnalysis(Analysis[Strides]):
    """The strides of every value of a function."""

    def top(self, ty: Type) -> Strides:
        return tuple(ZERO if extent == 1 else None for extent in shape_of(ty))

    def constant(self, constant: Const) -> Strides:
        return ()

    def join(self, left: Strides, right: Strides) -> Strides:
        return tuple(a if a == b else None for a, b in zip(left, right, strict=True))

    def transfer(self, op: Op) -> Sequence[Strides]:
        if not op.types:
            return []
        first, *rest = map(self.top, op.types)
        rule = RULES.get(op.name, _uniform if op.row.element is not None else None)
        found = rule(self, op) if rule is not None and shape_of(op.types[0]) else None
        if found is not None:
            shape = shape_of(op.types[0])
            first = tuple(ZERO if n == 1 else step for n, step in zip(shape, found, strict=True))
        return [first, *rest]

    def at(self, operand: Operand, shape: tuple[int, ...]) -> Strides:
        """The strides of an operand broadcast to a shape."""
        assert operand is not None
        given = shape_of(operand.ty)
        if not given:
            return (ZERO,) * len(shape)
        return tuple(ZERO if extent == 1 else step for extent, step in zip(given, self.of(operand)))


def _shape(op: Op) -> tuple[int, ...]:
    return shape_of(op.types[0])


def _uniform(strides: StrideAnalysis, op: Op) -> Strides:
    """A function of the operands at its own index: constant along an axis where they are."""
    given = [strides.at(v, _shape(op)) for v in op.operands if v is not None]
    axes = zip(*given) if given else ((None,) for _ in _shape(op))
    return tuple(ZERO if all(step == ZERO for step in steps) else None for steps in axes)


def _is_integral(op: Op) -> bool:
    return element_of(op.types[0]).kind in "iup"


def _sum(sign: int) -> Rule:
    def rule(strides: StrideAnalysis, op: Op) -> Strides:
        if not _is_integral(op):
            return _uniform(strides, op)
        left, right = (strides.at(operand, _shape(op)) for operand in op.operands)
        return tuple(
            None if a is None or b is None else a.plus(b.times(sign)) for a, b in zip(left, right)
        )

    return rule


def _product(strides: StrideAnalysis, op: Op) -> Strides:
    """By a factor that is the same all along an axis; named where it is a scalar operand."""
    plain = _uniform(strides, op)
    if not _is_integral(op):
        return plain
    found = list(plain)
    for value, factor in (op.operands, op.operands[::-1]):
        pairs = zip(strides.at(value, _shape(op)), strides.at(factor, _shape(op)))
        for axis, (step, other) in enumerate(pairs):
            if step is not None and step != ZERO and other == ZERO:
                found[axis] = _scaled(step, factor)
    return tuple(found)


def _scaled(step: Stride, factor: Operand) -> Stride:
    known = constant_of(factor)
    if known is not None:
        return step.times(int(known.value))
    scalar = scalar_of(factor)
    return UNNAMED if step.runtime or scalar is None else Stride(step.factor, True, scalar)


def scalar_of(operand: Operand) -> Operand:
    """The scalar that a block repeats; None where there is no such operand."""
    while operand is not None and shape_of(operand.ty):
        if isinstance(operand, Const) or not hasattr(operand, "op"):
            return None
        if operand.op.name not in ("broadcast", "reshape", "hint"):
            return None
        operand = operand.op.operands[0]
    return operand


def _shift(strides: StrideAnalysis, op: Op) -> Strides:
    count = constant_of(op.operands[1])
    if count is None or not 0 <= count.value < element_of(op.types[0]).bits:
        return _uniform(strides, op)
    given = strides.at(op.operands[0], _shape(op))
    return tuple(step and step.times(1 << int(count.value)) for step in given)


def _negation(strides: StrideAnalysis, op: Op) -> Strides:
    given = strides.at(op.operands[0], _shape(op))
    return tuple(step and step.times(-1) for step in given)


def _cast(strides: StrideAnalysis, op: Op) -> Strides:
    """Between ints of any width; pointers of one size of element keep theirs too."""
    (value,) = op.operands
    assert value is not None
    source, target = element_of(value.ty), element_of(op.types[0])
    ints = source.kind in "iu" and target.kind in "iu"
    pointers = source.kind == target.kind == "p"
    if ints or (pointers and pointee(value.ty).itemsize == pointee(op.types[0]).itemsize):
        return strides.at(value, _shape(op))
    return _uniform(strides, op)


def _arange(strides: StrideAnalysis, op: Op) -> Strides:
    return (ONE,)


def _same(strides: StrideAnalysis, op: Op) -> Strides:
    return strides.at(op.operands[0], _shape(op))


def _trans(strides: StrideAnalysis, op: Op) -> Strides:
    given = strides.of(op.operands[0])
    return tuple(given[axis] for axis in op.attrs["order"])


def _reshape(strides: StrideAnalysis, op: Op) -> Strides | None:
    """Where only axes of extent 1 come and go the others keep theirs; a block of one axis gives
    its stride to all into which that axis is split.
    """
    (value,) = op.operands
    assert value is not None
    old, new = shape_of(value.ty), _shape(op)
    wide = [(n, step) for n, step in zip(old, strides.of(value)) if n > 1]
    if [n for n, _ in wide] == [n for n in new if n > 1]:
        rest = iter(step for _, step in wide)
        return tuple(next(rest) if n > 1 else ZERO for n in new)
    if len(wide) != 1:
        return None
    found, (_, step), reach = list[Stride | None](), wide[0], 1
    for n in reversed(new):
        found.append(step and step.times(reach))
        reach *= n
    return tuple(reversed(found))


def _load(strides: StrideAnalysis, op: Op) -> Strides:
    """One address gives one value, unless it is read again each time."""
    return strides.top(op.types[0]) if op.attribute("volatile") else _uniform(strides, op)


RULES: dict[str, Rule] = {
    "add": _sum(1),
    "addptr": _sum(1),
    "arange": _arange,
    "bitcast": _cast,
    "broadcast": _same,
    "cast": _cast,
    "hint": _same,
    "load": _load,
    "mul": _product,
    "neg": _negation,
    "reshape": _reshape,
    "select": _uniform,
    "shl": _shift,
    "slice": _same,
    "sub": _sum(-1),
    "trans": _trans,
}
"""The strides of an op's result; of an element-wise op without a rule `_uniform`."""


def strides_of(function: Function) -> StrideAnalysis:
    """The strides of every value of the function."""
    return StrideAnalysis(function)
