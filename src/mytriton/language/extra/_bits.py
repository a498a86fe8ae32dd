"""libdevice's functions of bits: ints, and the exponent and sign fields of floats.

One idea: a float is looked at as an int of its width (`bitcast`), with the field sizes of its row
in the type table; nothing here rounds.
"""

from __future__ import annotations

from collections.abc import Callable

from ...elementary.formats import with_sign_of
from ...elementary.neighbours import next_after
from ...elementary.term import IrTerm, Term
from ...errors import CompileTypeError
from ...ir.types import BOOL, F32, F64, I32, I64, U16, U32, U64, ScalarType
from ..constexpr import builtin
from ..creation import cast, full
from ..math import FUNCTIONS, maximum, minimum, where
from ..promotion import promote
from ..tensor import TensorLike, given, tensor, to_tensor

_UNSIGNED = {16: U16, 32: U32, 64: U64}


def floats(value: TensorLike, name: str) -> tensor:
    """The value as a float tensor. Raises CompileTypeError for ints."""
    number = to_tensor(value)
    if number.dtype.kind != "f" or number.dtype.bits < 16:
        raise CompileTypeError(f"{name}: floats of 16 bits or more are needed, got {number.dtype}")
    return number


def together(*values: TensorLike, name: str) -> list[tensor]:
    """The values promoted and at one rank."""
    return [tensor(value) for value in promote(*(given(v) for v in values), symbol=name)]


def applied(formula: Callable[..., Term], *operands: tensor) -> tensor:
    """A strict formula on tensors of one element type and rank (see `together`)."""
    result = formula(*(IrTerm(operand.handle) for operand in operands))
    assert isinstance(result, IrTerm) and result.value is not None
    return tensor(result.value)


def bits_of(value: tensor) -> tensor:
    """The bits of a float as an unsigned int."""
    return cast(value, _UNSIGNED[value.dtype.bits], bitcast=True)


def _ints(value: TensorLike, name: str) -> tensor:
    number = to_tensor(value)
    if number.dtype.kind not in "iu" or number.dtype.bits < 32:
        raise CompileTypeError(f"{name}: ints of 32 or 64 bits are needed, got {number.dtype}")
    return cast(number, _UNSIGNED[number.dtype.bits], bitcast=True)


