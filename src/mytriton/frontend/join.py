"""The join of the two blocks of an `if`: what each left, and the plans of what follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import CompileError
from ..ir.build import current
from ..ir.nodes import Const, Operand
from ..language.scalars import assigned
from ..language.tensor import tensor
from .aliases import Aliases
from .heap import KEYS, Content, Heap, Held, is_mutable, read, write
from .jumps import RESULT, RETURNED
from .leaves import (
    ONE_FORM,
    UNBOUND,
    Undefined,
    at_line,
    conflict,
    handle,
    handle_like,
    is_dynamic,
    is_known,
    same,
    type_name,
    zero_like,
)
from .plan import (
    Assembly,
    Computed,
    Fresh,
    Keep,
    Plan,
    Rebuilt,
    Yielded,
    immutable_parts,
    plain,
    same_form,
)
from .rewrite import Site
from .watch import ChangeError, Suspect

CONVERT = "give it one type in both, for example with .to(…)"
Jumps = frozenset[str]
"""The flags of the jumps that a block surely took."""


@dataclass(frozen=True)
class World:
    """What one block left: the values of the names, and the objects that it changed."""

    heap: Heap
    values: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[int, Content] = field(default_factory=dict)
    jumps: Jumps = frozenset()

    def content(self, value: Any) -> Content:
        """What an object holds in this world."""
        held = self.heap.get(value)
        return read(value) if held is None else self.changed.get(id(value), held.content)

    def reached(self, value: Any) -> set[int]:
        """The objects, by identity, that a value refers to in this world."""
        found: set[int] = set()
        waiting = [value]
        while waiting:
            value = waiting.pop()
            parts = immutable_parts(value)
            if parts is not None:
                waiting += parts[0]
            elif is_mutable(value) and id(value) not in found:
                found.add(id(value))
                waiting += self.content(value).items
        return found


class Join:
    """Makes the plans of what follows an `if`, and the operands that its two regions yield."""

    def __init__(
        self, site: Site, condition: Operand, moment: int, left: World, right: World
    ) -> None:
        self.site, self.condition, self.moment = site, condition, moment
        self.left, self.right = left, right
        self.leaves: list[Yielded] = []
        self.left_operands: list[Operand] = []
        self.right_operands: list[Operand] = []
        self.aliases = Aliases()
        self.zeros: dict[int, Any] = {}
        self.typed = False
        """Whether a number is typed: a returned one, and that of a conditional expression."""
        self.returned = RETURNED in left.jumps or RETURNED in right.jumps

    def name(self, name: str) -> Plan:
        """The plan of a name."""
        self.typed = name in ("", RESULT)
        if name and name not in self.site.merged:
            return Keep(UNBOUND)
        left, right = plain(self.left.values[name]), plain(self.right.values[name])
        gone, kept = isinstance(left, Undefined), isinstance(right, Undefined)
        if gone and kept:
            return Keep(left if left is not UNBOUND else right)
        if gone or kept:
            jumps = self.left.jumps if gone else self.right.jumps
            if not jumps and name != RESULT:
                return Keep(self.undefined(name, 1 if gone else 0))
            left = self.zero(right) if gone else left
            right = self.zero(left) if kept else right
        return self.value(name, left, right, self.returned and name != RESULT)

    def value(self, path: str, left: Any, right: Any, gone: bool) -> Plan:
        """The plan of what is one value in the first block and another in the second. gone: one
        side returned, so that its value is never read."""
        left, right = plain(left), plain(right)
        if left is right:
            return self.kept(left)
        both = is_mutable(left), is_mutable(right)
        parts = immutable_parts(left), immutable_parts(right)
        if both == (True, True) and self.alike(left, right):
            return self.fresh(path, left, right, gone)
        if parts[0] and parts[1] and same_form(left, right):
            pairs = enumerate(zip(parts[0][0], parts[1][0]))
            return Rebuilt(left, [self.value(f"{path}[{i}]", a, b, gone) for i, (a, b) in pairs])
        if True in both or parts != (None, None):
            if not gone:
                raise self.differ(path, repr(left), repr(right), ONE_FORM)
            return self.survivor(path, left, right)
        return self.leaf(path, left, right, gone)

    def kept(self, value: Any) -> Plan:
        return Keep(assigned(value, alias=True) if self.typed else value)

    def alike(self, left: Any, right: Any) -> bool:
        """Whether two objects have one structure."""
        one_type = type(left) is type(right)
        return one_type and self.left.content(left).keys == self.right.content(right).keys

    def survivor(self, path: str, left: Any, right: Any) -> Plan:
        """The plan where one side returned and the structures differ: the other's, with zeros."""
        if RETURNED in self.left.jumps:
            return self.value(path, self.zero(right), right, False)
        return self.value(path, left, self.zero(left), False)

    def fresh(self, path: str, left: Any, right: Any, gone: bool) -> Plan:
        """An object in the place of two, one for each pair of them."""
        known = self.aliases.plan(left, right)
        if known is not None:
            return known
        ours, theirs = self.left.content(left), self.right.content(right)
        made = Fresh(left, ours.keys)
        self.aliases.add(path, left, right, made)
        for position, (a, b) in enumerate(zip(ours.items, theirs.items)):
            held = Held(left, path, ours, False)
            made.parts.append(self.value(held.item(position), a, b, gone))
        return made

    def leaf(self, path: str, left: Any, right: Any, gone: bool) -> Plan:
        if same(left, right):
            return self.kept(left)
        if (chosen := _known_bool(left)) is not None and _known_bool(right) is not None:
            condition = tensor(self.condition)
            return Computed(lambda: condition if chosen else condition.logical_not())
        if not is_dynamic(left) or not is_dynamic(right):
            raise self.differ(path, type_name(left), type_name(right))
        ours, theirs = self.operands(left, right)
        if ours.ty != theirs.ty:  # type: ignore[union-attr]
            if not gone:
                raise self.differ(path, type_name(left), type_name(right))
            if RETURNED in self.left.jumps:
                ours = self.zero_before_if(right)
            else:
                theirs = self.zero_before_if(left)
        self.left_operands.append(ours)
        self.right_operands.append(theirs)
        self.leaves.append(Yielded(left))
        return self.leaves[-1]

    def operands(self, a: Any, b: Any) -> tuple[Operand, Operand]:
        left, right = handle(a), handle(b)
        if left.ty != right.ty and is_known(b):  # type: ignore[union-attr]
            right = handle_like(b, left.ty)  # type: ignore[union-attr]
        if left.ty != right.ty and is_known(a):  # type: ignore[union-attr]
            left = handle_like(a, right.ty)  # type: ignore[union-attr]
        return left, right

    def zero(self, value: Any) -> Any:
        """The value with zeros for its tensors and numbers, which stands for it on a path that
        never reads it. Objects that both blocks know are themselves."""
        value = plain(value)
        parts = immutable_parts(value)
        if parts is not None:
            return parts[1]([self.zero(part) for part in parts[0]])
        if not is_mutable(value):
            return tensor(self.zero_before_if(value)) if is_dynamic(value) else value
        if self.left.heap.get(value) is not None:
            return value
        if id(value) not in self.zeros:
            made = self.zeros[id(value)] = Assembly({}).build(Fresh(value, read(value).keys))
            content = read(value)
            write(made, Content(content.keys, tuple(map(self.zero, content.items))))
        return self.zeros[id(value)]

    # -- objects that were there before

    def object(self, held: Held) -> tuple[Any, list[Plan]]:
        """The keys of an object that a block changed, and the plans of its items."""
        self.typed = False
        ours, theirs = self.left.content(held.value), self.right.content(held.value)
        gone = self.returned and not held.outer and not self.is_returned(held.value)
        if ours.keys != theirs.keys and gone:
            survives = self.right if RETURNED in self.left.jumps else self.left
            kept = survives.content(held.value)
            return kept.keys, self.items(held, kept, kept, self.survivor)
        if ours.keys != theirs.keys:
            raise self.reshaped(held)
        return ours.keys, self.items(
            held, ours, theirs, lambda path, a, b: self.value(path, a, b, gone)
        )

    def items(
        self, held: Held, ours: Content, theirs: Content, plan: Callable[[str, Any, Any], Plan]
    ) -> list[Plan]:
        made = []
        for position, (left, right) in enumerate(zip(ours.items, theirs.items)):
            path = Held(held.value, held.path, ours, False).item(position)
            try:
                made.append(plan(path, left, right))
            except CompileError as error:
                raise self.suspect(error.message, held, position) from None
        return made

    def is_returned(self, value: Any) -> bool:
        """Whether what the function returns early refers to the object."""
        worlds = (self.left, self.right)
        return any(id(value) in world.reached(world.values.get(RESULT)) for world in worlds)

    def reshaped(self, held: Held) -> CompileError:
        kind = type(held.value).__name__
        return self.suspect(
            f"`{held.path}` ({kind}) is changed in one branch of the `if` at line"
            f" {self.site.line} so that it has other items than after the other branch: what"
            " it holds would depend on the run; change it alike in both branches, or choose"
            " values with tl.where",
            held,
            KEYS,
        )

    def suspect(self, message: str, held: Held, item: int) -> CompileError:
        position = list(self.left.heap.objects).index(id(held.value))
        return ChangeError(message, Suspect(self.moment, position, item))

    def zero_before_if(self, leaf: Any) -> Operand:
        """Zeros of the leaf's type, made before the `if`, where both regions can yield them."""
        builder = current()
        with builder.at_level(builder.level - 1):
            return handle(zero_like(leaf))

    # -- errors

    def differ(
        self,
        name: str,
        left: str,
        right: str,
        advice: str = CONVERT,
    ) -> CompileError:
        first, second = self.line(name, 0), self.line(name, 1)
        if name[:1] in ("", "["):
            return conflict(
                "the conditional expression",
                "has two types",
                left,
                right,
                "make both of one type with .to(…)",
            )
        return conflict(
            name,
            "differs after the `if`",
            f"{left} when the condition holds{at_line(first)}",
            f"{right} when not{at_line(second)}",
            advice,
        )

    def line(self, name: str, branch: int) -> int | None:
        """The line that bound the name in that branch, or before; None of an item of an object."""
        lines = (self.site.first, self.site.second)[branch]
        return lines.get(name, self.site.before.get(name))

    def undefined(self, name: str, bound_in: int) -> Undefined:
        words = ("when the condition holds", "when it does not")
        return Undefined(
            f"`{name}` is bound in one branch only of the `if` at line {self.site.line}: at line"
            f" {self.line(name, bound_in)} {words[bound_in]}; bind it before the `if` or in both"
            " branches"
        )


def _known_bool(leaf: Any) -> bool | None:
    constant = leaf.handle if isinstance(leaf, tensor) else None
    value = constant.value if isinstance(constant, Const) else leaf
    return value if isinstance(value, bool) else None
