"""What a loop carries from round to round.

Which Python values a loop has to carry is not known before its body has run. So the body is traced,
and what it changed becomes a carried value (an iter_arg of MLIR's scf.for and scf.while); if any
was not carried yet, the region is thrown away, every object is restored, and the body is traced
again with those values as params of the region. Plans only ever grow (a Python value may become a
yielded one, never the reverse), so this ends at a fixed point: the least set of carried values that
the body does not leave.

    total = 0; k = 2                       first trace: `total` is bound outside any `if`, so it is
    for i in range(n):                     carried at once; `k` is not known to change and stays 2.
        total += k                         The trace ends with another `k`: the region is thrown
        if cond: k = k + 1                 away and traced again with `k` carried too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from ..errors import CompileError
from ..ir.nodes import Operand, Param
from ..language.debug import StaticOutput, static_output
from .aliases import Aliases, check_shared, share, shared, two_objects
from .heap import ANYTHING, KEYS, Content, Heap, Held, is_mutable, read, values_of, write
from .jumps import RESULT
from .leaves import (
    ONE_FORM,
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
    Fresh,
    Keep,
    Plan,
    Rebuilt,
    Yielded,
    immutable_parts,
    plain,
    same_form,
    yielded,
)
from .rewrite import Site
from .watch import ChangeError, Suspect, moment, refuse_advanced

ONE_TYPE = (
    "start it with a value of that type (tl.zeros, tl.full, 0.0 for floats), or convert it with"
    " .to(…) in the body"
)
Item = tuple[int, int]
"""An item of an object: the object's identity and the position."""