def _repeat(pattern: int, bits: int) -> int:
    """A byte pattern over a word."""
    return int.from_bytes(bytes([pattern]) * (bits // 8), "big")


@builtin
def popc(arg0: TensorLike) -> tensor:
    """How many bits of an int are 1: i32. Pairs, nibbles and bytes are counted in parallel."""
    x = _ints(arg0, "popc")
    bits = x.dtype.bits
    x = x - ((x >> 1) & _repeat(0x55, bits))
    x = (x & _repeat(0x33, bits)) + ((x >> 2) & _repeat(0x33, bits))
    x = (x + (x >> 4)) & _repeat(0x0F, bits)
    return cast((x * _repeat(0x01, bits)) >> (bits - 8), I32)


@builtin
def clz(arg0: TensorLike) -> tensor:
    """How many bits of an int are 0 above its highest 1: i32; all of them for 0."""
    x = _ints(arg0, "clz")
    step = 1
    while step < x.dtype.bits:
        x = x | (x >> step)
        step *= 2
    return popc(~x)


@builtin
def ffs(arg0: TensorLike) -> tensor:
    """The place of the lowest 1 of an int, counted from 1: i32; 0 for 0."""
    x = _ints(arg0, "ffs")
    return where(x == 0, 0, popc(x ^ (x - 1)))


@builtin
def brev(arg0: TensorLike) -> tensor:
    """The bits of an int in reverse order."""
    given = to_tensor(arg0)
    x = _ints(arg0, "brev")
    bits, step = x.dtype.bits, 1
    for pattern in (0x55, 0x33, 0x0F):
        x = ((x >> step) & _repeat(pattern, bits)) | ((x & _repeat(pattern, bits)) << step)
        step *= 2
    places = range(0, bits, 8)
    parts = [((x >> place) & 0xFF) << (bits - 8 - place) for place in places]
    result = parts[0]
    for part in parts[1:]:
        result = result | part
    return cast(result, given.dtype, bitcast=True)


@builtin
def byte_perm(arg0: TensorLike, arg1: TensorLike, arg2: TensorLike) -> tensor:
    """Four bytes picked from the eight of two 32-bit ints, by the nibbles of the third (its bit 3
    repeats the byte's sign)."""
    low, high, pick = (_ints(v, "byte_perm") for v in (arg0, arg1, arg2))
    whole = cast(low, U64) | (cast(high, U64) << 32)
    result = full((), 0, U32)
    for place in range(4):
        nibble = cast((pick >> (4 * place)) & 0xF, U64)
        byte = cast((whole >> ((nibble & 7) * 8)) & 0xFF, U32)
        sign = where((byte & 0x80) != 0, full((), 0xFF, U32), full((), 0, U32))
        part = where((nibble & 8) != 0, sign, byte) << (8 * place)
        result = result | part
    return cast(result, to_tensor(arg0).dtype, bitcast=True)


@builtin
def mulhi(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The high half of a product of ints."""
    return FUNCTIONS["umulhi"](arg0, arg1)


@builtin
def mul24(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The low 32 bits of the product of the low 24 bits of two ints."""
    x, y = together(arg0, arg1, name="mul24")
    return ((x << 8) >> 8) * ((y << 8) >> 8)


@builtin
def sad(arg0: TensorLike, arg1: TensorLike, arg2: TensorLike) -> tensor:
    """|x - y| + z of 32-bit ints, as uint32."""
    x, y = together(arg0, arg1, name="sad")
    distance = cast(maximum(x, y), U32, bitcast=True) - cast(minimum(x, y), U32, bitcast=True)
    return distance + cast(arg2, U32)


@builtin
def hadd(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The mean of two ints, rounded down, without overflow."""
    x, y = together(arg0, arg1, name="hadd")
    return (x & y) + ((x ^ y) >> 1)


@builtin
def rhadd(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The mean of two ints, rounded up, without overflow."""
    x, y = together(arg0, arg1, name="rhadd")
    return (x | y) - ((x ^ y) >> 1)


# -- the same bits as another type


def _reader(name: str, source: ScalarType, target: ScalarType) -> Callable[[TensorLike], tensor]:
    @builtin
    def read(arg0: TensorLike) -> tensor:
        return cast(cast(arg0, source), target, bitcast=True)

    read.__name__ = name
    read.__doc__ = f"The bits of {source.name} as {target.name}."
    return read


float_as_int = _reader("float_as_int", F32, I32)
float_as_uint = _reader("float_as_uint", F32, U32)
int_as_float = _reader("int_as_float", I32, F32)
uint_as_float = _reader("uint_as_float", U32, F32)
double_as_longlong = _reader("double_as_longlong", F64, I64)
longlong_as_double = _reader("longlong_as_double", I64, F64)


@builtin
def double2hiint(arg0: TensorLike) -> tensor:
    """The high 32 bits of a double, as int32."""
    return cast(bits_of(cast(arg0, F64)) >> 32, I32)


@builtin
def double2loint(arg0: TensorLike) -> tensor:
    """The low 32 bits of a double, as int32."""
    return cast(bits_of(cast(arg0, F64)), I32)


@builtin
def hiloint2double(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The double of two 32-bit halves, the high one first."""
    high, low = (cast(cast(v, I32), U32, bitcast=True) for v in (arg0, arg1))
    return cast((cast(high, U64) << 32) | cast(low, U64), F64, bitcast=True)


# -- fields of floats


@builtin
def isnan(arg0: TensorLike) -> tensor:
    """Whether x is NaN."""
    x = floats(arg0, "isnan")
    answer: tensor = x != x
    return answer


@builtin
def signbit(arg0: TensorLike) -> tensor:
    """Whether the sign bit is set: of -0.0 and negative NaNs too."""
    x = floats(arg0, "signbit")
    return cast(bits_of(x) >> (x.dtype.bits - 1), BOOL)


@builtin
def copysign(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The size of the first with the sign of the second."""
    return applied(with_sign_of, *together(floats(arg0, "copysign"), arg1, name="copysign"))


@builtin
def nextafter(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The next float after the first toward the second; NaN of NaN."""
    return applied(next_after, *together(floats(arg0, "nextafter"), arg1, name="nextafter"))


def exponent_of(x: tensor) -> tensor:
    """The binary exponent of finite x ≠ 0 as i32, subnormals included."""
    row = x.dtype
    assert isinstance(row, ScalarType)
    scale = 2.0 ** (row.mantissa + 1)
    small = FUNCTIONS["abs"](x) < 2.0 ** (1 - row.bias)
    normal = where(small, x * scale, x)
    field = cast((bits_of(normal) >> row.mantissa) & ((1 << row.exponent) - 1), I32)
    return field - row.bias - where(small, row.mantissa + 1, 0)


@builtin
def ilogb(arg0: TensorLike) -> tensor:
    """The binary exponent as i32: least int of 0 and NaN, greatest of infinity."""
    x = floats(arg0, "ilogb")
    size = FUNCTIONS["abs"](x)
    odd = where(size == float("inf"), I32.max_int, I32.min_int)
    return where((x == 0) | (size == float("inf")) | (x != x), odd, exponent_of(x))


@builtin
def logb(arg0: TensorLike) -> tensor:
    """The binary exponent as a float: -inf of 0, inf of infinity, NaN of NaN."""
    x = floats(arg0, "logb")
    size = FUNCTIONS["abs"](x)
    plain = cast(exponent_of(x), x.dtype)
    endless = where(size == float("inf"), size, where(x == 0, float("-inf"), plain))
    return where(x != x, x, endless)


def _two_to(exponent: tensor, row: ScalarType) -> tensor:
    """2**exponent for normal exponents."""
    word = _UNSIGNED[row.bits]
    return cast(cast(exponent + row.bias, word) << row.mantissa, row, bitcast=True)


@builtin
def ldexp(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """x * 2**n, rounded once; n an int."""
    x = floats(arg0, "ldexp")
    if x.dtype.bits < 64:
        n = minimum(maximum(cast(arg1, I32), -400), 400)
        return cast(cast(x, F64) * _two_to(n, F64), x.dtype)
    return _ldexp_double(x, minimum(maximum(cast(arg1, I32), -3000), 3000))


def _ldexp_double(x: tensor, n: tensor) -> tensor:
    """Large powers in steps; those downward leave 53 bits, so that only the last one rounds."""
    for limit, step in ((1023, 1023), (1023, 1023), (-1022, -969), (-1022, -969)):
        beyond = n > limit if limit > 0 else n < limit
        x = where(beyond, x * 2.0**step, x)
        n = where(beyond, n - step, n)
    return x * _two_to(minimum(maximum(n, -1022), 1023), F64)


@builtin
def scalbn(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """x * 2**n: `ldexp`."""
    return ldexp(arg0, arg1)
