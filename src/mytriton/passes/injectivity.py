"""Injectivity: whether the elements of a block, or the addresses of an access, are all distinct.

The analysis keeps, for a block of ints or pointers, the form that its elements have:

    element at (i, j, …)  ≡  u + i * strides[0] + j * strides[1] + …   (mod 2 ** bits)

with u the same for the whole block and not known, and the strides known numbers (of pointers: of
bytes). Arithmetic at a width wraps, so a sum keeps the form modulo the narrower width; a cast that
cuts lowers `bits`, one that widens does not raise it, since the narrow value may have wrapped:

    arange(0, 512)                strides (1,), bits 32: distinct
    arange(0, 512).to(uint8)      strides (1,), bits 8: 0 and 256 are one value
    x + that                      strides (4,), bits 10 of f32: element 0 and 256 are one address

Elements are distinct where, the axes taken by rising stride, each stride is larger than all that
the axes before it span, and the whole span is less than 2 ** bits. A stride that only the run will
tell may be 0, so nothing is known of what it scales.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ..ir.nodes import Const, Function, Op, Operand
from ..ir.structural import pointee
from ..ir.types import Type, element_of, shape_of
from .algebra import constant_of
from .dataflow import Analysis

Strides = tuple[int, ...]
Rule = Callable[["LaneForms", Op], "LaneForm | None"]


@dataclass(frozen=True)
class LaneForm:
    """The form above. A block without strides whose bits are all its type's is uniform; that is
    written `bits` 64 for every type."""

    strides: Strides
    bits: int = 64

    @property
    def uniform(self) -> bool:
        """Whether all elements are the same."""
        return self.bits == 64 and not any(self.strides)


def injectivity(function: Function) -> LaneForms:
    """The lane form of every value of the function."""
    return LaneForms(function)


class LaneForms(Analysis[LaneForm | None]):
    """The lane form of each value; None: nothing is known."""

    def is_uniform(self, value: Operand) -> bool:
        """Whether all elements of the value are the same."""
        form = self.of(value)
        return form is not None and form.uniform

    def is_injective(self, value: Operand) -> bool:
        """Whether no two elements of a block of ints or pointers are the same."""
        return self._apart(value, 1)

    def distinct_addresses(self, pointer: Operand) -> bool:
        """Whether no two lanes of an access through this block of pointers share a byte."""
        assert pointer is not None
        return self._apart(pointer, pointee(pointer.ty).itemsize)

    def _apart(self, value: Operand, size: int) -> bool:
        assert value is not None
        form, reach = self.of(value), 0
        if form is None:
            return False
        axes = zip(form.strides, shape_of(value.ty))
        for stride, extent in sorted((abs(s), n) for s, n in axes if n > 1):
            if stride < reach + size:
                return False
            reach += stride * (extent - 1)
        return reach + size <= 1 << form.bits

    # -- the lattice: a form, or None

    def top(self, ty: Type) -> LaneForm | None:
        shape = shape_of(ty)
        return LaneForm((0,) * len(shape)) if prod(shape) == 1 else None

    def constant(self, constant: Const) -> LaneForm | None:
        return LaneForm(())

    def join(self, left: LaneForm | None, right: LaneForm | None) -> LaneForm | None:
        """Where both have one form modulo the smaller power of two, that."""
        if left is None or right is None or left == right:
            return left if left == right else None
        bits = min(left.bits, right.bits)
        one, two = _reduced(left.strides, bits), _reduced(right.strides, bits)
        return LaneForm(one, bits) if one == two else None

    def transfer(self, op: Op) -> Sequence[LaneForm | None]:
        first, *rest = [self.top(ty) for ty in op.types] or [None]
        given = [operand for operand in op.operands if operand is not None]
        uniform = bool(op.types) and _is_lane_wise(op) and all(map(self.is_uniform, given))
        if first is None and uniform:
            first = LaneForm((0,) * len(shape_of(op.types[0])))
        rule = _RULES.get(op.name)
        if first is None and rule is not None:
            first = rule(self, op)
        return [first, *rest] if op.types else []


def _is_lane_wise(op: Op) -> bool:
    """Whether each element of the result is a function of elements of the operands, one each."""
    return op.row.element is not None or op.name in _LANE_WISE


_LANE_WISE = frozenset(
    [
        "addptr",
        "bitcast",
        "broadcast",
        "cast",
        "gather",
        "hint",
        "reshape",
        "select",
        "slice",
        "trans",
    ]
)


def _reduced(strides: Strides, bits: int) -> Strides:
    """The strides modulo 2 ** bits, of least magnitude."""
    half = 1 << bits - 1
    return tuple((stride + half) % (2 * half) - half for stride in strides)


def _of_type(strides: Strides, bits: int, ty: Type) -> LaneForm | None:
    """The form of a value of the type, which has no more bits than that."""
    element = element_of(ty)
    if element.kind not in "iup":
        return None
    bits = min(bits, element.bits)
    strides = tuple(s if n > 1 else 0 for s, n in zip(strides, shape_of(ty)))
    strides = _reduced(strides, bits)
    return LaneForm(strides, 64 if bits == element.bits and not any(strides) else bits)


def _stretched(forms: LaneForms, operand: Operand, ty: Type) -> LaneForm | None:
    """The form of an operand at the shape of the type, to which it broadcasts."""
    assert operand is not None
    form = forms.of(operand)
    if form is None or shape_of(operand.ty):
        return form
    return LaneForm((0,) * len(shape_of(ty)), form.bits)


def _sum(sign: int, scale: bool = False) -> Rule:
    """x + y, x - y; `scale`: y counts elements of the pointer x."""

    def rule(forms: LaneForms, op: Op) -> LaneForm | None:
        ty = op.types[0]
        left, right = (_stretched(forms, operand, ty) for operand in op.operands)
        if left is None or right is None:
            return None
        size = pointee(ty).itemsize if scale else 1
        strides = (a + sign * b * size for a, b in zip(left.strides, right.strides))
        bits = min(left.bits, right.bits + size.bit_length() - 1)
        return _of_type(tuple(strides), bits, ty)

    return rule


def _scaled(forms: LaneForms, op: Op, operand: Operand, factor: int) -> LaneForm | None:
    form, ty = _stretched(forms, operand, op.types[0]), op.types[0]
    return form and _of_type(tuple(s * factor for s in form.strides), form.bits, ty)


def _product(forms: LaneForms, op: Op) -> LaneForm | None:
    for operand, other in (op.operands, op.operands[::-1]):
        factor = constant_of(other)
        if factor is not None:
            return _scaled(forms, op, operand, int(factor.value))
    return None


def _shift(forms: LaneForms, op: Op) -> LaneForm | None:
    value, count = op.operands[0], constant_of(op.operands[1])
    known = count is not None and 0 <= count.value < element_of(op.types[0]).bits
    return _scaled(forms, op, value, 1 << int(count.value)) if known and count else None


def _negation(forms: LaneForms, op: Op) -> LaneForm | None:
    return _scaled(forms, op, op.operands[0], -1)


def _cast(forms: LaneForms, op: Op) -> LaneForm | None:
    """Between ints and pointers: the low bits stay."""
    (value,) = op.operands
    form = forms.of(value)
    assert value is not None
    source = element_of(value.ty)
    if form is None or source.kind not in "iup":
        return None
    return _of_type(form.strides, min(form.bits, source.bits), op.types[0])


def _arange(forms: LaneForms, op: Op) -> LaneForm | None:
    return _of_type((1,), 32, op.types[0])


def _same(forms: LaneForms, op: Op) -> LaneForm | None:
    return _stretched(forms, op.operands[0], op.types[0])


def _reshape(forms: LaneForms, op: Op) -> LaneForm | None:
    """Where the element's row-major index has one stride, it keeps it; where only axes of extent 1
    come and go, the others keep theirs."""
    (value,) = op.operands
    form = forms.of(value)
    assert value is not None
    if form is None:
        return None
    old, new = shape_of(value.ty), shape_of(op.types[0])
    flat = next((s for s, n in zip(form.strides[::-1], old[::-1]) if n > 1), 0)
    if all(s == flat * step for s, n, step in zip(form.strides, old, _steps(old)) if n > 1):
        return _of_type(tuple(flat * step for step in _steps(new)), form.bits, op.types[0])
    if [n for n in old if n > 1] != [n for n in new if n > 1]:
        return None
    wide = iter([s for s, n in zip(form.strides, old) if n > 1])
    return LaneForm(tuple(next(wide) if n > 1 else 0 for n in new), form.bits)


def _steps(shape: tuple[int, ...]) -> Strides:
    """How far apart neighbours along each axis are in row-major order."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _trans(forms: LaneForms, op: Op) -> LaneForm | None:
    form = forms.of(op.operands[0])
    return form and LaneForm(tuple(form.strides[axis] for axis in op.attrs["order"]), form.bits)


_RULES: dict[str, Rule] = {
    "add": _sum(1),
    "addptr": _sum(1, scale=True),
    "arange": _arange,
    "bitcast": _cast,
    "broadcast": _same,
    "cast": _cast,
    "hint": _same,
    "mul": _product,
    "neg": _negation,
    "reshape": _reshape,
    "shl": _shift,
    "slice": _same,
    "sub": _sum(-1),
    "trans": _trans,
}
"""The form of an op's result from those of its operands."""
