"""Random expressions of weak and typed numbers, with their exact values.

`Expression` makes one as text and, beside it, its value by the rules of docs/semantics.md written a
second time: types in `meet` and `joined`, values as exact fractions that each operation rounds once
to its type. `Refused` says that the expression has no meaning; another is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

LANES = 4

INTS = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}
FLOATS = {
    "float16": (11, -14),
    "bfloat16": (8, -126),
    "float32": (24, -126),
    "float64": (53, -1022),
}
"""Bits of precision and the least normal exponent."""
TOP = {"float16": 16, "bfloat16": 128, "float32": 128, "float64": 1024}
"""Every finite value is below two to this power."""
DTYPES = ["int1", *INTS, *FLOATS]


class Refused(Exception):
    """The expression has no meaning."""


@dataclass(frozen=True)
class Weak:
    """A Python number."""

    value: Any


@dataclass(frozen=True)
class Typed:
    """A scalar (one value) or a block (several) of a dtype: bools, ints, or floats."""

    dtype: str
    values: tuple[Any, ...]


# -- types


def kind(dtype: str) -> int:
    return 0 if dtype == "int1" else 2 if dtype in FLOATS else 1


def own_type(number: Any) -> str:
    """The type of a number that meets no tensor."""
    if isinstance(number, bool):
        return "int1"
    if isinstance(number, float):
        size = abs(number)
        normal = size in (0, math.inf) or size != size or 2.0**-126 <= size < 2.0**128 - 2.0**103
        return "float32" if normal else "float64"
    for dtype, low, high in (
        ("int32", -(2**31), 2**31),
        ("uint32", 0, 2**32),
        ("int64", -(2**63), 2**63),
        ("uint64", 0, 2**64),
    ):
        if low <= number < high:
            return dtype
    raise Refused


def meet(left: str, right: str, division: bool) -> str:
    """The type of two tensors."""
    both = {left, right}
    if kind(left) == 2 or kind(right) == 2:
        if "float64" in both:
            return "float64"
        if division or "float32" in both:
            return "float32"
        if "float16" in both:
            return "float16"
        return "bfloat16" if both == {"bfloat16"} else "float32"
    if kind(left) != kind(right):
        if division:
            raise Refused  # Triton takes i1 for unsigned, and refuses it with signed ints
        return left if kind(left) > kind(right) else right
    if left == right:
        return left
    (a, wide), (b, other) = INTS[left], INTS[right]
    if division and a != b:
        raise Refused
    if wide != other:
        return left if wide > other else right
    return left if a == "u" else right


def joined(operands: list[Weak | Typed], division: bool = False) -> str:
    """The type that operands take together: a weak number counts only where its kind is higher."""
    tensors = [value.dtype for value in operands if isinstance(value, Typed)]
    numbers = [own_type(value.value) for value in operands if isinstance(value, Weak)]
    result = (tensors or numbers)[0]
    for other in (tensors or numbers)[1:]:
        result = meet(result, other, division)
    for number in numbers if tensors else ():
        if kind(number) > kind(result):
            result = meet(result, number, division)
    return "float32" if division and result in ("float16", "bfloat16") else result


# -- values


def rounded(dtype: str, value: Any) -> Any:
    """An exact number in the type: ints wrap, floats round to nearest even."""
    if dtype == "int1":
        return bool(int(value) & 1)
    if dtype in INTS:
        sign, bits = INTS[dtype]
        low = int(value) & (1 << bits) - 1
        return low - (1 << bits) if not sign and low >> bits - 1 else low
    if isinstance(value, float) and not math.isfinite(value):
        return value
    precision, least = FLOATS[dtype]
    exact = Fraction(value)
    if not exact:
        return math.copysign(0.0, value) if isinstance(value, float) else 0.0
    exponent = math.floor(math.log2(abs(exact)))
    exponent += (abs(exact) >= Fraction(2) ** (exponent + 1)) - (
        abs(exact) < Fraction(2) ** exponent
    )
    step = Fraction(2) ** (max(exponent, least) - precision + 1)
    nearest = round(exact / step) * step
    if abs(nearest) >= Fraction(2) ** TOP[dtype]:
        return math.copysign(math.inf, nearest)
    return math.copysign(float(nearest), exact)


def as_type(value: Weak | Typed, dtype: str) -> tuple[Any, ...]:
    """The values converted: a weak int must fit."""
    if isinstance(value, Typed):
        return tuple(rounded(dtype, element) for element in value.values)
    number = value.value
    if dtype in INTS and rounded(dtype, number) != number:
        raise Refused
    return (rounded(dtype, number),)


def lanes(*columns: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    size = max(map(len, columns))
    return list(zip(*(column if len(column) == size else column * size for column in columns)))


def floating(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An exact function of fractions; Python's floats serve where an operand is not finite."""

    def call(a: Any, b: Any) -> Any:
        if isinstance(a, float) and not (math.isfinite(a) and math.isfinite(b)):
            return function(a, b)
        exact = function(Fraction(a), Fraction(b)) if isinstance(a, float) else function(a, b)
        if isinstance(a, float) and exact == 0:
            return function(a, b)  # the sign of zero
        return exact

    return call


