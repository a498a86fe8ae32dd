"""The element-wise rows: one row is all that an op needs to exist.

A row gives the same meaning three times, each in the words of one target (NumPy, C,
LLVM), and the facts that folding, reductions, tests and docs need. Add a row and `tl.<name>` (where
public), its documentation, all targets and its conformance test exist.

Integer corners, alike everywhere: division by zero gives quotient 0 and remainder the dividend; the
least int divided by -1 wraps; a shift by the width or more (or by a negative count) gives 0, or the
sign for `>>` of signed ints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .numeric import Array
from .ops import Elementwise, Row, add_row, elementwise_rule


def elementwise(
    name: str, doc: str, arity: int, kinds: str, symbol: str = "", **fields: Any
) -> Row:
    """Adds an element-wise row; `fields` are those of `Elementwise`."""
    element = Elementwise(arity, kinds, **fields)
    return add_row(Row(name, doc, elementwise_rule(element), symbol=symbol, element=element))


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function computed in float64 and rounded to the arrays' dtype once."""

    def rounded(*arrays: Any) -> Any:
        return function(*(a.astype(np.float64) for a in arrays)).astype(arrays[0].dtype)

    return rounded


def each(function: Callable[..., float]) -> Callable[..., Any]:
    """A function of Python floats applied to every element, in float64."""
    over = np.frompyfunc(
        function, function.__code__.co_argcount if hasattr(function, "__code__") else 1, 1
    )
    return wide(lambda *arrays: np.asarray(over(*arrays), np.float64))


def _elementary() -> ModuleType:
    """`mytriton.elementary`, imported when its first function is called: a row names its formula,
    and a formula is written in rows."""
    from .. import elementary

    return elementary


def formula(name: str) -> Callable[..., Any]:
    """The row's meaning in other rows, over `elementary.term.Term`s."""
    return lambda *terms: _elementary().formula(name)(*terms)


def meaning(name: str, wide: bool = True) -> Callable[..., Array]:
    """The NumPy meaning of a row for which NumPy has no function (see `elementary.meaning`)."""
    return lambda *arrays: _elementary().meaning(name, wide)(*arrays)


def _is_float(array: Any) -> bool:
    return bool(array.dtype.kind == "f")


def _divide(x: Any, y: Any) -> Any:
    if _is_float(x):
        return x / y
    zero = y == 0
    quotient = _truncate(x, np.where(zero, y.dtype.type(1), y))
    return np.where(zero, x.dtype.type(0), quotient)


def _truncate(x: Any, y: Any) -> Any:
    """Integer quotient toward zero, from NumPy's toward minus infinity."""
    floor = np.floor_divide(x, y)
    return (
        floor + ((floor < 0) & (floor * y != x)).astype(x.dtype) if x.dtype.kind == "i" else floor
    )


def _remainder(x: Any, y: Any) -> Any:
    return np.fmod(x, y) if _is_float(x) else x - _divide(x, y) * y


def _shift_left(x: Any, y: Any) -> Any:
    fits = (y >= 0) & (y < 8 * x.itemsize)
    return np.where(fits, np.left_shift(x, np.where(fits, y, y.dtype.type(0))), x.dtype.type(0))


def _shift_right(x: Any, y: Any) -> Any:
    last = x.dtype.type(8 * x.itemsize - 1)
    fits = (y >= 0) & (y <= last)
    shifted = np.right_shift(x, np.where(fits, y, last))
    return np.where(fits | (x.dtype.kind == "i"), shifted, x.dtype.type(0))


def _extreme(pick: Callable[..., Any], least: bool) -> Callable[..., Any]:
    """`pick`, NumPy's minimum or maximum with the NaN rule wanted, with -0.0 below 0.0."""

    def chosen(x: Any, y: Any) -> Any:
        if not _is_float(x):
            return pick(x, y)
        zeros = (x == 0) & (y == 0)
        return np.where(zeros, np.where(np.signbit(x) == least, x, y), pick(x, y))

    return chosen


