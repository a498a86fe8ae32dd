"""libdevice's directed roundings and conversions, made from patterns of names.

One idea: arithmetic in a direction is a row of the op table (`add_rd`); a conversion is the nearest
one, the sign of what that dropped, and a step to the neighbour where the direction asks for it.

    int2float_rd(2**24 + 1):  nearest is 2**24, dropped 1 → stays;  _ru → the next float after it
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...elementary.neighbours import rounded
from ...errors import CompileTypeError
from ...ir.libdevice_rows import MODES
from ...ir.ops import TABLE
from ...ir.types import F32, F64, I32, I64, U32, U64, ScalarType
from ..constexpr import builtin
from ..creation import cast, full
from ..math import FUNCTIONS, function_of, where
from ..tensor import TensorLike, tensor
from ._bits import applied, bits_of, floats, together
from ._composites import ROW_FUNCTIONS

_abs = FUNCTIONS["abs"]
INF = float("inf")


def _stepped(mode: str, nearest: tensor, dropped: tensor) -> tensor:
    """The rounding of nearest + dropped in a direction."""
    return nearest if mode == "rn" else applied(partial(rounded, mode), nearest, dropped)


_WORDS = {"rn": "to nearest even", **MODES}


def _overflow(mode: str, nearest: tensor, row: ScalarType) -> tensor:
    """What a finite result past the largest float rounds to."""
    top = full((), row.max_finite, row)
    positive = nearest if mode == "ru" else top
    negative = nearest if mode == "rd" else -top
    return where(nearest > 0, positive, negative)


_NEAREST: dict[str, Callable[..., tensor]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": function_of(TABLE["div_rn"]),
    "fma": FUNCTIONS["fma"],
    "sqrt": FUNCTIONS["sqrt"],
    "rcp": lambda x: function_of(TABLE["div_rn"])(1.0, x),
}


def _directed(name: str, mode: str) -> Callable[..., tensor]:
    compute = _NEAREST[name] if mode == "rn" else function_of(TABLE[f"{name}_{mode}"])
    row = TABLE[f"{name}_rd"].element
    assert row is not None
    arity = row.arity

    @builtin
    def function(*args: TensorLike) -> tensor:
        if len(args) != arity:
            raise CompileTypeError(f"{name}_{mode} takes {arity} arguments, got {len(args)}")
        values = together(*args, name=name)
        element = values[0].dtype
        if element not in (F32, F64):
            raise CompileTypeError(f"{name}_{mode}: f32 or f64 needed, got {element.name}")
        result: tensor = compute(*values)
        return result

    function.__name__ = f"{name}_{mode}"
    function.__doc__ = f"{name}, rounded {_WORDS[mode]}."
    return function


DIRECTED: dict[str, Callable[..., tensor]] = {
    f"{name}_{mode}": _directed(name, mode) for name in _NEAREST for mode in _WORDS
}
"""add_rd … rcp_rz, by name."""


@builtin
def _inverse_root(arg0: TensorLike) -> tensor:
    """1 / sqrt(x), rounded to nearest even."""
    x = floats(arg0, "rsqrt_rn")
    return cast(1.0 / FUNCTIONS["sqrt"](cast(x, F64)), x.dtype)


DIRECTED["rsqrt_rn"] = _inverse_root


@builtin
def rcp64h(arg0: TensorLike) -> tensor:
    """About 1 / x of a double: the high half of its bits, the low half zero."""
    value = 1.0 / cast(arg0, F64)
    return cast(bits_of(value) & 0xFFFFFFFF00000000, F64, bitcast=True)


# -- conversions

Convert = Callable[[TensorLike], tensor]
_INTS = {"int": I32, "uint": U32, "ll": I64, "ull": U64}
_FLOATS = {"float": F32, "double": F64}
_WHOLE = {"rn": "rint", "rd": "floor", "ru": "ceil", "rz": "trunc"}


def _to_int(source: ScalarType, target: ScalarType, mode: str) -> Convert:
    return lambda x: cast(ROW_FUNCTIONS[_WHOLE[mode]](cast(x, source)), target)


def _to_float(source: ScalarType, target: ScalarType, mode: str) -> Convert:
    def convert(x: TensorLike) -> tensor:
        value = cast(x, source)
        nearest = cast(value, target)
        back = cast(nearest, source)
        dropped = where(value > back, 1, where(value < back, -1, 0))
        past = nearest >= 2.0 ** (source.bits - (source.kind == "i"))
        return _stepped(mode, nearest, where(past, -1, dropped))

    return convert


def _narrow(source: ScalarType, target: ScalarType, mode: str) -> Convert:
    def convert(x: TensorLike) -> tensor:
        value = cast(x, source)
        nearest = cast(value, target)
        result = _stepped(mode, nearest, value - cast(nearest, source))
        over = (_abs(nearest) == INF) & (_abs(value) < INF)
        return result if mode == "rn" else where(over, _overflow(mode, nearest, target), result)

    return convert


def _named(name: str, mode: str, convert: Convert) -> Callable[..., tensor]:
    @builtin
    def function(arg0: TensorLike) -> tensor:
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