def truncated(a: Any, b: Any) -> Any:
    if not b:
        raise Refused
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def remainder(a: Any, b: Any) -> Any:
    if not b or (isinstance(a, float) and not (math.isfinite(a) and math.isfinite(b))):
        raise Refused
    if isinstance(a, Fraction):
        return a - math.trunc(a / b) * b
    return math.fmod(a, b) if isinstance(a, float) else a - truncated(a, b) * b


def quotient(a: Any, b: Any) -> Any:
    if not b:
        raise Refused
    return a / b


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": quotient,
    "//": truncated,
    "%": remainder,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
COMPARISONS = ("<", "<=", ">", "==", "!=")


def python(symbol: str, a: Any, b: Any) -> Weak:
    """Two weak numbers: Python's own operator."""
    try:
        result = eval(f"a {symbol} b", {"a": a, "b": b})
    except (ZeroDivisionError, TypeError, ValueError, OverflowError):
        raise Refused from None
    if (isinstance(result, int) and abs(result) >= 2**63) or isinstance(result, complex):
        raise Refused
    return Weak(result)


def binary(symbol: str, left: Weak | Typed, right: Weak | Typed) -> Weak | Typed:
    if isinstance(left, Weak) and isinstance(right, Weak):
        return python(symbol, left.value, right.value)
    if symbol in ("<<", ">>"):
        return shifted(symbol, left, right)
    dtype = joined([left, right], symbol in ("/", "//", "%"))
    if symbol in ("&", "|", "^", "//") and kind(dtype) == 2:
        raise Refused
    if symbol == "/" and dtype != "float64":
        dtype = "float32"
    pairs = lanes(as_type(left, dtype), as_type(right, dtype))
    if symbol in ("//", "%") and any(b == -1 and kind(dtype) == 1 for _, b in pairs):
        raise Refused
    function = ARITHMETIC[symbol]
    if symbol in COMPARISONS:
        return Typed("int1", tuple(bool(function(a, b)) for a, b in pairs))
    exact = floating(function)
    return Typed(dtype, tuple(rounded(dtype, exact(a, b)) for a, b in pairs))


def shifted(symbol: str, left: Weak | Typed, right: Weak | Typed) -> Typed:
    """Of ints whose counts are inside the width of the result."""
    dtype = joined([left, right])
    if dtype not in INTS:
        raise Refused
    pairs = lanes(as_type(left, dtype), as_type(right, dtype))
    if any(not 0 <= count < INTS[dtype][1] for _, count in pairs):
        raise Refused
    if symbol == "<<":
        return Typed(dtype, tuple(rounded(dtype, a << b) for a, b in pairs))
    signed = isinstance(left, Typed) and left.dtype in INTS and not INTS[left.dtype][0]
    same = dtype.removeprefix("u") if signed else dtype
    return Typed(dtype, tuple(rounded(dtype, rounded(same, a) >> b) for a, b in pairs))


