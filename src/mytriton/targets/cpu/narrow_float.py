"""Floats below 32 bits as `float` registers: rounding, encoding, decoding, by the fields of the
format's row.

A small float in a register is a `float` number, so rounding to the format is arithmetic
on the `float`'s bits. Adding half a unit of the last place kept (minus one, plus the last kept bit)
rounds to nearest even, carries into the exponent, and leaves an ordinary number; below the least
normal the same happens in a float addition with a constant whose last place is the format's
quantum.
"""

from __future__ import annotations

from ...ir.types import ScalarType
from .code import Reg, const
from .nest import Nest


def _wide(nest: Nest, like: Reg, type_: str, value: int | float) -> Reg:
    reg = const(type_, value)
    return nest.wide(reg) if like.lanes else reg


def _bits(nest: Nest, value: Reg, to: str = "i32") -> Reg:
    return nest.convert("bits", "bitcast", value, to)


def to_odd(nest: Nest, value: Reg, toward_zero: bool = False) -> Reg:
    """A double as float, rounded to odd: toward zero, then the last bit set where inexact.

    Rounding the result once more, to a format of at most 22 mantissa bits, equals rounding the
    double once. With `toward_zero` the odd bit is left out: the truncated float itself.
    """
    near = nest.convert("near", "fptrunc", value, "float")
    back = nest.convert("back", "fpext", near, "double")
    size, exact = nest.call("size", "llvm.fabs", [back]), nest.call("size", "llvm.fabs", [value])
    beyond = nest.inst("beyond", "fcmp ogt", [size, exact], "i1")
    inexact = nest.inst("inexact", "fcmp one", [back, value], "i1")
    bits = nest.inst("cut", "sub", [_bits(nest, near), nest.convert("one", "zext", beyond, "i32")])
    if not toward_zero:
        bits = nest.inst("odd", "or", [bits, nest.convert("one", "zext", inexact, "i32")])
    return nest.convert("odd", "bitcast", bits, "float")


def round_to(nest: Nest, element: ScalarType, value: Reg, toward_zero: bool = False) -> Reg:
    """The nearest number of the format (ties to even), or the next one toward zero."""
    if element.ir == "f16" and nest.writer.host.has_half and not toward_zero:
        half = nest.convert("half", "fptrunc", value, "half")
        return nest.convert("real", "fpext", half, "float")
    bits = _bits(nest, value)
    sign = nest.inst("sign", "and", [bits, _wide(nest, bits, "i32", -(1 << 31))])
    size = nest.inst("size", "and", [bits, _wide(nest, bits, "i32", (1 << 31) - 1)])
    number = _round_size(nest, element, size, toward_zero)
    number = _limit(nest, element, size, number, toward_zero)
    result = _bits(nest, number, "i32")
    if element.special == "fnuz":
        zero = nest.inst("zero", "icmp eq", [result, nest.zero("i32", bits.lanes)], "i1")
        sign = nest.select("sign", zero, nest.zero("i32", bits.lanes), sign)
    if element.special == "none":  # NaN becomes the largest number, whatever its sign bit
        limit = _wide(nest, size, "i32", 0x7F800000)
        unordered = nest.inst("nan", "icmp ugt", [size, limit], "i1")
        sign = nest.select("sign", unordered, nest.zero("i32", bits.lanes), sign)
    signed = nest.inst("signed", "or", [result, sign])
    return nest.convert("rounded", "bitcast", signed, "float")


def _round_size(nest: Nest, element: ScalarType, size: Reg, toward_zero: bool) -> Reg:
    """The rounded magnitude as a float, without limits."""
    drop = 23 - element.mantissa
    kept = size
    if not toward_zero:
        last = nest.inst("last", "lshr", [size, _wide(nest, size, "i32", drop)])
        last = nest.inst("last", "and", [last, _wide(nest, size, "i32", 1)])
        half = nest.inst("half", "add", [last, _wide(nest, size, "i32", (1 << drop - 1) - 1)])
        kept = nest.inst("kept", "add", [size, half])
    kept = nest.inst("kept", "and", [kept, _wide(nest, size, "i32", -(1 << drop))])
    normal = nest.convert("normal", "bitcast", kept, "float")
    if element.bias >= 127:
        return normal
    return _subnormal(nest, element, size, normal, toward_zero)


