"""Element-wise IR as C++ for this machine, so that an expansion can be run on a billion inputs.

One idea: every op becomes one line with its row's own C template; casts, bitcasts and selects are
the only other ops an expansion may use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mytriton.ir.build import Builder, using
from mytriton.ir.expr import Expr
from mytriton.ir.nodes import Const, Op, Operand, Param
from mytriton.ir.ops import TABLE, Elementwise
from mytriton.ir.types import ScalarType, element_of

C_TYPES = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "f32": "float", "f64": "double",
}  # fmt: skip

PRELUDE = """
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
template <class T, class S> static inline T bits(S x) { T t; memcpy(&t, &x, sizeof t); return t; }
template <class T, class S> static inline T cast(S x) {
    if constexpr (std::is_same_v<T, bool>) return x != 0;
    else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
        if (x != x) return 0;
        if (x <= (S)std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
        if (x >= (S)std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
        return (T)x;
    } else return (T)x;
}
template <class T> static inline T shift_left(T x, T n) {
    return n >= 0 && n < (T)(8 * sizeof(T)) ? (T)((std::make_unsigned_t<T>)x << n) : T(0);
}
template <class T> static inline T shift_right(T x, T n) {
    bool fits = n >= 0 && n < (T)(8 * sizeof(T));
    return fits ? (T)(x >> n) : (T)(x < 0 ? -1 : 0);
}
template <class T> static inline T divide(T x, T y) {
    if (y == 0) return 0;
    if (std::is_signed_v<T> && y == T(-1)) return (T)(0 - (std::make_unsigned_t<T>)x);
    return x / y;
}
template <class T> static inline T remainder(T x, T y) { return (T)(x - divide(x, y) * y); }
template <class T> static inline T minimum(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
        if (x != x) return y;
        if (y != y) return x;
        if (x == y) return std::signbit(x) ? x : y;
    }
    return x < y ? x : y;
}
template <class T> static inline T maximum(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
        if (x != x) return y;
        if (y != y) return x;
        if (x == y) return std::signbit(x) ? y : x;
    }
    return x > y ? x : y;
}
template <class T> static inline T minimum_nan(T x, T y) {
    return x != x ? x : y != y ? y : minimum(x, y);
}
template <class T> static inline T maximum_nan(T x, T y) {
    return x != x ? x : y != y ? y : maximum(x, y);
}
template <class T> static inline T multiply_high(T x, T y) {
    if constexpr (std::is_signed_v<T>) return (T)(((__int128)x * y) >> (8 * sizeof(T)));
    else return (T)(((unsigned __int128)x * y) >> (8 * sizeof(T)));
}
static inline float rsqrtf(float x) { return (float)(1 / std::sqrt((double)x)); }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }
"""


def c_text(row: Elementwise, operands: Sequence[str], element: Any) -> str:
    """The row's C expression for operands of the element type."""
    template = row.c
    if not isinstance(template, str) and not callable(template):
        keys = (element.ir, element.kind, "*")
        template = next(template[key] for key in keys if key in template)
    if callable(template):
        return template(*operands, element)
    return template.format(*operands, f="f" if element.bits <= 32 else "")


def literal(constant: Const) -> str:
    """A constant as C, to the bit."""
    value, element = constant.value, constant.ty
    if element.kind != "f":
        suffix = {"u": "u", "b": ""}.get(element.kind, "")
        long = "ll" if element.bits == 64 else ""
        lowest = element.kind == "i" and value == element.min_int
        text = f"({value + 1} - 1)" if lowest else f"{int(value)}{suffix}{long}"
        return f"(({C_TYPES[element.ir]}){text})"
    number = float(value)
    suffix = "f" if element.bits == 32 else ""
    if number != number or number in (float("inf"), float("-inf")):
        name = "NAN" if number != number else "INFINITY"
        return f"({'-' if number < 0 else ''}({C_TYPES[element.ir]}){name})"
    return f"({number.hex()}{suffix})"


class Lines:
    """The statements of ops, one local variable each."""

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.lines: list[str] = []

    def name(self, operand: Operand) -> str:
        return literal(operand) if isinstance(operand, Const) else self.names[operand]

    def add(self, op: Op) -> None:
        texts = [self.name(operand) for operand in op.operands]
        (value,) = op.results
        element = element_of(value.ty)
        kind = C_TYPES[element.ir]
        row = TABLE[op.name].element
        if row is not None:
            assert op.operands[0] is not None
            text = f"({kind}){c_text(row, texts, element_of(op.operands[0].ty))}"
        else:
            text = {
                "cast": f"cast<{kind}>({texts[0]})",
                "bitcast": f"bits<{kind}>({texts[0]})",
                "select": f"({texts[0]} ? {texts[1 % len(texts)]} : {texts[-1]})",
            }[op.name]
        self.names[value] = f"v{len(self.lines)}"
        self.lines.append(f"{kind} v{len(self.lines)} = {text};")


def function(name: str, formula: Callable[..., Any], elements: Sequence[ScalarType]) -> str:
    """A C++ function of what the formula emits on parameters of these types."""
    params = [Param(f"a{i}", element) for i, element in enumerate(elements)]
    builder = Builder(where=())
    with using(builder):
        result = formula(*map(Expr, params)).value
    lines = Lines()
    lines.names.update({param: param.name for param in params})
    for op in builder.function(name, params).body.ops[:-1]:
        lines.add(op)
    kind = C_TYPES[element_of(result.ty).ir]
    arguments = ", ".join(f"{C_TYPES[element.ir]} {p.name}" for element, p in zip(elements, params))
    body = "\n    ".join([*lines.lines, f"return {lines.name(result)};"])
    return f"static inline {kind} {name}({arguments}) {{\n    {body}\n}}\n"
