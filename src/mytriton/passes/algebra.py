"""Peephole rules: identities that look at how an operand was made.

A rule is for ops without effects and regions. It gives a value that equals the op's for every
input, to the bit (a NaN is like any other); it may emit ops without effects, which are folded and
hoisted as all are, and may fault only where the op does. A rule either shortens the computation or
brings it nearer to one form (a scalar rather than its broadcast, one cast rather than two), so
that applying rules ends. What needs no new op is a fold (`ir/fold`).

Ops stretch their operands themselves, so a broadcast goes outward until something needs it:

    %1 = broadcast n {shape=(8,)}        %1 = add n, 1
    %2 = add %1, 1                  →    %3 = mul %0, %1        where %0 is a block of 8
    %3 = mul %0, %2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.build import emit
from ..ir.fold import chosen, constant
from ..ir.nodes import Const, Op, Operand, Value
from ..ir.ops import TABLE, broadcast_shapes
from ..ir.types import BOOL, Element, ScalarType, Type, element_of, shape_of

Rewrite = Callable[[Op, Sequence[Operand]], Operand]


@dataclass(frozen=True)
class Rule:
    """One rule: what it is called, what it says, the ops it is for, and the function that gives the
    value equal to an op's, or None where the rule does not apply."""

    name: str
    law: str
    ops: tuple[str, ...]
    rewrite: Rewrite


def made_by(operand: Operand, name: str) -> Op | None:
    """The op of that name that the operand is the result of."""
    return operand.op if isinstance(operand, Value) and operand.op.name == name else None


def splat(operand: Operand) -> Operand:
    """The scalar that the operand is, or repeats; None where it is neither."""
    if operand is None or not shape_of(operand.ty):
        return operand
    for name in ("broadcast", "reshape"):
        op = made_by(operand, name)
        if op is not None and op.operands[0] is not None and not shape_of(op.operands[0].ty):
            return op.operands[0]
    return None


def constant_of(operand: Operand) -> Const | None:
    """The constant that the operand is, or repeats."""
    scalar = splat(operand)
    return scalar if isinstance(scalar, Const) else None


def shaped(operand: Operand, ty: Type) -> Operand:
    """The operand stretched to the shape of the type."""
    shape = shape_of(ty)
    if operand is None or shape_of(operand.ty) == shape:
        return operand
    return emit("broadcast", operand, shape=shape)


def full(value: bool | int, ty: Type) -> Operand:
    """A constant, repeated where the type is a block."""
    element = element_of(ty)
    assert isinstance(element, ScalarType)
    return shaped(constant(value, element), ty)


def _kind(operand: Operand) -> str:
    return "none" if operand is None else element_of(operand.ty).kind


# -- broadcasts


def narrow(operand: Operand) -> Operand:
    """What the operand was before it was broadcast; the operand itself where it was not."""
    source = made_by(operand, "broadcast")
    scalar = splat(operand)
    return scalar if scalar is not None else source.operands[0] if source else operand


def on_narrow(op: Op, operands: Sequence[Operand]) -> Operand:
    """An element-wise op is done before its operands are broadcast rather than after."""
    sources = [narrow(operand) for operand in operands]
    if all(a is b for a, b in zip(sources, operands)):
        return None
    return shaped(emit(op.name, *sources, **op.attrs), op.types[0])


def implied(op: Op, operands: Sequence[Operand]) -> Operand:
    """Operands that the op stretches itself need no broadcast."""
    shape = shape_of(op.types[0])
    sources = [narrow(operand) for operand in operands]
    enough = broadcast_shapes([shape_of(v.ty) for v in sources if v is not None]) == shape
    changed = any(a is not b for a, b in zip(sources, operands))
    return emit(op.name, *sources, **op.attrs) if enough and changed else None


# -- arithmetic


def absorbing(value: int, kinds: str) -> Rewrite:
    """x op value = value, for the kinds of element given: x * 0 = 0."""

    def rule(op: Op, operands: Sequence[Operand]) -> Operand:
        if _kind(operands[0]) not in kinds:
            return None
        element = element_of(op.types[0])
        assert isinstance(element, ScalarType)
        known = (constant_of(operand) for operand in operands)
        hit = constant(value, element) in [c for c in known if c is not None]
        return full(value, op.types[0]) if hit else None

    return rule


def cancelling(value: int, kinds: str) -> Rewrite:
    """x op x = value, for the kinds of element given: x - x = 0."""

    def rule(op: Op, operands: Sequence[Operand]) -> Operand:
        twice = operands[0] is operands[1] and _kind(operands[0]) in kinds
        return full(value, op.types[0]) if twice else None

    return rule


