"""A row of the op table as a C++ function over arrays, for a host compiler: what the conformance
test calls.

One idea: the row's C is tested as kernels print it. The function loads elements from memory,
computes the row's text on locals and stores the result, with the prelude's host twins, and needs
nothing but a C++ compiler.

    row_c_text(TABLE["add"], F16)
    # extern "C" void row_add_f16(const f16* x, const f16* y, f16* out, long long count)
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.ops import Row
from ...ir.types import BOOL, ScalarType
from .emit.pointwise import cast_text, elementwise_text
from .emit.text import from_memory, rounded
from .prelude import host_text
from .sim import HOST
from .spelling import local_type, memory_type

LETTERS = ("x", "y", "z")


def row_name(row: Row, element: ScalarType) -> str:
    """The function's name: `row_add_f16`."""
    return f"row_{row.name}_{element.ir}"


def row_c_text(row: Row, element: ScalarType) -> str:
    """A complete C++ file with the function `row_name(row, element)`."""
    return rows_c_text([(row, element)])


def rows_c_text(pairs: Sequence[tuple[Row, ScalarType]]) -> str:
    """A complete C++ file with a function for each row and element type.

    `extern "C" void NAME(const T* x, …, R* out, long long count)`: elements as in memory (a bool is
    a byte, a small float its bits), `out[i] = row(x[i], …)`.
    """
    return program([_row_function(row, element) for row, element in pairs])


def casts_c_text(pairs: Sequence[tuple[ScalarType, ScalarType]], cut: bool = False) -> str:
    """A complete C++ file of functions `cast_SOURCE_TARGET(const S* x, T* out, long long
    count)`."""
    return program([_cast_function(source, target, cut) for source, target in pairs])


def program(functions: Sequence[str]) -> str:
    text = "\n\n".join(functions)
    return f"{HOST}\n{host_text(text)}\n\n{text}\n"


def _row_function(row: Row, element: ScalarType) -> str:
    elementwise = row.element
    assert elementwise is not None, f"{row.name} is not element-wise"
    result = BOOL if elementwise.boolean else elementwise.result or element
    letters = LETTERS[: elementwise.arity]
    text = elementwise_text(elementwise, element, [f"{letter}_" for letter in letters])
    return _function(row_name(row, element), element, result, letters, text)


def _cast_function(source: ScalarType, target: ScalarType, cut: bool) -> str:
    text = cast_text("x_", source, target, cut)
    return _function(f"cast_{source.ir}_{target.ir}", source, target, LETTERS[:1], text)


def _function(
    name: str, element: ScalarType, result: ScalarType, letters: Sequence[str], text: str
) -> str:
    """The loop over memory around an expression over locals `x_`, `y_`, …"""
    memory, local = memory_type(element), local_type(element)
    parameters = ", ".join(f"const {memory}* {letter}" for letter in letters)
    loads = "\n".join(
        f"        {local} {letter}_ = {from_memory(f'{letter}[i]', element)};" for letter in letters
    )
    return f"""extern "C" __attribute__((visibility("default")))
void {name}({parameters}, {memory_type(result)}* out, long long count) {{
    for (long long i = 0; i < count; i++) {{
{loads}
        {local_type(result)} result = {text};
        out[i] = {rounded("result", result)};
    }}
}}"""
