"""Conversions between element types, and between registers and memory.

Every conversion is exact or rounds once (to nearest even, or toward zero on demand).
Small formats are reached from `float` by one integer recipe that reads the format's row
(`exponent`, `mantissa`, `bias`, `special`); a source that `float` cannot hold is first brought to
`float` rounded to odd, so that the second rounding is the only one that shows.
"""

from __future__ import annotations

from ...ir.types import F32, F64, Element, PointerType, ScalarType
from . import affine, narrow_float
from .code import Reg, const
from .nest import Form, Nest
from .types import is_small, memory, register


def decode(nest: Nest, element: Element, bits: Reg) -> Reg:
    """The register form of what lies in memory."""
    if element.kind == "b":
        return nest.inst("true", "icmp ne", [bits, nest.zero("i8", bits.lanes)], "i1")
    if is_small(element):
        assert isinstance(element, ScalarType)
        return narrow_float.decode(nest, element, bits)
    return bits


def encode(nest: Nest, element: Element, value: Reg) -> Reg:
    """The memory form of a register value (already representable in the format)."""
    if element.kind == "b":
        return nest.convert("byte", "zext", value, "i8")
    if is_small(element):
        assert isinstance(element, ScalarType)
        return narrow_float.encode(nest, element, value)
    return value


def rounded(nest: Nest, element: Element, value: Reg) -> Reg:
    """A computed `float` brought back into the element's format: the one rounding of a small
    float's op.
    """
    if not is_small(element):
        return value
    assert isinstance(element, ScalarType)
    return narrow_float.round_to(nest, element, value)


def cast(nest: Nest, source: Element, target: Element, value: Form, toward_zero: bool) -> Form:
    """The cast of SEMANTICS: ints wrap, floats round once, float to int saturates, to bool is `!=
    0`.
    """
    if isinstance(source, PointerType) or isinstance(target, PointerType):
        return _pointer(nest, source, target, value)
    if source.kind in "iu" and target.kind in "iu":
        return affine.resize(nest, value, source.kind == "i", register(target))
    reg = _flat(nest, value)
    if target.kind == "b":
        return _to_bool(nest, source, reg)
    if target.kind == "f":
        return _to_float(nest, source, target, reg, toward_zero)
    if source.kind == "f":
        return _saturate(nest, target, reg)
    return nest.convert("int", "zext", reg, register(target))


def _flat(nest: Nest, value: Form) -> Reg:
    return value if isinstance(value, Reg) else nest.wide(value)


def _pointer(nest: Nest, source: Element, target: Element, value: Form) -> Form:
    if isinstance(source, PointerType) and isinstance(target, PointerType):
        return value
    opcode = "ptrtoint" if isinstance(source, PointerType) else "inttoptr"
    return nest.convert("address", opcode, _flat(nest, value), register(target))


def _to_bool(nest: Nest, source: ScalarType, value: Reg) -> Reg:
    opcode = "fcmp une" if source.kind == "f" else "icmp ne"
    zero = const(value.type, 0.0 if source.kind == "f" else 0)
    return nest.inst("true", opcode, nest.same_width([value, zero]), "i1")


def _to_float(
    nest: Nest, source: ScalarType, target: ScalarType, value: Reg, toward_zero: bool
) -> Reg:
    if source.kind == "f":
        return _between_floats(nest, source, target, value, toward_zero)
    opcode = "sitofp" if source.kind == "i" else "uitofp"
    if target == F64 or (target == F32 and not toward_zero):
        return nest.convert("real", opcode, value, register(target))
    if source.bits <= 16:
        return _narrow(nest, target, nest.convert("real", opcode, value, "float"), toward_zero)
    if source.bits == 64:
        value = _sticky(nest, value, source.kind == "i")
    odd = narrow_float.to_odd(nest, nest.convert("real", opcode, value, "double"), toward_zero)
    return odd if target == F32 else _narrow(nest, target, odd, toward_zero)