def chosen(name: str, left: Weak | Typed, right: Weak | Typed) -> Typed:
    """tl.minimum or tl.maximum; a NaN gives the other operand."""
    dtype = joined([left, right])
    pick = min if name == "minimum" else max

    def one(a: Any, b: Any) -> Any:
        return b if a != a else a if b != b else pick(a, b)

    return Typed(dtype, tuple(one(*p) for p in lanes(as_type(left, dtype), as_type(right, dtype))))


def where(condition: Typed, left: Weak | Typed, right: Weak | Typed) -> Typed:
    dtype = joined([left, right])
    rows = lanes(condition.values, as_type(left, dtype), as_type(right, dtype))
    return Typed(dtype, tuple(a if c else b for c, a, b in rows))


def assigned(value: Weak | Typed) -> Typed:
    """What `name = value` binds."""
    if isinstance(value, Typed):
        return value
    dtype = own_type(value.value)
    return Typed(dtype, as_type(value, dtype))


# -- expressions

LITERALS: list[Any] = [0, 1, 2, 3, 7, 100, 300, -1, -5, 70000, 2**31, 5_000_000_000, True, False]
LITERALS += [0.5, 2.0, -1.5, 0.1, 1e-3, 60000.0, 1e-40]
SYMBOLS = ["+", "-", "*", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!="]


@dataclass
class Expression:
    """Draws expressions over named values."""

    random: Random
    names: dict[str, Weak | Typed]

    def draw(self, depth: int) -> tuple[str, Weak | Typed]:
        """An expression that has a meaning: its text in parentheses where needed, and its value."""
        while True:
            try:
                return self.attempt(depth)
            except Refused:
                continue

    def attempt(self, depth: int) -> tuple[str, Weak | Typed]:
        form = self.random.random()
        if depth == 0 or form < 0.1:
            return self.leaf()
        if form < 0.7:
            return self.operator(depth)
        if form < 0.8:
            (a, left), (b, right) = self.draw(depth - 1), self.draw(depth - 1)
            name = self.random.choice(["minimum", "maximum"])
            if isinstance(left, Weak) and isinstance(right, Weak):
                raise Refused
            return f"tl.{name}({a}, {b})", chosen(name, left, right)
        if form < 0.9:
            return self.selection(depth)
        return self.cast(depth)

    def leaf(self) -> tuple[str, Weak | Typed]:
        if self.random.random() < 0.7:
            name = self.random.choice(list(self.names))
            return name, self.names[name]
        number = self.random.choice(LITERALS)
        return (f"({number!r})" if number < 0 else repr(number)), Weak(number)

    def operator(self, depth: int) -> tuple[str, Weak | Typed]:
        symbol = self.random.choice(SYMBOLS)
        a, left = self.draw(depth - 1)
        b, right = self.leaf() if symbol in ("/", "//", "%", "<<", ">>") else self.draw(depth - 1)
        return f"({a} {symbol} {b})", binary(symbol, left, right)

    def selection(self, depth: int) -> tuple[str, Weak | Typed]:
        (a, left), (b, right) = self.draw(depth - 1), self.draw(depth - 1)
        conditions = [
            k for k, v in self.names.items() if isinstance(v, Typed) and v.dtype == "int1"
        ]
        name = self.random.choice(conditions)
        condition = self.names[name]
        assert isinstance(condition, Typed)
        if len(condition.values) == 1 and own(left) == own(right):
            taken = left if condition.values[0] else right
            return f"({a} if {name} else {b})", assigned(taken)
        return f"tl.where({name}, {a}, {b})", where(condition, left, right)

    def cast(self, depth: int) -> tuple[str, Weak | Typed]:
        text, value = self.draw(depth - 1)
        if not isinstance(value, Typed):
            raise Refused
        dtype = self.random.choice(DTYPES)
        if value.dtype in FLOATS and dtype not in FLOATS:
            raise Refused
        if dtype == "int1":
            return f"{text}.to(tl.int1)", Typed(dtype, tuple(v != 0 for v in value.values))
        return f"{text}.to(tl.{dtype})", Typed(dtype, as_type(value, dtype))


def own(value: Weak | Typed) -> tuple[str, int]:
    """A value's own type and size, for branches, which must agree in both."""
    typed = assigned(value)
    return typed.dtype, len(typed.values)