def _high_product(x: Any, y: Any) -> Any:
    bits = 8 * x.itemsize
    product = x.astype(object) * y.astype(object)
    return np.asarray(product // (1 << bits)).astype(x.dtype)


def _compare(
    name: str, symbol: str, doc: str, numpy: Any, signed: str, unsigned: str, real: str
) -> None:
    words = {
        "i": f"icmp {signed}",
        "u": f"icmp {unsigned}",
        "b": f"icmp {unsigned}",
        "f": f"fcmp {real}",
    }
    elementwise(
        name,
        doc,
        2,
        "biuf",
        symbol,
        numpy=numpy,
        c=f"({{0}} {symbol} {{1}})",
        llvm=words,
        boolean=True,
        commutes=symbol in ("==", "!="),
    )


def _divide_c(symbol: str) -> Callable[..., str]:
    """Plain C where the divisor is a constant that cannot fault; else the prelude's guarded
    function."""
    name = {"/": "divide", "%": "modulo"}[symbol]

    def text(x: str, y: str, element: Any) -> str:
        digits = y.rstrip("uUL")
        literal = digits.lstrip("-").isdigit() and int(digits) not in (0, -1)
        return f"({x} {symbol} {y})" if literal else f"{name}({x}, {y})"

    return text


def _shift_c(symbol: str) -> Callable[..., str]:
    name = {"<<": "shift_left", ">>": "shift_right"}[symbol]

    def text(x: str, y: str, element: Any) -> str:
        digits = y.rstrip("uUL")
        literal = digits.isdigit() and int(digits) < element.bits
        return f"({x} {symbol} {y})" if literal else f"{name}({x}, {y})"

    return text


def _infix(symbol: str) -> str:
    return f"({{0}} {symbol} {{1}})"


ADDITIVE = {"i": 0, "u": 0, "f": -0.0}
ONE = {"i": 1, "u": 1, "f": 1.0}
ZERO = {"i": 0, "u": 0}
ONES = {"i": -1, "u": -1, "b": True}

elementwise(
    "add",
    "x + y; ints wrap.",
    2,
    "iuf",
    "+",
    numpy=np.add,
    c=_infix("+"),
    identity=ADDITIVE,
    commutes=True,
    llvm={"i": "add", "u": "add", "f": "fadd"},
)
elementwise(
    "sub",
    "x - y; ints wrap.",
    2,
    "iuf",
    "-",
    numpy=np.subtract,
    c=_infix("-"),
    identity={"i": 0, "u": 0, "f": 0.0},
    llvm={"i": "sub", "u": "sub", "f": "fsub"},
)
elementwise(
    "mul",
    "x * y; ints wrap.",
    2,
    "iuf",
    "*",
    numpy=np.multiply,
    c=_infix("*"),
    identity=ONE,
    commutes=True,
    llvm={"i": "mul", "u": "mul", "f": "fmul"},
)
elementwise(
    "div",
    "x / y; of ints the quotient toward zero.",
    2,
    "iuf",
    "/",
    numpy=_divide,
    identity=ONE,
    cost=8,
    c={"f": _infix("/"), "i": _divide_c("/"), "u": _divide_c("/")},
    fast={"f32": "quotient({0}, {1})"},
    llvm={"i": "sdiv", "u": "udiv", "f": "fdiv"},
)
elementwise(
    "div_rn",
    "x / y rounded to nearest even, on every target.",
    2,
    "f",
    numpy=_divide,
    identity=ONE,
    cost=8,
    c=_infix("/"),
    llvm={"f": "fdiv"},
)
elementwise(
    "mod",
    "The remainder of x / y with the sign of x (C's % and fmod).",
    2,
    "iuf",
    "%",
    numpy=_remainder,
    c={"f": "fmod{f}({0}, {1})", "i": _divide_c("%"), "u": _divide_c("%")},
    cost=16,
    llvm={"i": "srem", "u": "urem", "f": "frem"},
)
elementwise(
    "neg",
    "-x",
    1,
    "iuf",
    "-",
    numpy=np.negative,
    c="(-{0})",
    llvm={"f": "fneg"},
    expand=lambda x: 0 - x,
)
elementwise(
    "and",
    "Bitwise and.",
    2,
    "biu",
    "&",
    numpy=np.bitwise_and,
    c=_infix("&"),
    identity=ONES,
    commutes=True,
    idempotent=True,
    llvm=dict.fromkeys("biu", "and"),
)
elementwise(
    "or",
    "Bitwise or.",
    2,
    "biu",
    "|",
    numpy=np.bitwise_or,
    c=_infix("|"),
    identity={**ZERO, "b": False},
    commutes=True,
    idempotent=True,
    llvm=dict.fromkeys("biu", "or"),
)
elementwise(
    "xor",
    "Bitwise exclusive or.",
    2,
    "biu",
    "^",
    numpy=np.bitwise_xor,
    c=_infix("^"),
    identity={**ZERO, "b": False},
    commutes=True,
    llvm=dict.fromkeys("biu", "xor"),
)
elementwise(
    "not",
    "Bitwise complement.",
    1,
    "biu",
    "~",
    numpy=np.invert,
    c={"b": "(!{0})", "*": "(~{0})"},
    expand=lambda x: x ^ (True if x.element.kind == "b" else -1),
)
elementwise(
    "shl",
    "x << y",
    2,
    "iu",
    "<<",
    numpy=_shift_left,
    c=_shift_c("<<"),
    identity=ZERO,
    llvm={"i": "shl", "u": "shl"},
)
elementwise(
    "shr",
    "x >> y: arithmetic on signed ints, logical on unsigned.",
    2,
    "iu",
    ">>",
    numpy=_shift_right,
    c=_shift_c(">>"),
    identity=ZERO,
    llvm={"i": "ashr", "u": "lshr"},
)

_compare("cmp_lt", "<", "x < y; false where either is NaN.", np.less, "slt", "ult", "olt")
_compare("cmp_le", "<=", "x <= y; false where either is NaN.", np.less_equal, "sle", "ule", "ole")
_compare("cmp_gt", ">", "x > y; false where either is NaN.", np.greater, "sgt", "ugt", "ogt")
_compare(
    "cmp_ge", ">=", "x >= y; false where either is NaN.", np.greater_equal, "sge", "uge", "oge"
)
_compare("cmp_eq", "==", "x == y; false where either is NaN.", np.equal, "eq", "eq", "oeq")
_compare("cmp_ne", "!=", "x != y; true where either is NaN.", np.not_equal, "ne", "ne", "une")

_END = {"minimum": "max", "maximum": "min"}
for _name, _short, _other, _nan in (
    ("minimum", "min", np.fmin, np.minimum),
    ("maximum", "max", np.fmax, np.maximum),
):
    _words = {"i": f"llvm.s{_short}", "u": f"llvm.u{_short}"}
    elementwise(
        _name,
        f"The {_short}imum of x and y; a NaN operand yields the other one, and -0.0 < 0.0.",
        2,
        "iuf",
        numpy=_extreme(_other, _short == "min"),
        c=f"{_name}({{0}}, {{1}})",
        identity={**dict.fromkeys("iu", _END[_name]), "f": math.nan},
        commutes=True,
        idempotent=True,
        llvm={**_words, "f": f"llvm.{_name}num"},
        cost=3,
    )
    elementwise(
        f"{_name}_nan",
        f"The {_short}imum of x and y; NaN where either is NaN, and -0.0 < 0.0.",
        2,
        "iuf",
        numpy=_extreme(_nan, _short == "min"),
        c=f"{_name}_nan({{0}}, {{1}})",
        identity=dict.fromkeys("iuf", _END[_name]),
        commutes=True,
        idempotent=True,
        llvm={**_words, "f": f"llvm.{_name}"},
        cost=3,
    )

elementwise(
    "abs",
    "The absolute value; of the least int, and of a bool, itself.",
    1,
    "biuf",
    numpy=np.abs,
    public=True,
    c={
        "f": "fabs{f}({0})",
        "i": "({0} < 0 ? 0U - {0} : {0})",
        "i64": "({0} < 0 ? 0ULL - {0} : {0})",
        "u": "{0}",
        "b": "{0}",
    },
    llvm={"f": "llvm.fabs"},
    expand=lambda x: x if x.element.kind in "bu" else (x < 0).where(0 - x, x),
)
elementwise(
    "fma",
    "x * y + z, rounded once.",
    3,
    "iuf",
    numpy=meaning("fma"),
    c={"f": "fma{f}({0}, {1}, {2})", "*": "({0} * {1} + {2})"},
    llvm={"f": "llvm.fma"},
    expand=lambda x, y, z: x * y + z,
    public=True,
)
elementwise(
    "umulhi",
    "The high half of the product of x and y.",
    2,
    "iu",
    numpy=_high_product,
    commutes=True,
    c={
        **dict.fromkeys(("i8", "u8"), "({0} * {1} >> 8)"),
        "i16": "({0} * {1} >> 16)",
        "u16": "((unsigned int){0} * {1} >> 16)",
        "*": "multiply_high({0}, {1})",
    },
    expand=formula("umulhi"),
    cost=4,
    public=True,
)
for _name, _doc, _round in (
    ("floor", "The greatest whole number not above x.", np.floor),
    ("ceil", "The least whole number not below x.", np.ceil),
    ("trunc", "x without its fraction.", np.trunc),
    ("rint", "The nearest whole number, ties to even.", np.rint),
):
    elementwise(
        _name,
        _doc,
        1,
        "f",
        numpy=_round,
        c=f"{_name}{{f}}({{0}})",
        llvm={"f": f"llvm.{_name}"},
        public=_name in ("floor", "ceil"),
    )
elementwise(
    "sqrt",
    "The square root, correctly rounded; NaN below zero.",
    1,
    "f",
    numpy=np.sqrt,
    c="sqrt{f}({0})",
    llvm={"f": "llvm.sqrt"},
    cost=10,
    public=True,
)
elementwise(
    "rsqrt",
    "1 / sqrt(x); inf of 0.0, -inf of -0.0.",
    1,
    "f",
    numpy=wide(lambda x: 1 / np.sqrt(x)),
    c="rsqrt{f}({0})",
    expand=lambda x: 1.0 / x.sqrt(),
    ulp=2,
    cost=18,
    public=True,
)
FAST = {"exp": {"f32": "fast_exp({0})"}, "exp2": {"f32": "fast_exp2({0})"}}
for _name, _doc, _numpy, _ulp in (
    ("exp", "e to the power x.", wide(np.exp), 2),
    ("exp2", "2 to the power x.", wide(np.exp2), 2),
    ("log", "The natural logarithm; -inf of 0, NaN below.", wide(np.log), 2),
    ("log2", "The logarithm to base 2; -inf of 0, NaN below.", wide(np.log2), 2),
    ("sin", "The sine of x in radians.", wide(np.sin), 2),
    ("cos", "The cosine of x in radians.", wide(np.cos), 2),
    ("erf", "The error function.", each(math.erf), 2),
    ("tanh", "The hyperbolic tangent.", wide(np.tanh), 2),
):
    elementwise(
        _name,
        _doc,
        1,
        "f",
        numpy=_numpy,
        c=f"{_name}{{f}}({{0}})",
        fast=FAST.get(_name, {}),
        expand=formula(_name),
        ulp=_ulp,
        cost=20,
        public=_name != "tanh",
    )