def _subnormal(nest: Nest, element: ScalarType, size: Reg, normal: Reg, toward_zero: bool) -> Reg:
    """Below the least normal number the quantum is fixed: scale to it, round, scale back."""
    exponent = 1 - element.bias - element.mantissa
    number = nest.convert("number", "bitcast", size, "float")
    steps = nest.inst("steps", "fmul", [number, _wide(nest, size, "float", 2.0**-exponent)])
    rounding = "llvm.trunc" if toward_zero else "llvm.rint"
    whole = nest.call("whole", rounding, [steps])
    tiny = nest.inst("tiny", "fmul", [whole, _wide(nest, size, "float", 2.0**exponent)])
    least = _wide(nest, size, "float", 2.0 ** (1 - element.bias))
    below = nest.inst("below", "fcmp olt", [number, least], "i1")
    return nest.select("number", below, tiny, normal)


def _limit(nest: Nest, element: ScalarType, size: Reg, number: Reg, toward_zero: bool) -> Reg:
    """Past the largest finite number: infinity, NaN or that number, as the format spells it; NaN
    stays.
    """
    top, nan, infinity = element.max_finite, float("nan"), float("inf")
    past = {"ieee": infinity, "fn": nan, "fnuz": nan, "none": top}[element.special]
    highest = _wide(nest, size, "float", top)
    over = nest.inst("over", "fcmp ogt", [number, highest], "i1")
    beyond = _wide(nest, size, "float", past)
    if toward_zero:
        whole = _wide(nest, size, "i32", 0x7F800000)
        endless = nest.inst("endless", "icmp eq", [size, whole], "i1")
        beyond = nest.select("beyond", endless, beyond, highest)
    number = nest.select("number", over, beyond, number)
    unordered = nest.inst("nan", "icmp ugt", [size, _wide(nest, size, "i32", 0x7F800000)], "i1")
    spelled = nan if element.special != "none" else top
    return nest.select("number", unordered, _wide(nest, size, "float", spelled), number)


def encode(nest: Nest, element: ScalarType, value: Reg) -> Reg:
    """The bit pattern of a `float` that the format can represent."""
    if element.ir == "f16" and nest.writer.host.has_half:
        return nest.convert("half", "fptrunc", value, "half")
    bits = _bits(nest, value)
    if element.ir == "bf16":
        high = nest.inst("high", "lshr", [bits, _wide(nest, bits, "i32", 16)])
        return nest.convert("low", "trunc", high, "i16")
    pattern = _pattern(nest, element, bits)
    whole = nest.convert("pattern", "trunc", pattern, f"i{element.bits}")
    return nest.convert("half", "bitcast", whole, "half") if element.ir == "f16" else whole


def _pattern(nest: Nest, element: ScalarType, bits: Reg) -> Reg:
    """Sign, exponent and mantissa put together in an i32."""
    drop = 23 - element.mantissa
    size = nest.inst("size", "and", [bits, _wide(nest, bits, "i32", (1 << 31) - 1)])
    number = nest.convert("number", "bitcast", size, "float")
    rebased = nest.inst(
        "rebased", "sub", [size, _wide(nest, bits, "i32", 127 - element.bias << 23)]
    )
    normal = nest.inst("normal", "lshr", [rebased, _wide(nest, bits, "i32", drop)])
    exponent = 1 - element.bias - element.mantissa
    steps = nest.inst("steps", "fmul", [number, _wide(nest, bits, "float", 2.0**-exponent)])
    least = _wide(nest, bits, "float", 2.0 ** (1 - element.bias))
    below = nest.inst("below", "fcmp olt", [number, least], "i1")
    safe = nest.select("safe", below, steps, nest.zero("float", bits.lanes))
    tiny = nest.convert("tiny", "fptosi", safe, "i32")
    pattern = nest.select("pattern", below, tiny, normal)
    pattern = _special_pattern(nest, element, size, pattern)
    shift = _wide(nest, bits, "i32", 32 - element.bits)
    sign = nest.inst("sign", "lshr", [bits, shift])
    mask = _wide(nest, bits, "i32", 1 << element.bits - 1)
    sign = nest.inst("sign", "and", [sign, mask])
    return _signed_pattern(nest, element, size, pattern, sign)


