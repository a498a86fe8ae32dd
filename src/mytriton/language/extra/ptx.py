"""The PTX instructions that `inline_asm_elementwise` understands: a table of language functions.

An entry takes the suffixes after the name, the types among them, and its inputs (each a
function from a type to the value read as it), and returns the result. `.approx`, `.ftz` and the
like promise less than these functions keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.types import (
    BF16,
    BOOL,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    ScalarType,
)
from ..creation import cast
from ..math import FUNCTIONS, clamp, maximum, minimum, where
from ..tensor import tensor
from ._bits import brev, byte_perm, clz, copysign, popc
from ._composites import ROW_FUNCTIONS

Input = Callable[[Any], tensor]
Entry = Callable[[Sequence[str], Sequence[Any], Sequence[Input]], Any]


class Pair:
    """A type of two 16-bit (or 8-bit) elements in one register, the first in the low half."""

    def __init__(self, element: ScalarType) -> None:
        self.element = element
        self.bits = 2 * element.bits


TYPES: dict[str, Any] = {
    "f16": F16, "bf16": BF16, "f32": F32, "f64": F64, "pred": BOOL,
    "s8": I8, "s16": I16, "s32": I32, "s64": I64,
    "u8": U8, "u16": U16, "u32": U32, "u64": U64,
    "b8": U8, "b16": U16, "b32": U32, "b64": U64,
    "f16x2": Pair(F16), "bf16x2": Pair(BF16), "e4m3x2": Pair(F8E4M3FN), "e5m2x2": Pair(F8E5M2),
}  # fmt: skip
"""Type suffixes."""


def halves(register: tensor, element: ScalarType) -> tuple[tensor, tensor]:
    """The two elements of a packed register."""
    word = {8: U8, 16: U16}[element.bits]
    parts = (cast(cast(register, U32) >> shift, word) for shift in (0, element.bits))
    low, high = (cast(part, element, bitcast=True) for part in parts)
    return low, high


def joined(low: tensor, high: tensor) -> tensor:
    """The packed register of two elements."""
    bits = low.dtype.bits
    word = {8: U8, 16: U16}[bits]
    first, second = (cast(cast(part, word, bitcast=True), U32) for part in (low, high))
    packed = first | (second << bits)
    return packed if bits == 16 else cast(packed, U16)


def _modified(suffixes: Sequence[str], value: tensor) -> tensor:
    if "sat" in suffixes and value.dtype.kind == "f":
        return clamp(value, 0.0, 1.0)
    return maximum(value, 0) if "relu" in suffixes else value


def plain(function: Callable[..., Any]) -> Entry:
    """An instruction whose operands all have its last type; packed types go half by half."""

    def entry(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
        ty = types[-1]
        if isinstance(ty, Pair):
            pairs = [halves(read(U32), ty.element) for read in inputs]
            low, high = (function(*side) for side in zip(*pairs))
            return joined(_modified(suffixes, low), _modified(suffixes, high))
        return _modified(suffixes, function(*(read(ty) for read in inputs)))

    return entry


def _move(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    return inputs[0](None if isinstance(types[-1], Pair) else types[-1])


def _multiply(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    if "wide" in suffixes:
        wide = {I16: I32, U16: U32, I32: I64, U32: U64}[types[-1]]
        return cast(inputs[0](types[-1]), wide) * cast(inputs[1](types[-1]), wide)
    product = FUNCTIONS["umulhi"] if "hi" in suffixes else lambda x, y: x * y
    return plain(product)(suffixes, types, inputs)


def _shift(right: bool) -> Entry:
    def entry(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
        value, count = inputs[0](types[-1]), inputs[1](U32)
        return value >> count if right else value << count

    return entry


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}


def _compare(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    return _COMPARE[suffixes[0]](inputs[0](types[-1]), inputs[1](types[-1]))


def _choose(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    return where(inputs[2](BOOL), inputs[0](types[-1]), inputs[1](types[-1]))


_WHOLE = {"rni": ROW_FUNCTIONS["rint"], "rmi": ROW_FUNCTIONS["floor"], "rpi": ROW_FUNCTIONS["ceil"]}


def _convert_one(suffixes: Sequence[str], value: tensor, target: ScalarType) -> tensor:
    for suffix in suffixes:
        if suffix in _WHOLE:
            value = _WHOLE[suffix](value)
    if "rzi" in suffixes and target.kind == "f":
        value = ROW_FUNCTIONS["trunc"](value)
    if "satfinite" in suffixes:
        value = clamp(value, -target.max_finite, target.max_finite)
    toward_zero = "rz" in suffixes and value.dtype.bits > target.bits and target.kind == "f"
    return _modified(suffixes, cast(value, target, "rtz" if toward_zero else None))


def _exponent(value: tensor, up: bool) -> tensor:
    """The ue8m0 byte of an f32's size: a power of two, not past the largest; 255 is NaN."""
    bits = cast(value, U32, bitcast=True) & 0x7FFFFFFF
    rounded = minimum((bits + (0x7FFFFF if up else 0)) >> 23, 254)
    return where(value != value, 255, where(bits <= 0x400000, 0, rounded))