class Carried:
    """The plans of one loop's names and of the items of objects that its body changes."""

    def __init__(self, site: Site, frame: FrameType, before: Mapping[str, Any], heap: Heap) -> None:
        self.site, self.before, self.heap = site, dict(before), heap
        self.moment = moment(list(heap.objects.values()), frame)
        self.names = {name: self.initial(before[name], name in site.likely) for name in site.names}
        self.items: dict[Item, Plan] = {}
        self.bound_inside: set[str] = set()
        self.shared = len(shared.get() or ())
        self.output = static_output.get(StaticOutput())
        self.printed = self.output.begin()
        self.begin()

    def begin(self) -> None:
        """Forgets what the last trace of the body found."""
        self.grown = False
        self.ends: dict[Yielded, Operand] = {}
        self.aliases = Aliases()
        self.visited: set[Fresh] = set()
        self.head: list[tuple[Fresh, Held]] = []
        self.head_moment = 0

    def initial(self, value: Any, sure: bool) -> Plan:
        """The plan before any trace: tensors are carried, and numbers that surely change."""
        value = plain(value)
        if is_dynamic(value):
            return Yielded(value) if sure or not is_known(value) else Keep(value)
        parts = immutable_parts(value)
        inner = [self.initial(part, sure) for part in parts[0]] if parts else []
        return Rebuilt(value, inner) if yielded(inner) else Keep(value)

    # -- before a trace of the body

    def plans(self) -> list[Plan]:
        return [*self.names.values(), *self.items.values()]

    def operands(self) -> list[Operand]:
        """The carried values before the loop."""
        return [handle(leaf.value) for leaf in yielded(self.plans())]

    def params(self) -> list[Param]:
        """A param for each carried value, named after where it is held."""
        places = [(name.removeprefix("$"), plan) for name, plan in self.names.items()]
        for (key, position), plan in self.items.items():
            places.append((re.sub(r"\W+", "_", self.path(key, position)).strip("_"), plan))
        params: list[Param] = []
        seen: set[Yielded] = set()
        for name, plan in places:
            leaves = [leaf for leaf in yielded([plan]) if leaf not in seen]
            seen.update(leaves)
            many = len(leaves) > 1
            for i, leaf in enumerate(leaves):
                ty = handle(leaf.value).ty  # type: ignore[union-attr]
                params.append(Param(f"{name}_{i}" if many else name, ty))
        return params

    def path(self, key: int, position: int) -> str:
        return self.heap.objects[key].item(position)

    def enter(self, operands: Sequence[Operand], frame: FrameType) -> tuple[Any, ...]:
        """The names' values with these operands for what is carried; objects are changed in
        place."""
        assembly = Assembly(dict(zip(yielded(self.plans()), operands)))
        self.place(assembly)
        values = tuple(assembly.build(plan) for plan in self.names.values())
        self.head = [(plan, Held(v, "", read(v), False)) for plan, v in assembly.made.items()]
        self.head_moment = moment([held for _, held in self.head], frame)
        return values

    def place(self, assembly: Assembly) -> None:
        """Puts the carried items into their objects, which else hold what they did before."""
        self.heap.restore(self.heap.changed())
        for key in dict.fromkeys(key for key, _ in self.items):
            held = self.heap.objects[key]
            items = list(held.content.items)
            for position in range(len(items)):
                if (key, position) in self.items:
                    items[position] = assembly.build(self.items[key, position])
            write(held.value, Content(held.content.keys, tuple(items)))

    # -- after a trace of the body

    def ended(self, frame: FrameType) -> list[Operand] | None:
        """The carried values at the end of the body; None if more must be carried."""
        check_shared()
        after = values_of(frame, self.site.names)
        changed = self.heap.changed()
        refuse_advanced(self.heap, changed, self.moment, self.title)
        for name, new in after.items():
            old = self.before[name]
            if isinstance(old, Undefined) or isinstance(new, Undefined):
                self.unbound(name, old, new)
            else:
                self.names[name] = self.join(name, self.names[name], new)
        for key, content in changed.items():
            self.end_object(key, content)
        self.written = set(changed)
        if not self.grown:
            self.output.end(self.printed, keep=True)
            return [self.ends[leaf] for leaf in yielded(self.plans())]
        return None

    def undo(self) -> None:
        """Takes back what a trace of the body did to objects, before the next."""
        self.heap.restore(self.heap.changed())
        del (shared.get() or [])[self.shared :]
        self.output.end(self.printed, keep=False)
        self.output.begin()
        self.begin()

    def end_object(self, key: int, content: Content) -> None:
        held = self.heap.objects[key]
        if held.content.keys != content.keys:
            kind = type(held.value).__name__
            raise self.suspect(
                f"`{held.path}` ({kind}) is changed by the loop at line {self.site.line} to have"
                " other items than before a round: how many it has would depend on the run; give it"
                " all its items before the loop",
                key,
                KEYS,
            )
        for position, (old, new) in enumerate(zip(held.content.items, content.items)):
            plan = self.items.get((key, position))
            if plan is not None or old is not new:
                try:
                    joined = self.join(held.item(position), plan or Keep(old), new)
                except CompileError as error:
                    raise self.suspect(error.message, key, position) from None
                if not isinstance(joined, Keep):
                    self.items[key, position] = joined

    def join(self, path: str, plan: Plan, new: Any) -> Plan:
        """The plan of what was planned so at the head of the loop, and is `new` at its end."""
        new = plain(new)
        match plan:
            case Keep(old):
                return plan if old is new else self.grow(path, plan, plain(old), new)
            case Yielded(old):
                self.ends[plan] = self.carry(path, old, new)
                return plan
            case Rebuilt(old, parts):
                given = immutable_parts(new)
                if given is None or not same_form(old, new):
                    raise self.changed(path, repr(old), repr(new), ONE_FORM)
                pairs = enumerate(zip(parts, given[0]))
                plan.parts = [self.join(f"{path}[{i}]", a, b) for i, (a, b) in pairs]
                return plan
            case Fresh():
                return self.join_object(path, plan, new)
        raise AssertionError(plan)

    def grow(self, path: str, plan: Keep, old: Any, new: Any) -> Plan:
        """The plan of a value that was kept, where another stands at the end of the body."""
        if is_mutable(old) and is_mutable(new):
            content = self.entry(old)
            if type(old) is type(new) and content.keys == read(new).keys:
                known = self.aliases.plan(old, new)
                self.grown = True
                kept: list[Plan] = [Keep(item) for item in content.items]
                return known or self.join_object(path, Fresh(old, content.keys, kept), new)
            raise self.changed(path, repr(old), repr(new), ONE_FORM)
        parts, given = immutable_parts(old), immutable_parts(new)
        if parts and same_form(old, new):
            return self.join(path, Rebuilt(old, [Keep(part) for part in parts[0]]), new)
        if parts or given or is_mutable(old) or is_mutable(new):
            raise self.changed(path, repr(old), repr(new), ONE_FORM)
        if same(old, new):
            return plan
        if not is_dynamic(old) or not is_dynamic(new):
            raise self.changed(path, type_name(old), type_name(new))
        self.grown = True
        return Yielded(old)

    def entry(self, value: Any) -> Content:
        """What an object held before the loop."""
        held = self.heap.get(value)
        return read(value) if held is None else held.content

    def join_object(self, path: str, plan: Fresh, new: Any) -> Plan:
        """The plan of a fresh object at the head, for each object at the end one of its own."""
        old = plan.value
        known = self.aliases.plan(old, new)
        if known is not None:
            return known
        content = read(new) if is_mutable(new) else None
        if content is None or type(old) is not type(new) or content.keys != plan.keys:
            raise self.changed(path, repr(old), repr(new), ONE_FORM)
        if plan in self.visited:
            plan, self.grown = Fresh(old, plan.keys, list(plan.parts)), True
        self.visited.add(plan)
        self.aliases.add(path, old, new, plan)
        held = Held(old, path, content, False)
        for position, item in enumerate(content.items):
            plan.parts[position] = self.join(held.item(position), plan.parts[position], item)
        return plan

    def carry(self, path: str, old: Any, new: Any) -> Operand:
        wanted = handle(old).ty  # type: ignore[union-attr]
        value = handle_like(new, wanted) if is_dynamic(new) else None
        if value is None or value.ty != wanted:
            raise self.changed(path, type_name(old), type_name(new))
        return value

    def unbound(self, name: str, old: Any, new: Any) -> None:
        """A name not bound before the loop, or no longer at its end."""
        if name == RESULT and not isinstance(new, Undefined):
            self.before[name], self.names[name] = new, self.zero_plan(new)
            self.grown |= bool(yielded([self.names[name]]))
        elif not isinstance(old, Undefined) and yielded([self.names[name]]):
            assert isinstance(new, Undefined)
            raise CompileError(new.reason or f"`{name}` is not bound at the loop's end")
        elif isinstance(old, Undefined):
            self.bound_inside.add(name)

    def zero_plan(self, value: Any) -> Plan:
        """The plan of a value that is returned in the loop: zeros before any round returns."""
        value = plain(value)
        if is_dynamic(value):
            return Yielded(zero_like(value))
        parts = immutable_parts(value)
        if parts:
            return Rebuilt(value, [self.zero_plan(part) for part in parts[0]])
        if is_mutable(value) and self.heap.get(value) is None:
            content = read(value)
            return Fresh(value, content.keys, [self.zero_plan(item) for item in content.items])
        return Keep(value)

    # -- after the loop

    def result(self, operands: Sequence[Operand], frame: FrameType) -> tuple[Any, ...]:
        """The names' values after the loop; objects are changed in place."""
        rewritten = {plan for plan, held in self.head if not held.content.same(read(held.value))}
        assembly = Assembly(dict(zip(yielded(self.plans()), operands)))
        self.place(assembly)
        line = self.site.line
        values = dict.fromkeys(self.site.dead)
        for name, plan in self.names.items():
            values[name] = assembly.build(plan)
            if name in self.bound_inside and name != RESULT:
                values[name] = Undefined(
                    f"`{name}` is bound only inside the loop at line {line} (at line"
                    f" {self.site.first.get(name, line)}), which may run no time at all; bind it"
                    " before the loop"
                )
        for pair in list(self.aliases.ambiguous(frame, values)):
            if pair.plan in rewritten:
                position = [plan for plan, _ in self.head].index(pair.plan)
                suspect = Suspect(self.head_moment, position, ANYTHING)
                raise two_objects(pair.path, f"in {self.title}", suspect)
            for value in (pair.left, pair.right):
                if id(value) in self.written and self.heap.get(value):
                    position = list(self.heap.objects).index(id(value))
                    suspect = Suspect(self.moment, position, ANYTHING)
                    raise two_objects(pair.path, f"in {self.title}", suspect)
            share(pair, assembly, frame, f"after {self.title}")
        return tuple(values[name] for name in self.site.names)

    # -- errors

    @property
    def title(self) -> str:
        return f"the loop at line {self.site.line}"

    def suspect(self, message: str, key: int, item: int) -> CompileError:
        return ChangeError(message, Suspect(self.moment, list(self.heap.objects).index(key), item))

    def changed(self, name: str, old: str, new: str, advice: str = ONE_TYPE) -> CompileError:
        site = self.site
        return conflict(
            name,
            "is changed by the loop to another type",
            f"{old} before it{at_line(site.before.get(name))}",
            f"{new} at the end of its body{at_line(site.first.get(name))}",
            advice,
        )
