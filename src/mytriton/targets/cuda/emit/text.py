"""Small pieces of C text: parentheses, and elements between memory and locals."""

from __future__ import annotations

from ....ir.types import Element
from ..spelling import is_small_float


def rounded(text: str, element: Element) -> str:
    """A `float` expression rounded once to a small float type; of any other type the expression
    itself."""
    return f"{element.ir}({bare(text)})" if is_small_float(element) else text


def bare(text: str) -> str:
    """The expression without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]


def from_memory(text: str, element: Element) -> str:
    """An element of memory as a value: the byte of a bool is true where it is not zero."""
    return f"({text} != 0)" if element.kind == "b" else text


def to_memory(text: str, element: Element) -> str:
    """A value as memory holds it."""
    return rounded(text, element)