def _narrow(nest: Nest, target: ScalarType, value: Reg, toward_zero: bool) -> Reg:
    if target == F32:
        return value
    return narrow_float.round_to(nest, target, value, toward_zero)


def _sticky(nest: Nest, value: Reg, signed: bool) -> Reg:
    """A 64-bit int whose bits below the 53rd are folded into one, which f64 holds exactly."""
    wide = nest.wide if value.lanes else lambda reg: reg
    number = wide(const("i64", 2047))
    low = nest.inst("low", "and", [value, number])
    some = nest.inst("some", "icmp ne", [low, nest.zero("i64", value.lanes)], "i1")
    high = nest.inst("high", "and", [value, wide(const("i64", ~2047))])
    odd = nest.inst("odd", "or", [high, wide(const("i64", 1 << 11))])
    folded = nest.select("folded", some, odd, value)
    size = value
    if signed:
        negative = nest.inst("neg", "sub", [nest.zero("i64", value.lanes), value])
        below = nest.inst("below", "icmp slt", [value, nest.zero("i64", value.lanes)], "i1")
        size = nest.select("size", below, negative, value)
    big = nest.inst("big", "icmp uge", [size, wide(const("i64", 1 << 53))], "i1")
    return nest.select("sticky", big, folded, value)


def _between_floats(
    nest: Nest, source: ScalarType, target: ScalarType, value: Reg, toward_zero: bool
) -> Reg:
    if register(source) == "float" and target == F64:
        return nest.convert("real", "fpext", value, "double")
    if source == F64:
        if target == F32 and not toward_zero:
            return nest.convert("real", "fptrunc", value, "float")
        value = narrow_float.to_odd(nest, value, toward_zero)
    if target in (F32, F64):
        return value
    return narrow_float.round_to(nest, target, value, toward_zero)


def _saturate(nest: Nest, target: ScalarType, value: Reg) -> Reg:
    """Float to int: toward zero, out of range to the nearest end, NaN to 0; NaN compares false with
    the ends.
    """
    wide = nest.wide if value.lanes else lambda reg: reg
    kind = value.type
    low, high = float(target.min_int), float(target.max_int + 1)
    above = nest.inst("above", "fcmp oge", [value, wide(const(kind, high))], "i1")
    inside = nest.inst(
        "below", "fcmp ogt", [value, wide(const(kind, low - (target.kind == "u")))], "i1"
    )
    use = nest.inst("inside", "fcmp olt", [value, wide(const(kind, high))], "i1")
    safe = nest.select(
        "safe", nest.inst("safe", "and", [inside, use]), value, wide(const(kind, 0.0))
    )
    opcode = "fptosi" if target.kind == "i" else "fptoui"
    number = nest.convert("int", opcode, safe, register(target))
    return _ends(nest, target, value, number, above, low)


def _ends(nest: Nest, target: ScalarType, value: Reg, number: Reg, above: Reg, low: float) -> Reg:
    wide = nest.wide if value.lanes else lambda reg: reg
    top = wide(const(number.type, affine.wrap(number.type, target.max_int)))
    number = nest.select("int", above, top, number)
    if target.kind == "u":
        return number
    under = nest.inst("under", "fcmp ole", [value, wide(const(value.type, low))], "i1")
    return nest.select("int", under, wide(const(number.type, target.min_int)), number)


def bitcast(nest: Nest, source: Element, target: Element, value: Form) -> Form:
    """The same bits read as another type of the same width."""
    if source.kind in "iu" and target.kind in "iu":
        return value
    reg = _flat(nest, value)
    if source.kind == "b" or target.kind == "b":
        return reg
    if isinstance(source, PointerType) or isinstance(target, PointerType):
        return _pointer(nest, source, target, value)
    bits = encode(nest, source, reg)
    held = memory(target)
    if bits.type != held:
        bits = nest.put(
            bits.level, "bits", f"bitcast {bits.typed} to {_as(held, bits)}", held, bits.lanes
        )
    return decode(nest, target, bits)


def _as(type_: str, like: Reg) -> str:
    return f"<{like.lanes} x {type_}>" if like.lanes else type_