def _convert(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    if "ue8m0x2" in suffixes and types == [F32]:
        high, low = (_exponent(read(F32), "rp" in suffixes) for read in inputs)
        return cast(low | high << 8, U16)
    target, source = types
    if not isinstance(target, Pair):
        return _convert_one(suffixes, inputs[0](source), target)
    if isinstance(source, Pair):
        low, high = halves(inputs[0](U32 if source.bits == 32 else U16), source.element)
    else:
        high, low = (read(source) for read in inputs)
    return joined(*(_convert_one(suffixes, part, target.element) for part in (low, high)))


def _lookup(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    """lop3: the bitwise function of three inputs whose truth table is the constant."""
    a, b, c = (read(U32) for read in inputs[:3])
    table = int(inputs[3](I32))
    result: Any = (a ^ a) | 0
    for row in (i for i in range(8) if table >> i & 1):
        picked = [x if row >> place & 1 else ~x for x, place in ((a, 2), (b, 1), (c, 0))]
        result = result | (picked[0] & picked[1] & picked[2])
    return result


def _permute(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    return byte_perm(*(read(U32) for read in inputs))


def _extract(suffixes: Sequence[str], types: Sequence[Any], inputs: Sequence[Input]) -> Any:
    """bfe: a field of bits, unsigned."""
    value, start, length = inputs[0](U32), inputs[1](U32), inputs[2](U32)
    mask = (cast(1, U64) << cast(length, U64)) - 1
    return cast((cast(value, U64) >> cast(start, U64)) & mask, U32)


INSTRUCTIONS: dict[str, Entry] = {
    "mov": _move,
    "cvt": _convert,
    "setp": _compare,
    "selp": _choose,
    "lop3": _lookup,
    "prmt": _permute,
    "bfe": _extract,
    "mul": _multiply,
    "shl": _shift(False),
    "shr": _shift(True),
    "add": plain(lambda x, y: x + y),
    "sub": plain(lambda x, y: x - y),
    "div": plain(lambda x, y: x / y if x.dtype.kind == "f" else x // y),
    "rem": plain(lambda x, y: x % y),
    "and": plain(lambda x, y: x & y),
    "or": plain(lambda x, y: x | y),
    "xor": plain(lambda x, y: x ^ y),
    "not": plain(lambda x: ~x),
    "neg": plain(lambda x: -x),
    "min": plain(minimum),
    "max": plain(maximum),
    "abs": plain(FUNCTIONS["abs"]),
    "fma": plain(FUNCTIONS["fma"]),
    "mad": plain(lambda x, y, z: x * y + z),
    "ex2": plain(FUNCTIONS["exp2"]),
    "lg2": plain(FUNCTIONS["log2"]),
    "sin": plain(FUNCTIONS["sin"]),
    "cos": plain(FUNCTIONS["cos"]),
    "tanh": plain(ROW_FUNCTIONS["tanh"]),
    "rcp": plain(lambda x: 1.0 / x),
    "sqrt": plain(FUNCTIONS["sqrt"]),
    "rsqrt": plain(FUNCTIONS["rsqrt"]),
    "popc": plain(popc),
    "clz": plain(clz),
    "brev": plain(brev),
    "copysign": plain(lambda x, y: copysign(y, x)),
}
"""By name, without suffixes."""
