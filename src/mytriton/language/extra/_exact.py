"""libdevice's directed roundings and conversions, made from patterns of names.

One idea: compute to nearest, find the sign of what rounding dropped (exactly, by the classic error
-free transformations), and step to the neighbour where the direction asks for it.

    add_rd(1, 1e-10) in f32:  nearest is 1, dropped +1e-10 → stays 1;  add_ru → next after 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import CompileTypeError
from ...ir.types import F32, F64, I32, I64, U32, U64, ScalarType
from ..blocks import cast, full, where
from ..constexpr import builtin
from ..math import FUNCTIONS
from ..tensor import tensor
from ._bits import bits_of, nextafter, together
from ._real import PLAIN

_fma, _sqrt, _abs = (FUNCTIONS[name] for name in ("fma", "sqrt", "abs"))
INF = float("inf")
Exact = Callable[..., tuple[Any, Any]]


def _stepped(mode: str, nearest: tensor, dropped: Any) -> tensor:
    """The rounding of nearest + dropped in a direction: rd down, ru up, rz toward zero."""
    below = nextafter(nearest, full((), -INF, nearest.dtype))
    above = nextafter(nearest, full((), INF, nearest.dtype))
    down = where(dropped < 0, below, nearest)
    up = where(dropped > 0, above, nearest)
    return {"rn": nearest, "rd": down, "ru": up, "rz": where(nearest > 0, down, up)}[mode]


def _two_sum(x: Any, y: Any) -> tuple[Any, Any]:
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _product(x: Any, y: Any) -> tuple[Any, Any]:
    product = x * y
    return product, _fma(x, y, -product)


def _quotient(x: Any, y: Any) -> tuple[Any, Any]:
    quotient = x / y
    rest = _fma(-quotient, y, x)
    return quotient, where(y < 0, -rest, rest)


def _root(x: Any) -> tuple[Any, Any]:
    root = _sqrt(x)
    return root, _fma(-root, root, x)


def _fused(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    nearest = _fma(x, y, z)
    product, low = _product(x, y)
    total, rest = _two_sum(product, z)
    return nearest, (total - nearest) + (rest + low)


def _inverse_root(x: Any) -> tuple[Any, Any]:
    wide = cast(x, F64) if x.dtype == F32 else x
    return cast(1.0 / _sqrt(wide), x.dtype), wide * 0


_OPERATIONS: dict[str, tuple[int, Exact]] = {
    "add": (2, _two_sum),
    "sub": (2, lambda x, y: _two_sum(x, -y)),
    "mul": (2, _product),
    "div": (2, _quotient),
    "fma": (3, _fused),
    "sqrt": (1, _root),
    "rcp": (1, lambda x: _quotient(x * 0 + 1, x)),
}


def _directed(name: str, mode: str, arity: int, exact: Exact) -> Callable[..., tensor]:
    @builtin
    def function(*args: Any) -> tensor:
        if len(args) != arity:
            raise CompileTypeError(f"{name}_{mode} takes {arity} arguments, got {len(args)}")
        values = together(*args, name=name)
        row: Any = values[0].dtype
        if row not in (F32, F64):
            raise CompileTypeError(f"{name}_{mode}: f32 or f64 needed, got {row.name}")
        nearest, dropped = exact(*values)
        result = _stepped(mode, nearest, dropped)
        if mode == "rn":
            return result
        finite = _abs(values[0]) < INF
        for value in values[1:]:
            finite = finite & (_abs(value) < INF)
        if name in ("div", "rcp"):
            finite = finite & (values[-1] != 0)
        return where(finite & (_abs(nearest) == INF), _overflow(mode, nearest, row), result)

    function.__name__ = f"{name}_{mode}"
    function.__doc__ = f"{name}, rounded {_WORDS[mode]}."
    return function


_WORDS = {"rn": "to nearest even", "rd": "down", "ru": "up", "rz": "toward zero"}


def _overflow(mode: str, nearest: tensor, row: ScalarType) -> tensor:
    """What a finite result past the largest float rounds to."""
    top = full((), row.max_finite, row)
    positive = nearest if mode == "ru" else top
    negative = nearest if mode == "rd" else -top
    return where(nearest > 0, positive, negative)


DIRECTED: dict[str, Callable[..., tensor]] = {
    f"{name}_{mode}": _directed(name, mode, arity, exact)
    for name, (arity, exact) in _OPERATIONS.items()
    for mode in _WORDS
}
DIRECTED["rsqrt_rn"] = _directed("rsqrt", "rn", 1, _inverse_root)
"""add_rd … rcp_rz, by name."""


@builtin
def rcp64h(arg0: Any) -> tensor:
    """About 1 / x of a double: the high half of its bits, the low half zero."""
    value = 1.0 / cast(arg0, F64)
    return cast(bits_of(value) & 0xFFFFFFFF00000000, F64, bitcast=True)


# -- conversions

_INTS = {"int": I32, "uint": U32, "ll": I64, "ull": U64}
_FLOATS = {"float": F32, "double": F64}
_WHOLE = {"rn": "rint", "rd": "floor", "ru": "ceil", "rz": "trunc"}


def _to_int(source: ScalarType, target: ScalarType, mode: str) -> Callable[[Any], tensor]:
    return lambda x: cast(PLAIN[_WHOLE[mode]](cast(x, source)), target)


def _to_float(source: ScalarType, target: ScalarType, mode: str) -> Callable[[Any], tensor]:
    def convert(x: Any) -> tensor:
        value = cast(x, source)
        nearest = cast(value, target)
        back = cast(nearest, source)
        dropped = where(value > back, 1, where(value < back, -1, 0))
        past = nearest >= 2.0 ** (source.bits - (source.kind == "i"))
        return _stepped(mode, nearest, where(past, -1, dropped))

    return convert


def _narrow(source: ScalarType, target: ScalarType, mode: str) -> Callable[[Any], tensor]:
    def convert(x: Any) -> tensor:
        value = cast(x, source)
        nearest = cast(value, target)
        result = _stepped(mode, nearest, value - cast(nearest, source))
        over = (_abs(nearest) == INF) & (_abs(value) < INF)
        return result if mode == "rn" else where(over, _overflow(mode, nearest, target), result)

    return convert


def _named(name: str, mode: str, convert: Callable[[Any], tensor]) -> Callable[..., tensor]:
    @builtin
    def function(arg0: Any) -> tensor:
        return convert(arg0)

    function.__name__ = f"{name}_{mode}"
    function.__doc__ = f"{name.replace('2', ' to ')}, rounded {_WORDS[mode]}."
    return function


def _conversions() -> dict[str, Callable[..., tensor]]:
    made = {}
    for mode in _WORDS:
        for real, wide in _FLOATS.items():
            for whole, narrow in _INTS.items():
                made[f"{real}2{whole}", mode] = _to_int(wide, narrow, mode)
                made[f"{whole}2{real}", mode] = _to_float(narrow, wide, mode)
        made["double2float", mode] = _narrow(F64, F32, mode)
    return {f"{name}_{mode}": _named(name, mode, f) for (name, mode), f in made.items()}


CONVERSIONS = _conversions()
"""float2int_rd … ull2double_rz, by name."""
