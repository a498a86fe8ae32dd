"""libdevice's names: directed roundings and conversions by exact arithmetic, the rest by mpmath,
NumPy or Python's ints. `test_libdevice.py` and the conformance tests ask how exact they are."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from .on_blocks import I, P, U, X, Y, near, one
from .resolve import public_names
from .shown import Row, Shown

W = np.array([-0.9, -0.5, -0.125, 0.0, 0.25, 0.5, 0.75, 0.95], np.float32)
ABOVE = 1 + P
POSITIVE = P + np.float32(0.25)
DOUBLES = np.array([1.5, -2.5, 0.1, -0.3, 1e10, -7.75, 3.0, 2.5])
LONGS = np.array([2**53 + 1, -(2**53) - 1, 2**62 + 2**8 + 1, 5, -5, 2**25 + 1, 0, 1], np.int64)
HALVES = np.array([0.5, -0.5, 1.5, 2.5, -2.5, 3.25, -3.75, 7.0], np.float32)


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """An mpmath function element by element."""

    def reference(*arrays: Any) -> Any:
        with mpmath.workdps(40):
            return np.array(
                [float(mpmath.re(function(*map(mpmath.mpf, v)))) for v in zip(*map(floats, arrays))]
            )

    return reference


def floats(array: Any) -> list[float]:
    return [float(v) for v in np.asarray(array)]


def mp(function: Callable[..., Any], *inputs: Any) -> Row:
    return near(exactly(function), *inputs)


def of_order_three(function: Callable[..., Any]) -> Row:
    def reference(x: Any) -> Any:
        return exactly(lambda v: function(3, v))(x).astype(np.float32)

    return Row(lambda f, x: f(3, x), reference, [P], 1e-4, 1e-6)


# -- rounding a fraction in a direction


def rounded(value: Fraction, mode: str, mantissa: int, least: int) -> float:
    """To a float of so many fraction bits, whose least exponent is given."""
    if value == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(value)))
    exponent += (abs(value) >= Fraction(2) ** (exponent + 1)) - (
        abs(value) < Fraction(2) ** exponent
    )
    quantum = Fraction(2) ** (max(exponent, least) - mantissa)
    return float(whole(value / quantum, mode) * quantum)


def whole(value: Fraction, mode: str) -> int:
    return {"rn": round, "rd": math.floor, "ru": math.ceil, "rz": math.trunc}[mode](value)


def directed(function: Callable[..., Fraction], mode: str) -> Callable[..., Any]:
    def reference(*arrays: Any) -> Any:
        shape = (52, -1022) if arrays[0].dtype == np.float64 else (23, -126)
        made = [
            rounded(function(*map(Fraction, v)), mode, *shape) for v in zip(*map(floats, arrays))
        ]
        return np.array(made, arrays[0].dtype)

    return reference


def root(value: Fraction) -> Fraction:
    """Near enough that no rounding sees the difference."""
    scaled = value * Fraction(4) ** 80
    low = math.isqrt(int(scaled))
    exact = low * low == scaled
    return Fraction(2 * low + (not exact), 2) / Fraction(2) ** 80


ARITHMETIC: dict[str, tuple[Callable[..., Fraction], tuple[Any, ...]]] = {
    "add": (lambda a, b: a + b, (X, Y / 3)),
    "sub": (lambda a, b: a - b, (X, Y / 3)),
    "mul": (lambda a, b: a * b, (X / 3, Y / 3)),
    "div": (lambda a, b: a / b, (X, Y / 3)),
    "fma": (lambda a, b, c: a * b + c, (X / 3, Y / 3, X)),
    "rcp": (lambda a: 1 / a, (X / 3,)),
    "sqrt": (root, (P / 3,)),
}
SOURCES: dict[str, Any] = {
    "double": DOUBLES,
    "float": DOUBLES.astype(np.float32),
    "int": np.array([2**24 + 1, -(2**24) - 3, 5, -5, 2**31 - 1, 0, 1, 7], np.int32),
    "uint": np.array([2**24 + 1, 2**32 - 1, 5, 2**31 + 2**7, 9, 0, 1, 7], np.uint32),
    "ll": LONGS,
    "ull": LONGS.view(np.uint64),
}
TARGETS: dict[str, Any] = {
    "float": np.float32, "double": np.float64, "int": np.int32, "uint": np.uint32,
    "ll": np.int64, "ull": np.uint64,
}  # fmt: skip


def conversion(source: str, target: str, mode: str) -> Row:
    dtype = np.dtype(TARGETS[target])

    def convert(value: Any) -> Any:
        exact = Fraction(value.item())
        if dtype.kind == "f":
            return rounded(exact, mode, *((52, -1022) if target == "double" else (23, -126)))
        info = np.iinfo(dtype)
        return min(max(whole(exact, mode), info.min), info.max)

    def reference(x: Any) -> Any:
        return np.array([convert(v) for v in x], dtype)

    return one(reference, SOURCES[source])


def patterns() -> dict[str, Shown]:
    found: dict[str, Shown] = {}
    for module, name in public_names():
        if not module.endswith("libdevice"):
            continue
        if match := re.fullmatch(r"(\w+)2(\w+)_(r[nduz])", name):
            found[name] = conversion(*match.groups())
        elif (match := re.fullmatch(r"(\w+)_(r[nduz])", name)) and match[1] in ARITHMETIC:
            function, inputs = ARITHMETIC[match[1]]
            found[name] = one(directed(function, match[2]), *inputs)
    return found


# -- ints and bits


def by_int(function: Callable[..., int], dtype: Any, *inputs: Any) -> Row:
    """In Python's ints, modulo the width."""

    def reference(*arrays: Any) -> Any:
        bits = 8 * np.dtype(dtype).itemsize
        made = [function(*(int(v) for v in values)) % 2**bits for values in zip(*arrays)]
        return np.array(made, f"u{bits // 8}").view(dtype)

    return one(reference, *inputs)


