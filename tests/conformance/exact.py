"""The exact value of every row that is allowed an error, by mpmath.

One idea: an entry gets finite mpf operands and returns an mpf; what is not real or not finite
(poles, outside the domain) raises or is skipped, being covered by the comparison of backends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp


def moderate(x: Any) -> Any:
    """x itself. Raises ValueError where mpmath would take seconds."""
    if abs(x) > 2000:
        raise ValueError(f"{x} is left to the comparison of backends")
    return x


def erfcx(x: Any) -> Any:
    """exp(x²) erfc(x), by its asymptotic series where that is better."""
    if x < 60:
        return mp.exp(x * x) * mp.erfc(moderate(x))
    terms = [mp.fac2(2 * n - 1) * (-1) ** n / (2 * x * x) ** n for n in range(1, 40)]
    return (1 + mp.fsum(terms)) / (x * mp.sqrt(mp.pi))


def erfcinv(q: Any) -> Any:
    """By Newton's method on the logarithm. Raises ValueError outside (0, 2)."""
    if not 0 < q < 2:
        raise ValueError(f"erfcinv of {q}")
    if q > 1:
        return -erfcinv(2 - q)
    if q > 0.1:
        return mp.erfinv(1 - q)
    w = mp.sqrt(-mp.log(q))
    y = w - mp.mpf("0.3")
    for _ in range(12):
        value = mp.erfc(y)
        y += (mp.log(value) + w * w) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y) * value
    return y


EXACT: dict[str, Callable[..., Any]] = {
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "log": mp.log,
    "log2": lambda x: mp.log(x, 2),
    "sin": mp.sin,
    "cos": mp.cos,
    "erf": mp.erf,
    "tanh": mp.tanh,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "atan2": mp.atan2,
    "sinpi": mp.sinpi,
    "cospi": mp.cospi,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "pow": mp.power,
    "exp10": lambda x: mp.power(10, x),
    "log10": mp.log10,
    "expm1": mp.expm1,
    "log1p": mp.log1p,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "rcbrt": lambda x: mp.sign(x) / mp.cbrt(abs(x)),
    "hypot": mp.hypot,
    "rhypot": lambda x, y: 1 / mp.hypot(x, y),
    "erfc": mp.erfc,
    "erfcx": erfcx,
    "erfinv": lambda x: mp.sign(x) * erfcinv(1 - abs(x)) if abs(x) > 0.5 else mp.erfinv(x),
    "erfcinv": erfcinv,
    "normcdf": lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
    "normcdfinv": lambda x: -mp.sqrt(2) * erfcinv(2 * x),
    "tgamma": lambda x: mp.gamma(moderate(x)),
    "lgamma": lambda x: mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(moderate(x)))),
    "j0": lambda x: mp.besselj(0, moderate(x)),
    "j1": lambda x: mp.besselj(1, moderate(x)),
    "y0": lambda x: mp.bessely(0, moderate(x)),
    "y1": lambda x: mp.bessely(1, moderate(x)),
    "cyl_bessel_i0": lambda x: mp.besseli(0, moderate(x)),
    "cyl_bessel_i1": lambda x: mp.besseli(1, moderate(x)),
}
