"""The leaves of what control flow carries: tensors and Python numbers, which a region can yield,
and all other values, which must stay what they are. Read by `branches.py` and `loops.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import CompileError, CompileTypeError
from ..ir.build import emit
from ..ir.nodes import Const, Operand
from ..ir.types import I64, Element, PointerType, ScalarType, Type, element_of, shape_of
from ..language.promotion import number_as, number_type, operand
from ..language.tensor import tensor


@dataclass(frozen=True)
class Undefined:
    """Stands for a name that is not bound on every path; its use is an error."""

    reason: str

    def __repr__(self) -> str:
        return "<not bound on every path>"


ONE_FORM = "a value that control flow carries keeps its form: one type, with as many items"
"""The advice where containers differ."""

UNBOUND = Undefined("")
"""A name that was never bound."""


def is_number(leaf: Any) -> bool:
    return isinstance(leaf, (bool, int, float))


def is_dynamic(leaf: Any) -> bool:
    """Whether a region can yield the leaf."""
    return isinstance(leaf, tensor) or is_number(leaf)


def is_known(leaf: Any) -> bool:
    """Whether the leaf is a number, weak or typed, that is known while tracing."""
    return isinstance(leaf.handle, Const) if isinstance(leaf, tensor) else is_number(leaf)


def same(left: Any, right: Any) -> bool:
    """Whether two leaves are one value."""
    if left is right:
        return True
    if isinstance(left, tensor) and isinstance(right, tensor):
        return left.handle is right.handle or (is_known(left) and left.handle == right.handle)
    if type(left) is not type(right) or isinstance(left, tensor):
        return False
    if is_number(left):
        return number_as(left, number_type(left)) == number_as(right, number_type(right))
    try:
        return bool(left == right)
    except Exception:
        return False


def handle(leaf: Any) -> Operand:
    """The leaf as an operand."""
    return leaf.handle if isinstance(leaf, tensor) else operand(leaf)


def handle_like(leaf: Any, other: Type) -> Operand:
    """The leaf as an operand; a number that is known takes the other's type if that is of its
    kind (of a typed scalar, if it holds the value)."""
    value, element = handle(leaf), element_of(other)
    if isinstance(value, Const) and is_known(leaf) and not shape_of(other):
        kind, target = value.ty.kind, element.kind
        alike = kind == target or (kind in "iu" and target in "iu")
        if alike and (is_number(leaf) or _holds(element, value.value)):
            return number_as(value.value, element)
    return value


def _holds(element: Element, number: bool | int | float) -> bool:
    if not isinstance(element, ScalarType):
        return False
    return element.kind not in "iu" or element.min_int <= number <= element.max_int


def type_name(leaf: Any) -> str:
    """How an error speaks of a leaf."""
    if is_number(leaf):
        return f"{number_type(leaf)} (the number {leaf!r})"
    if isinstance(leaf, tensor):
        known = f" (the number {leaf.handle.value!r})" if isinstance(leaf.handle, Const) else ""
        return f"{leaf.handle.ty}{known}"
    return repr(leaf)


def zero_like(leaf: Any) -> Any:
    """A tensor of zeros of the leaf's type: the value of a name on a path that cannot reach its
    use."""
    if not is_dynamic(leaf):
        return leaf
    ty = handle(leaf).ty  # type: ignore[union-attr]
    element, shape = element_of(ty), shape_of(ty)
    if isinstance(element, PointerType):
        value: Operand = emit("cast", Const(0, I64), to=element)
    else:
        value = number_as((element.kind == "f" and 0.0) or 0, element)
    return tensor(emit("broadcast", value, shape=shape) if shape else value)


def conflict(name: str, what: str, left: str, right: str, advice: str) -> CompileError:
    """The error of a name that is two things."""
    subject = "the returned value" if name.startswith("$value") else f"`{name}`"
    return CompileTypeError(f"{subject} {what}: {left}, and {right}; {advice}")


def at_line(line: int | None) -> str:
    """In an error, where a name got its value; nothing of an item of an object."""
    return f" (line {line})" if line else ""