def word(value: int) -> int:
    return value % 2**32


def permuted(x: int, y: int, s: int) -> int:
    pool = (x | y << 32).to_bytes(8, "little")
    picked = [pool[s >> 4 * i & 7] for i in range(4)]
    return int.from_bytes(bytes(picked), "little")


BITS: dict[str, Shown] = {
    "popc": by_int(lambda v: word(v).bit_count(), np.int32, I),
    "clz": by_int(lambda v: 32 - word(v).bit_length(), np.int32, I),
    "ffs": by_int(lambda v: (word(v) & -word(v)).bit_length(), np.int32, I),
    "brev": by_int(lambda v: int(f"{word(v):032b}"[::-1], 2), np.int32, I),
    "byte_perm": by_int(permuted, np.uint32, U * np.uint32(0x01020304), U, U & np.uint32(0x7777)),
    "hadd": by_int(lambda a, b: (a + b) >> 1, np.int32, I, I[::-1].copy()),
    "rhadd": by_int(lambda a, b: (a + b + 1) >> 1, np.int32, I, I[::-1].copy()),
    "mul24": by_int(lambda a, b: a * b, np.int32, I, I[::-1].copy()),
    "mulhi": by_int(lambda a, b: a * b >> 32, np.int32, I * 2**27, I * 2**20),
    "sad": by_int(lambda a, b, c: abs(a - b) + c, np.uint32, I, I[::-1].copy(), U),
    "float_as_int": one(lambda x: x.view(np.int32), X),
    "float_as_uint": one(lambda x: x.view(np.uint32), X),
    "int_as_float": one(lambda x: x.view(np.float32), X.view(np.int32)),
    "uint_as_float": one(lambda x: x.view(np.float32), X.view(np.uint32)),
    "double_as_longlong": one(lambda x: x.view(np.int64), DOUBLES),
    "longlong_as_double": one(lambda x: x.view(np.float64), DOUBLES.view(np.int64)),
    "double2hiint": one(lambda x: (x.view(np.int64) >> 32).astype(np.int32), DOUBLES),
    "double2loint": one(lambda x: x.view(np.int64).astype(np.int32), DOUBLES),
    "hiloint2double": one(
        lambda h, w: (h.astype(np.int64) << 32 | w.view(np.uint32)).view(np.float64), I, I
    ),
    "signbit": one(lambda x: np.signbit(x), X),
    "ilogb": one(lambda x: (np.frexp(x)[1] - 1).astype(np.int32), X),
    "logb": one(lambda x: (np.frexp(x)[1] - 1).astype(np.float32), X),
    "ldexp": Row(lambda f, x: f(x, 3), lambda x: np.ldexp(x, 3), [X]),
    "scalbn": Row(lambda f, x: f(x, -2), lambda x: np.ldexp(x, -2), [X]),
    "nextafter": one(np.nextafter, X, Y),
    "copysign": one(np.copysign, X, Y),
    "rcp64h": one(lambda x: 1 / x, DOUBLES, rtol=2e-6),
}

# -- numbers

GAUSS = mpmath.sqrt(2)
HOSTILE = np.array([1, np.inf, -np.inf, np.nan, 0, -0.0, 1e-40, 3], np.float32)

