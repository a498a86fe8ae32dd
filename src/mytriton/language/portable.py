"""What strict mode refuses of values and their types; of the kernel's text, see
`frontend/portable.py`.

Each function looks at operands that the language is about to use, and refuses by `strict.refuse`
what Triton has no code for. Outside strict mode none of them does anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..ir.nodes import Const, Operand
from ..ir.types import BF16, BOOL, F16, F32, F64, I32, I64, U32, U64, Element, element_of, shape_of
from ..strict import is_strict, refuse

MAX_ELEMENTS = 1 << 20
"""Triton's `TRITON_MAX_TENSOR_NUMEL`."""

_FLOATS = frozenset({F32, F64})
_ELEMENTS: dict[str, frozenset[Element]] = {
    **dict.fromkeys(
        ("ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "rsqrt", "sin", "sqrt"),
        _FLOATS,
    ),
    "sqrt_rn": frozenset({F32}),
    "div_rn": frozenset({F32}),
    "fma": frozenset({F16, BF16, F32, F64}),
    "umulhi": frozenset({I32, U32, I64, U64}),
}
"""The dtypes of functions that take fewer in Triton than here."""
_MIN_K = {8: 32, 64: 4, 32: 8}
"""The least K of `tl.dot` by the operands' bits; 16 for others."""


def _is_power_of_two(extent: int) -> bool:
    return extent & (extent - 1) == 0


def check_shape(value: Operand) -> None:
    """Extents are powers of two, and no block has more than 2**20 elements."""
    shape = shape_of(value.ty) if value is not None else ()
    if not all(map(_is_power_of_two, shape)):
        rounded = tuple(1 << (extent - 1).bit_length() for extent in shape)
        refuse(
            f"a block of shape {shape} has an extent that is no power of two",
            f"take shape {rounded} and mask the rest (triton.next_power_of_2 on the host)",
        )
    size = 1
    for extent in shape:
        size *= extent
    if size > MAX_ELEMENTS:
        refuse(f"a block of {size} elements has more than {MAX_ELEMENTS}", "loop over smaller ones")


def check_known(value: Any, what: str) -> None:
    """What has to be known while compiling is no tensor, not even one of a known number."""
    if is_strict() and hasattr(value, "handle"):
        known = value.handle.value if isinstance(value.handle, Const) else value.type
        refuse(
            f"{what} is given a plain name, which is a tensor ({known})",
            "annotate it where it is assigned, as in `name: tl.constexpr = …`",
        )


def check_elements(name: str, operands: Iterable[Operand]) -> None:
    """The dtypes of an element-wise function."""
    allowed = _ELEMENTS.get(name)
    for value in operands if allowed and is_strict() else ():
        element = element_of(value.ty) if value is not None else F32
        if allowed and element not in allowed:
            names = " or ".join(sorted(one.name for one in allowed))
            refuse(f"tl.{name} of {element.name}", f"convert to {names} first, as x.to(tl.float32)")


def check_division(left: Any, right: Any, symbol: str) -> None:
    """`/`, `//`, `%` of two ints that are both signed or both unsigned; a weak number fits."""
    if not is_strict():
        return
    first, second = (element_of(v.ty) if hasattr(v, "ty") else v for v in (left, right))
    for element, number in ((first, second), (second, first)):
        if type(number) is int and isinstance(element, Element) and element.kind in "bui":
            _check_fits(number, element, symbol)
    both = isinstance(first, Element) and isinstance(second, Element)
    kinds = {"u" if e.kind == "b" else e.kind for e in (first, second) if isinstance(e, Element)}
    if both and kinds == {"i", "u"}:
        refuse(
            f"{symbol} of {first.name} and {second.name}, which differ in sign",
            "cast both to one dtype first, as x.to(tl.int32)",
        )


def _check_fits(number: int, element: Element, symbol: str) -> None:
    if not int(element.min_int) <= number <= int(element.max_int):
        refuse(f"{symbol} of {element.name} and {number}, which does not fit it", "cast first")


def check_logical(values: Iterable[Any], word: str) -> None:
    """`and`, `or`, `not` take scalar conditions."""
    for value in values if is_strict() else ():
        ty = getattr(getattr(value, "handle", None), "ty", None)
        if ty is None:
            continue
        if shape_of(ty):
            symbol = {"and": "&", "or": "|", "not": "~"}[word]
            refuse(f"`{word}` of a block", f"write `{symbol}` on comparisons in parentheses")
        elif element_of(ty) != BOOL:
            refuse(f"`{word}` of {element_of(ty).name}", "compare first, as `(x != 0)`")


def check_index(parts: Sequence[Any]) -> None:
    """Blocks are indexed by None and `:` only."""
    for part in parts if is_strict() else ():
        if part is not None and not (isinstance(part, slice) and part == slice(None)):
            refuse(
                f"a block is indexed by {part!r}",
                "take elements by tl.sum(tl.where(index == k, x, 0), axis), tl.gather, tl.split, or"
                " a load from memory; None and `:` index blocks",
            )


def check_dot(rows: int, inner: int, columns: int, element: Element) -> None:
    """Of ints the product takes int8, and K is as large as one instruction of a tensor core
    takes."""
    bits = element.bits
    if element.kind != "f" and bits != 8:
        refuse(f"tl.dot of {element.name}", "convert to tl.int8 or to a float")
    least = _MIN_K.get(bits, 16)
    if inner < least:
        refuse(
            f"tl.dot of ({rows}, {inner}) and ({inner}, {columns}) has K = {inner}",
            f"K is {least} or more for {bits}-bit operands: pad with zeros, by a masked load",
        )


def check_same(first: Element, second: Element, what: str) -> None:
    """Both values have one dtype."""
    if first != second:
        refuse(f"{what} of {first.name} and {second.name}", f"cast both to one dtype: .to({first})")


def check_atomic(element: Element, kind: str) -> None:
    """Atomics are on 32 and 64 bits; float16 and bfloat16 can be added."""
    if element.bits < 32 and not (kind == "add" and element.kind == "f"):
        refuse(f"tl.atomic_{kind} of {element.name}", "atomics are on 32 or 64 bits")


def check_histogram(element: Element) -> None:
    """Histograms are of 32-bit ints."""
    if element not in (I32, U32):
        refuse(f"tl.histogram of {element.name}", "convert to tl.int32")


def check_cast(source: Element, target: Element) -> None:
    """Ints do not become 8-bit floats in one step."""
    if source.kind in "bui" and target.kind == "f" and target.bits == 8:
        refuse(f"{source.name} to {target.name}", "by way of float32: x.to(tl.float32).to(…)")