def _special_pattern(nest: Nest, element: ScalarType, size: Reg, pattern: Reg) -> Reg:
    """Infinity and NaN."""
    full_exponent = (1 << element.exponent) - 1 << element.mantissa
    ends = _wide(nest, size, "i32", 0x7F800000)
    if element.special == "ieee":
        infinite = nest.inst("infinite", "icmp eq", [size, ends], "i1")
        pattern = nest.select("pattern", infinite, _wide(nest, size, "i32", full_exponent), pattern)
    if element.special == "none":
        return pattern
    nan = {
        "ieee": full_exponent | 1 << element.mantissa - 1,
        "fn": (1 << element.bits - 1) - 1,
        "fnuz": 1 << element.bits - 1,
    }[element.special]
    unordered = nest.inst("nan", "icmp ugt", [size, ends], "i1")
    return nest.select("pattern", unordered, _wide(nest, size, "i32", nan), pattern)


def _signed_pattern(nest: Nest, element: ScalarType, size: Reg, pattern: Reg, sign: Reg) -> Reg:
    """The sign joins, but for NaN (as `numeric.encode` has it) and for fnuz's zero."""
    unordered = nest.inst("nan", "icmp ugt", [size, _wide(nest, size, "i32", 0x7F800000)], "i1")
    sign = nest.select("sign", unordered, nest.zero("i32", size.lanes), sign)
    if element.special == "fnuz":
        zero = nest.inst("zero", "icmp eq", [size, nest.zero("i32", size.lanes)], "i1")
        sign = nest.select("sign", zero, nest.zero("i32", size.lanes), sign)
    return nest.inst("pattern", "or", [pattern, sign])


def decode(nest: Nest, element: ScalarType, bits: Reg) -> Reg:
    """The number a bit pattern stands for."""
    if element.ir == "f16" and nest.writer.host.has_half:
        return nest.convert("real", "fpext", bits, "float")
    if element.ir == "f16":
        bits = nest.convert("bits", "bitcast", bits, "i16")
    wide = nest.convert("bits", "zext", bits, "i32")
    if element.ir == "bf16":
        high = nest.inst("high", "shl", [wide, _wide(nest, bits, "i32", 16)])
        return nest.convert("real", "bitcast", high, "float")
    size = nest.inst("size", "and", [wide, _wide(nest, bits, "i32", (1 << element.bits - 1) - 1)])
    return _decode_size(nest, element, wide, size)


def _decode_size(nest: Nest, element: ScalarType, bits: Reg, size: Reg) -> Reg:
    """Mantissa and exponent in a float's place, times a power of two: right for subnormals as
    well.
    """
    drop = 23 - element.mantissa
    placed = nest.inst("placed", "shl", [size, _wide(nest, bits, "i32", drop)])
    number = nest.convert("number", "bitcast", placed, "float")
    scale = _wide(nest, bits, "float", 2.0 ** (127 - element.bias))
    number = nest.inst("number", "fmul", [number, scale])
    number = _decode_special(nest, element, bits, size, number)
    sign = nest.inst("sign", "shl", [bits, _wide(nest, bits, "i32", 32 - element.bits)])
    sign = nest.inst("sign", "and", [sign, _wide(nest, bits, "i32", -(1 << 31))])
    signed = nest.inst("signed", "or", [_bits(nest, number), sign])
    value = nest.convert("real", "bitcast", signed, "float")
    if element.special != "fnuz":
        return value
    lone = _wide(nest, bits, "i32", 1 << element.bits - 1)
    nan = nest.inst("nan", "icmp eq", [bits, lone], "i1")
    return nest.select("real", nan, _wide(nest, bits, "float", float("nan")), value)


def _decode_special(nest: Nest, element: ScalarType, bits: Reg, size: Reg, number: Reg) -> Reg:
    if element.special == "ieee":
        full_exponent = (1 << element.exponent) - 1 << element.mantissa
        edge = _wide(nest, bits, "i32", full_exponent)
        infinite = nest.inst("infinite", "icmp eq", [size, edge], "i1")
        unordered = nest.inst("nan", "icmp ugt", [size, edge], "i1")
        number = nest.select("number", infinite, _wide(nest, bits, "float", float("inf")), number)
    elif element.special == "fn":
        edge = _wide(nest, bits, "i32", (1 << element.bits - 1) - 1)
        unordered = nest.inst("nan", "icmp eq", [size, edge], "i1")
    else:
        return number
    return nest.select("number", unordered, _wide(nest, bits, "float", float("nan")), number)