NUMBERS: dict[str, Shown] = {
    "abs": one(np.abs, X), "ceil": one(np.ceil, X), "floor": one(np.floor, X),
    "trunc": one(np.trunc, X), "rint": one(np.rint, HALVES), "nearbyint": one(np.rint, HALVES),
    "round": one(lambda x: np.trunc(x + np.copysign(0.5, x)).astype("f4"), HALVES),
    "llrint": one(lambda x: np.rint(x).astype(np.int64), HALVES),
    "llround": one(lambda x: np.trunc(x + np.copysign(0.5, x)).astype(np.int64), HALVES),
    "sqrt": one(np.sqrt, P), "rsqrt": mp(lambda x: 1 / mpmath.sqrt(x), P),
    "rsqrt_rn": mp(lambda x: 1 / mpmath.sqrt(x), P),
    "cbrt": mp(lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), X),
    "rcbrt": mp(lambda x: 1 / mpmath.cbrt(x), P),
    "fma": near(lambda a, b, c: a * b + c, X, Y, P),
    "fmod": one(np.fmod, X, Y), "remainder": one(np.vectorize(math.remainder, ["f4"]), X, Y),
    "fdim": one(lambda x, y: np.where(x > y, x - y, np.float32(0)), X, Y),
    "hypot": mp(mpmath.hypot, X, Y), "rhypot": mp(lambda x, y: 1 / mpmath.hypot(x, y), X, Y),
    "norm3d": near(lambda *v: np.sqrt(sum(a * a for a in v)), X, Y, P),
    "norm4d": near(lambda *v: np.sqrt(sum(a * a for a in v)), X, Y, P, P),
    "rnorm3d": near(lambda *v: 1 / np.sqrt(sum(a * a for a in v)), X, Y, P),
    "rnorm4d": near(lambda *v: 1 / np.sqrt(sum(a * a for a in v)), X, Y, P, P),
    "isnan": one(np.isnan, HOSTILE), "isinf": one(np.isinf, HOSTILE),
    "finitef": one(np.isfinite, HOSTILE), "isfinited": one(np.isfinite, HOSTILE.astype("f8")),
    "saturatef": one(lambda x: np.clip(np.nan_to_num(x), 0, 1), HOSTILE),
    "sin": mp(mpmath.sin, X), "cos": mp(mpmath.cos, X), "tan": mp(mpmath.tan, X),
    "sinpi": mp(mpmath.sinpi, W), "cospi": mp(mpmath.cospi, W),
    "asin": mp(mpmath.asin, W), "acos": mp(mpmath.acos, W), "atan": mp(mpmath.atan, X),
    "atan2": mp(mpmath.atan2, X, Y), "sinh": mp(mpmath.sinh, X), "cosh": mp(mpmath.cosh, X),
    "tanh": mp(mpmath.tanh, X), "asinh": mp(mpmath.asinh, X), "acosh": mp(mpmath.acosh, ABOVE),
    "atanh": mp(mpmath.atanh, W), "exp": mp(mpmath.exp, X), "expm1": mp(mpmath.expm1, X),
    "exp2": mp(lambda x: mpmath.mpf(2) ** x, X), "exp10": mp(lambda x: mpmath.mpf(10) ** x, X),
    "log": mp(mpmath.log, P), "log2": mp(lambda x: mpmath.log(x, 2), P),
    "log10": mp(mpmath.log10, P), "log1p": mp(mpmath.log1p, P),
    "pow": mp(lambda x, y: x**y, POSITIVE, Y), "erf": mp(mpmath.erf, X), "erfc": mp(mpmath.erfc, X),
    "erfcx": mp(lambda x: mpmath.exp(x * x) * mpmath.erfc(x), X), "erfinv": mp(mpmath.erfinv, W),
    "erfcinv": mp(lambda p: mpmath.erfinv(1 - p), 1 + W),
    "normcdf": mp(mpmath.ncdf, X), "normcdfinv": mp(lambda p: GAUSS * mpmath.erfinv(2 * p - 1),
                                                    (1 + W) / 2),
    "lgamma": mp(lambda x: mpmath.re(mpmath.loggamma(x)), POSITIVE),
    "tgamma": mp(mpmath.gamma, POSITIVE),
    "j0": mp(lambda x: mpmath.besselj(0, x), X), "j1": mp(lambda x: mpmath.besselj(1, x), X),
    "y0": mp(lambda x: mpmath.bessely(0, x), P), "y1": mp(lambda x: mpmath.bessely(1, x), P),
    "jn": of_order_three(mpmath.besselj), "yn": of_order_three(mpmath.bessely),
    "cyl_bessel_i0": mp(lambda x: mpmath.besseli(0, x), X),
    "cyl_bessel_i1": mp(lambda x: mpmath.besseli(1, x), X),
}  # fmt: skip

FAST = {"fast_dividef": one(np.divide, X, Y), "fast_powf": NUMBERS["pow"]}
FAST |= {
    f"fast_{name}f": NUMBERS[name]
    for name in ("sin", "cos", "tan", "tanh", "exp", "exp10", "log", "log2", "log10")
}

OF_LIBDEVICE: dict[str, Shown] = {
    f"libdevice.{name}": shown
    for table in (patterns(), BITS, NUMBERS, FAST)
    for name, shown in table.items()
}
