"""What control flow carries: Python values taken apart into tensors, numbers and the rest.

One idea: a name may hold any tree of tuples, lists, dicts, named tuples, dataclasses and objects
with `__flatten__`; its leaves are tensors and Python numbers, which a region can yield, or other
objects, which must stay what they are. Read by `control.py`.

    (acc, [m, 0], None)  →  leaves acc, m, 0, None;  rebuilt around new leaves in the same order
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import CompileError, CompileTypeError
from ..ir.build import emit
from ..ir.nodes import Const, Operand
from ..ir.types import I64, Element, PointerType, ScalarType, Type, element_of, shape_of
from ..language.constexpr import constexpr
from ..language.semantics import number_as, number_type, operand
from ..language.tensor import tensor


@dataclass(frozen=True)
class Undefined:
    """Stands for a name that is not bound on every path; its use is an error."""

    reason: str

    def __repr__(self) -> str:
        return "<not bound on every path>"


UNBOUND = Undefined("")
"""A name that was never bound."""

Shape = tuple[Any, ...]
"""The structure of a tree: equal for trees that differ in their leaves only."""
LEAF: Shape = ("leaf",)


def _children(value: Any) -> tuple[Any, list[Any], Callable[[list[Any]], Any]] | None:
    """What distinguishes the node, its children, and how to build it of others; None for a leaf."""
    kind = type(value)
    if kind is list:
        return (kind, len(value)), value, list
    if isinstance(value, tuple):
        build = getattr(kind, "_make", kind)
        return (kind, len(value)), list(value), build
    if kind is dict:
        keys = tuple(value)
        return (kind, keys), list(value.values()), lambda parts: dict(zip(keys, parts))
    if hasattr(value, "__flatten__") and not isinstance(value, type):
        parts, build = value.__flatten__()
        return (kind, len(parts)), list(parts), build
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, ScalarType)):
        return _fields(value)
    return None


def _fields(value: Any) -> tuple[Any, list[Any], Callable[[list[Any]], Any]] | None:
    kind = type(value)
    names = [row.name for row in dataclasses.fields(value)]
    if kind.__module__.startswith("mytriton."):
        return None

    def build(parts: list[Any]) -> Any:
        made = object.__new__(kind)
        for name, part in zip(names, parts):
            object.__setattr__(made, name, part)
        return made

    return (kind, tuple(names)), [getattr(value, name) for name in names], build


@dataclass(frozen=True)
class Tree:
    """A value taken apart."""

    value: Any
    shape: Shape
    leaves: tuple[Any, ...]

    @property
    def bound(self) -> bool:
        return not isinstance(self.value, Undefined)

    def rebuild(self, leaves: Sequence[Any]) -> Any:
        """The same structure around other leaves."""
        remaining = list(leaves)
        return _rebuild(self.value, remaining)

    def copy(self) -> Any:
        """The value again, with lists and dicts of its own."""
        return self.value if self.shape is LEAF else self.rebuild(self.leaves)


def _rebuild(value: Any, remaining: list[Any]) -> Any:
    node = _children(value)
    if node is None:
        return remaining.pop(0)
    _, children, build = node
    return build([_rebuild(child, remaining) for child in children])


def tree(value: Any) -> Tree:
    """Takes a value apart."""
    if type(value) is constexpr:
        value = value.value
    node = _children(value)
    if node is None:
        return Tree(value, LEAF, (value,))
    kind, children, build = node
    parts = [tree(child) for child in children]
    leaves = tuple(leaf for part in parts for leaf in part.leaves)
    # A copy: the kernel may change the list it holds.
    kept = build([part.value for part in parts])
    return Tree(kept, (kind, *(part.shape for part in parts)), leaves)


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
    subject = "the returned value" if name == "$value" else f"`{name}`"
    return CompileTypeError(f"{subject} {what}: {left}, and {right}; {advice}")
