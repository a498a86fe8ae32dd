"""How CUDA C++ spells what the IR names: element types, constants, and names that a kernel may not
use.

One idea: a local holds one lane's value in the type that arithmetic is done in (`float` for every
float below 64 bits); memory holds the element itself, and where the two differ (`f16`, `bool`, …) a
prelude type or `!= 0` stands between.
"""

from __future__ import annotations

import math
import re

from ...ir.ops import TABLE
from ...ir.text import float_text
from ...ir.types import F32, F64, Element, PointerType, ScalarType, Type, compute_type, element_of
from .prelude import SECTIONS

INTS = {
    "bool": "bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "u8": "unsigned char",
    "u16": "unsigned short",
    "u32": "unsigned int",
    "u64": "unsigned long long",
}
SUFFIX = {"i64": "LL", "u32": "u", "u64": "ULL"}
"""What makes an integer constant one of its type; narrow ones are of C's int."""


def is_small_float(element: Element) -> bool:
    """Whether memory holds it as a prelude struct that is rounded to and read as a `float`."""
    return element.kind == "f" and element.bits < 32


def local_type(ty: Type) -> str:
    """The C type of a local that holds one lane of a value: `vector<256 x f32>` is one `float`."""
    element = element_of(ty)
    if isinstance(element, PointerType):
        return f"{pointee_type(element)}*"
    if element.kind == "f":
        return "float" if compute_type(element) == F32 else "double"
    return INTS[element.ir]


def memory_type(element: Element) -> str:
    """The C type of the element in memory; a bool is a byte, because a byte of memory may be 2."""
    if is_small_float(element):
        return element.ir
    return "unsigned char" if element.kind == "b" else local_type(element)


def pointee_type(pointer: PointerType) -> str:
    """What a pointer of that type points to, in C: `float`, `const f16`, `float*`."""
    memory = memory_type(pointer.element)
    if not pointer.const:
        return memory
    return f"{memory} const" if memory.endswith("*") else f"const {memory}"


def literal(value: bool | int | float, element: Element) -> str:
    """A constant of the element type, as an expression of its local type.

    literal(1.0, F32) is `1.0f`, of F64 `1.0`; 3 is `3`, `3LL` or `3u`; a NaN of f32
    `__int_as_float(0x7fc00000)`.
    """
    if element.kind == "b":
        return "true" if value else "false"
    if element.kind == "p":
        return f"({local_type(element)}){value}"
    if element.kind == "f":
        return _real(float(value), element)
    if value == element.min_int and element.kind == "i" and element.bits >= 32:
        suffix = SUFFIX.get(element.ir, "")
        return f"({value + 1}{suffix} - 1)"
    return f"{int(value)}{SUFFIX.get(element.ir, '')}"


def _real(value: float, element: Element) -> str:
    double = element == F64
    if math.isnan(value):
        return _bits(double, "7fc00000", "7ff8000000000000")
    if math.isinf(value):
        infinity = _bits(double, "7f800000", "7ff0000000000000")
        return infinity if value > 0 else f"(-{infinity})"
    return repr(value) if double else f"{float_text(value, F32)}f"


def _bits(double: bool, single: str, wide: str) -> str:
    return f"__longlong_as_double(0x{wide}LL)" if double else f"__int_as_float(0x{single})"


def zero(element: Element) -> str:
    """What a load without `other` gives where its mask is false."""
    return literal(0, element) if isinstance(element, ScalarType) else "nullptr"


WORDS = """
alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char char16_t char32_t
class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else
enum explicit export extern false float for friend goto if inline int long mutable namespace new
noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
return short signed sizeof static static_assert static_cast struct switch template this thread_local
throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
xor_eq blockDim blockIdx gridDim threadIdx warpSize main printf memcpy memset malloc free clock
errno stdin stdout stderr NULL NAN INFINITY EOF min max abs labs llabs fmin fmax fminf fmaxf half
round lround ldexp
"""
"""What is a keyword of C++, or declared before a kernel by NVRTC or by the host's headers."""


def _row_functions() -> frozenset[str]:
    """The C functions that the rows' templates call, for `float` and for `double`."""
    names: set[str] = set()
    for row in TABLE.values():
        given = row.element.c if row.element else ""
        for template in given.values() if isinstance(given, dict) else (given,):
            text = template if isinstance(template, str) else ""
            for stem in re.findall(r"([A-Za-z_]\w*)(?:\{f\})?\(", text):
                names |= {stem, f"{stem}f"}
    return frozenset(names)


RESERVED = frozenset(WORDS.split()) | _row_functions() | frozenset(SECTIONS)


def legal_name(name: str, taken: set[str] | frozenset[str] = frozenset()) -> str:
    """The name itself where CUDA C++ can have it; else a close one that no keyword, function or
    local has."""
    legal = re.sub(r"\W", lambda m: f"_{ord(m[0]):x}_", name, flags=re.ASCII)
    if legal[:1].isdigit() or legal.startswith("__"):
        legal = f"n{legal}"
    if _local(legal):
        legal = f"_{legal}"
    while legal in RESERVED or legal in taken:
        legal += "_"
    return legal


def _local(name: str) -> bool:
    """Whether the lowering itself makes names like this one: `v12`, `next3`, `shared4`, `i5`, …"""
    return re.fullmatch(r"(v|next|shared|i|n|p|other|old|order|stored)\d+\w*", name) is not None