def remainder_of_one(op: Op, operands: Sequence[Operand]) -> Operand:
    divisor = constant_of(operands[1])
    one = divisor is not None and divisor.ty.kind in "iu" and divisor.value == 1
    return full(0, op.types[0]) if one else None


def undoing(op: Op, operands: Sequence[Operand]) -> Operand:
    """op(op(x)) = x: two negations, two complements."""
    inner = made_by(operands[0], op.name)
    return inner.operands[0] if inner else None


INVERSE = {
    "cmp_lt": "cmp_ge",
    "cmp_ge": "cmp_lt",
    "cmp_gt": "cmp_le",
    "cmp_le": "cmp_gt",
    "cmp_eq": "cmp_ne",
    "cmp_ne": "cmp_eq",
}


def inverse(op: Op, operands: Sequence[Operand]) -> Operand:
    """not (x < y) = x >= y, but for floats, which may be unordered; there only of == and !=."""
    inner = operands[0].op if isinstance(operands[0], Value) else None
    if inner is None or inner.name not in INVERSE or element_of(op.types[0]) != BOOL:
        return None
    ordered = _kind(inner.operands[0]) != "f" or inner.name in ("cmp_eq", "cmp_ne")
    return emit(INVERSE[inner.name], *inner.operands) if ordered else None


def choice(op: Op, operands: Sequence[Operand]) -> Operand:
    condition, left, right = operands
    known = constant_of(condition)
    side = chosen((condition if known is None else known, left, right))
    return side if side is None else shaped(side, op.types[0])


def negated_choice(op: Op, operands: Sequence[Operand]) -> Operand:
    negated = made_by(operands[0], "not")
    return emit("select", negated.operands[0], *operands[:0:-1]) if negated else None


def truth(op: Op, operands: Sequence[Operand]) -> Operand:
    condition, ty = operands[0], op.types[0]
    left, right = map(constant_of, operands[1:])
    if left is None or right is None or element_of(ty) != BOOL or not _same_shape(condition, ty):
        return None
    if left == right:
        return full(bool(left.value), ty)
    return condition if left.value else emit("not", condition)


def nested_choice(op: Op, operands: Sequence[Operand]) -> Operand:
    condition, left, right = operands
    inner_left, inner_right = made_by(left, "select"), made_by(right, "select")
    if inner_left is not None and inner_left.operands[0] is condition:
        return emit("select", condition, inner_left.operands[1], right)
    if inner_right is not None and inner_right.operands[0] is condition:
        return emit("select", condition, left, inner_right.operands[2])
    return None


def _same_shape(operand: Operand, ty: Type) -> bool:
    return operand is not None and shape_of(operand.ty) == shape_of(ty)


# -- casts


def cast_chain(op: Op, operands: Sequence[Operand]) -> Operand:
    """A cast of a cast that lost nothing, or of an int cut in two steps, is one cast."""
    inner = made_by(operands[0], "cast")
    if inner is None or inner.operands[0] is None:
        return None
    source, middle = element_of(inner.operands[0].ty), element_of(inner.types[0])
    target = op.attrs["to"]
    kinds = {source.kind, middle.kind, target.kind}
    cut = kinds <= {"i", "u"} and target.bits <= middle.bits
    if cut or holds(middle, source):
        return emit("cast", inner.operands[0], **op.attrs)
    return None


def bitcast_chain(op: Op, operands: Sequence[Operand]) -> Operand:
    """Bits read as an int on the way are the same bits (as a float, a NaN might change)."""
    inner = made_by(operands[0], "bitcast")
    if inner is None or element_of(inner.types[0]).kind not in "iu":
        return None
    return emit("bitcast", inner.operands[0], to=op.attrs["to"])


def holds(wide: Element, narrow: Element) -> bool:
    """Whether every value of the narrow type is a value of the wide one."""
    if not isinstance(wide, ScalarType) or not isinstance(narrow, ScalarType):
        return wide == narrow
    if narrow.kind == "b":
        return wide.kind != "b"
    if narrow.kind in "iu":
        digits = narrow.bits - (narrow.kind == "i")
        if wide.kind == "b":
            return False
        if wide.kind == "f":
            return digits <= wide.mantissa + 1 and 2.0**digits <= wide.max_finite
        signs = (narrow.kind, wide.kind)
        return signs != ("i", "u") and digits <= wide.bits - (wide.kind == "i")
    return _float_holds(wide, narrow)


def _float_holds(wide: ScalarType, narrow: ScalarType) -> bool:
    if wide.kind != "f" or wide.special != "ieee":
        return wide == narrow
    range_held = wide.exponent > narrow.exponent or (wide.exponent, wide.bias) == (
        narrow.exponent,
        narrow.bias,
    )
    return range_held and wide.mantissa >= narrow.mantissa


