"""Element-wise IR as C++ for this machine, so that an expansion can be run on a billion inputs.

One idea: every op becomes one line with its row's own C template; casts, bitcasts and selects are
the only other ops an expansion may use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mytriton.elementary.term import IrTerm
from mytriton.ir.build import Builder, using
from mytriton.ir.nodes import Const, Op, Operand, Param
from mytriton.ir.ops import Elementwise
from mytriton.ir.types import ScalarType, element_of
from mytriton.targets.cuda.prelude import host_text
from mytriton.targets.cuda.sim import HOST
from mytriton.targets.cuda.spelling import INTS, literal

C_TYPES = {**INTS, "f32": "float", "f64": "double"}

HELPERS = """
template <class T, class S> static inline T formula_cast(S x) {
    if constexpr (std::is_same_v<T, bool>) return x != 0;
    else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) return saturate<T>(x);
    else return (T)x;
}
"""


def program(text: str) -> str:
    """A whole C++ text: CUDA's names for the host, what of the prelude is called, the text."""
    return "\n".join(["#include <type_traits>", HOST, host_text(HELPERS + text), HELPERS, text])


def c_text(row: Elementwise, operands: Sequence[str], element: Any) -> str:
    """The row's C expression for operands of the element type."""
    template = row.c
    if not isinstance(template, str) and not callable(template):
        keys = (element.ir, element.kind, "*")
        template = next(template[key] for key in keys if key in template)
    if callable(template):
        return template(*operands, element)
    return template.format(*operands, f="f" if element.bits <= 32 else "")


class Lines:
    """The statements of ops, one local variable each."""

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.lines: list[str] = []

    def name(self, operand: Operand) -> str:
        return (
            literal(operand.value, operand.ty)
            if isinstance(operand, Const)
            else self.names[operand]
        )

    def add(self, op: Op) -> None:
        texts = [self.name(operand) for operand in op.operands]
        (value,) = op.results
        element = element_of(value.ty)
        kind = C_TYPES[element.ir]
        row = op.row.element
        if row is not None:
            assert op.operands[0] is not None
            text = f"({kind}){c_text(row, texts, element_of(op.operands[0].ty))}"
        else:
            text = {
                "cast": f"formula_cast<{kind}>({texts[0]})",
                "bitcast": f"cudasim::same_bits<{kind}>({texts[0]})",
                "select": f"({texts[0]} ? {texts[1 % len(texts)]} : {texts[-1]})",
            }[op.name]
        self.names[value] = f"v{len(self.lines)}"
        self.lines.append(f"{kind} v{len(self.lines)} = {text};")


def function(name: str, formula: Callable[..., Any], elements: Sequence[ScalarType]) -> str:
    """A C++ function of what the formula emits on parameters of these types."""
    params = [Param(f"a{i}", element) for i, element in enumerate(elements)]
    builder = Builder(where=())
    with using(builder):
        result = formula(*map(IrTerm, params)).value
    lines = Lines()
    lines.names.update({param: param.name for param in params})
    for op in builder.function(name, params).body.ops[:-1]:
        lines.add(op)
    kind = C_TYPES[element_of(result.ty).ir]
    arguments = ", ".join(f"{C_TYPES[element.ir]} {p.name}" for element, p in zip(elements, params))
    body = "\n    ".join([*lines.lines, f"return {lines.name(result)};"])
    return f"static inline {kind} {name}({arguments}) {{\n    {body}\n}}\n"