# -- shapes


def splat_shape(op: Op, operands: Sequence[Operand]) -> Operand:
    """A splat keeps its scalar under any change of shape."""
    scalar = splat(operands[0])
    block = operands[0] is not None and bool(shape_of(operands[0].ty))
    return shaped(scalar, op.types[0]) if block and scalar is not None else None


def again(op: Op, operands: Sequence[Operand]) -> Operand:
    """The second of two broadcasts or two reshapes says it all."""
    inner = made_by(operands[0], op.name)
    return emit(op.name, inner.operands[0], **op.attrs) if inner else None


def trans_of_trans(op: Op, operands: Sequence[Operand]) -> Operand:
    inner = made_by(operands[0], "trans")
    if inner is None:
        return None
    order = tuple(inner.attrs["order"][axis] for axis in op.attrs["order"])
    return emit("trans", inner.operands[0], order=order)


def slice_of_slice(op: Op, operands: Sequence[Operand]) -> Operand:
    inner = made_by(operands[0], "slice")
    if inner is None:
        return None
    starts = tuple(map(sum, zip(inner.attrs["starts"], op.attrs["starts"])))
    return emit("slice", inner.operands[0], starts=starts, shape=op.attrs["shape"])


def no_offset(op: Op, operands: Sequence[Operand]) -> Operand:
    base, offset = operands
    zero = constant_of(offset)
    here = base is not None and base.ty == op.types[0]
    return base if here and zero is not None and zero.value == 0 else None


_ORDERED = ["cmp_lt", "cmp_gt", "cmp_ne"]
_EQUAL = ["cmp_le", "cmp_ge", "cmp_eq"]
_SHAPES = ("broadcast", "reshape", "trans", "slice")
_ELEMENTWISE = tuple(row.name for row in TABLE.values() if row.element is not None)

RULES: tuple[Rule, ...] = (
    Rule("times zero", "x * 0 = 0, of ints", ("mul",), absorbing(0, "iu")),
    Rule("and zero", "x & 0 = 0", ("and",), absorbing(0, "biu")),
    Rule("or ones", "x | -1 = -1, of ints", ("or",), absorbing(-1, "iu")),
    Rule("or true", "x | true = true", ("or",), absorbing(1, "b")),
    Rule("minus itself", "x - x = 0, of ints", ("sub",), cancelling(0, "iu")),
    Rule("xor itself", "x ^ x = 0", ("xor",), cancelling(0, "biu")),
    Rule("remainder of one", "x % 1 = 0, of ints", ("mod",), remainder_of_one),
    Rule("involution", "-(-x) = x, ~(~x) = x", ("neg", "not"), undoing),
    Rule("inverse", "not (x < y) = x >= y, if x and y are ordered", ("not",), inverse),
    Rule("irreflexive", "x < x is false, of ints", (*_ORDERED,), cancelling(0, "biu")),
    Rule("reflexive", "x <= x is true, of ints", (*_EQUAL,), cancelling(1, "biu")),
    Rule("known choice", "select(true, x, y) = select(c, x, x) = x", ("select",), choice),
    Rule("negated choice", "select(!c, x, y) = select(c, y, x)", ("select",), negated_choice),
    Rule("truth", "select(c, true, false) = c", ("select",), truth),
    Rule(
        "nested choice",
        "select(c, select(c, x, y), z) = select(c, x, z)",
        ("select",),
        nested_choice,
    ),
    Rule("cast of cast", "one cast, if the first loses nothing or both cut", ("cast",), cast_chain),
    Rule("bits of bits", "bits read twice are read once", ("bitcast",), bitcast_chain),
    Rule("shape of shape", "of two broadcasts or reshapes the last counts", _SHAPES[:2], again),
    Rule("order of order", "two permutations are one", ("trans",), trans_of_trans),
    Rule("part of part", "two slices are one", ("slice",), slice_of_slice),
    Rule("shape of splat", "a splat keeps its scalar under any shape", _SHAPES, splat_shape),
    Rule("no offset", "p + 0 = p", ("addptr",), no_offset),
    Rule("implied broadcast", "operands that stretch by themselves", ("addptr",), implied),
    Rule(
        "narrow first",
        "f(broadcast x) = broadcast f(x)",
        ("select", "cast", "bitcast", *_ELEMENTWISE),
        on_narrow,
    ),
)
"""Tried in order."""
ALGEBRA = {name: tuple(r for r in RULES if name in r.ops) for rule in RULES for name in rule.ops}
"""The rules of each op."""
