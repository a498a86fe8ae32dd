"""The mutable Python objects that kernel code can reach, and what changes in them.

A kernel may hold any Python data: lists, dicts, objects with attributes, sets, iterators, and
several names of one object. When a region of the kernel changes such an object, the change belongs
to the paths through that region only. So a region takes a snapshot of every object that is
reachable from the frames of the kernel (`Heap.take`) and compares afterwards (`Heap.changed`).
No method name is looked for: what counts is what an object held before and what it holds after.

    frame:  a = b = [x, 0]     →   one object, `a`, of kind list, with items x and 0
            s = State(acc=x)   →   one object, `s`, with item `acc`

Objects are compared and restored in place, by identity, so that all names of one object go on
naming one object. `branches.py` and `loops.py` decide what becomes of the changes.
"""

from __future__ import annotations

import gc
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from ..errors import TRACE_ENTRY, is_user_code
from ..ir.triton_types import TritonType
from ..language.constexpr import constexpr
from ..language.tensor import tensor
from .jumps import RESULT
from .leaves import UNBOUND


@dataclass(frozen=True)
class Content:
    """What an object holds: items, which control flow can carry, under keys, which it cannot (a
    length, the keys of a dict, the names of attributes, the elements of a set)."""

    keys: tuple[Any, ...]
    items: tuple[Any, ...]

    def same(self, other: Content) -> bool:
        """Whether both hold the very same items under equal keys."""
        return self.keys == other.keys and all(map(operator.is_, self.items, other.items))


Part = tuple[Any, list[Any]]


@dataclass(frozen=True)
class Kind:
    """How one kind of object is read and written; one without `write` cannot be restored."""

    type: type
    read: Callable[[Any], Part]
    write: Callable[[Any, Any, list[Any]], object] | None


def _write_list(value: Any, keys: Any, items: list[Any]) -> None:
    list.__setitem__(value, slice(None), items)


def _write_dict(kind: Any, value: Any, keys: Any, items: list[Any]) -> None:
    kind.clear(value)
    kind.update(value, zip(keys, items))


def _write_deque(value: Any, keys: Any, items: list[Any]) -> None:
    deque.clear(value)
    deque.extend(value, items)


def _write_set(value: Any, keys: Any, items: list[Any]) -> None:
    set.clear(value)
    set.update(value, keys)


def _write_bytes(value: Any, keys: Any, items: list[Any]) -> None:
    bytearray.__setitem__(value, slice(None), keys)


def _write_array(value: Any, keys: Any, items: list[Any]) -> None:
    value[...] = np.frombuffer(keys, value.dtype).reshape(value.shape)


def _read_cell(value: Any) -> Part:
    try:
        return True, [value.cell_contents]
    except ValueError:
        return False, []


def _write_cell(value: Any, keys: Any, items: list[Any]) -> None:
    if keys:
        value.cell_contents = items[0]
    else:
        del value.cell_contents


def _read_generator(value: Any) -> Part:
    frame = value.gi_frame
    state = None if frame is None else frame.f_lasti
    return (state, *_identities(gc.get_referents(value))), []


def _read_iterator(value: Any) -> Part:
    """How much is left, what `itertools.count` shows, and what the iterator refers to."""
    counts = type(value).__module__ == "itertools"
    left = operator.length_hint(value, -1), repr(value) if counts else ""
    return (*left, *_identities(gc.get_referents(value))), []


def _identities(values: Iterable[Any]) -> Iterator[int]:
    return (id(value) for value in values if not isinstance(value, (FrameType, CodeType)))


KINDS = (
    Kind(list, lambda v: (list.__len__(v), list.__getitem__(v, slice(None))), _write_list),
    Kind(
        OrderedDict,
        lambda v: (tuple(OrderedDict.keys(v)), list(OrderedDict.values(v))),
        partial(_write_dict, OrderedDict),
    ),
    Kind(dict, lambda v: (tuple(dict.keys(v)), list(dict.values(v))), partial(_write_dict, dict)),
    Kind(deque, lambda v: (deque.__len__(v), list(deque.__iter__(v))), _write_deque),
    Kind(set, lambda v: (frozenset(v), []), _write_set),
    Kind(bytearray, lambda v: (bytes(v), []), _write_bytes),
    Kind(np.ndarray, lambda v: (v.tobytes(), []), _write_array),
    Kind(CellType, _read_cell, _write_cell),
    Kind(GeneratorType, _read_generator, None),
)
_ITERATOR = Kind(object, _read_iterator, None)
_BARE = Kind(object, lambda v: (None, []), lambda v, keys, items: None)

PLAIN = frozenset(
    [
        *(bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented)),
        *(range, slice, type, tensor, ModuleType, BuiltinFunctionType, CodeType, FrameType),
    ]
)
"""Types of values that hold nothing which may change."""


def is_plain(value: Any) -> bool:
    """Whether a value is no object of the user's that holds others."""
    kind = type(value)
    return (
        kind in PLAIN
        or isinstance(value, (type, TritonType))
        or (kind.__module__.partition(".")[0] == "mytriton" and not isinstance(value, tuple))
    )


def kind_of(value: Any) -> Kind | None:
    """How the object is read; None of a value that cannot change, though what it holds may."""
    if isinstance(value, (tuple, frozenset, FunctionType, MethodType, constexpr)):
        return None
    for row in KINDS:
        if isinstance(value, row.type):
            return row
    if hasattr(type(value), "__next__") and not hasattr(value, "__dict__"):
        return _ITERATOR
    return _BARE if hasattr(value, "__dict__") or _slots(type(value)) else None


def is_mutable(value: Any) -> bool:
    """Whether the value is an object that a snapshot watches."""
    return not is_plain(value) and kind_of(value) is not None


_WITHOUT_ATTRIBUTES = frozenset({list, dict, set, bytearray, deque, CellType, GeneratorType})
_HEAP_TYPE = 1 << 9
"""The flag of a class that a `class` statement made (Py_TPFLAGS_HEAPTYPE)."""


def is_made(kind: type) -> bool:
    """Whether a `class` statement made the class, not C."""
    return bool(kind.__flags__ & _HEAP_TYPE)


def _slots(kind: type) -> list[str]:
    """The attributes that instances hold by `__slots__`."""
    return [
        name
        for base in kind.__mro__
        if is_made(base)
        for name, found in vars(base).items()
        if isinstance(found, MemberDescriptorType)
    ]


def read(value: Any) -> Content:
    """What an object holds now."""
    kind = kind_of(value)
    assert kind is not None
    keys, items = kind.read(value)
    names, values = _attributes(value)
    return Content((keys, names), (*items, *values))


def _attributes(value: Any) -> tuple[tuple[str, ...], list[Any]]:
    if type(value) in _WITHOUT_ATTRIBUTES:
        return (), []
    found = dict(getattr(value, "__dict__", ()))
    for name in _slots(type(value)):
        if hasattr(value, name):
            found[name] = getattr(value, name)
    return tuple(found), list(found.values())


def write(value: Any, content: Content) -> None:
    """Makes an object hold what it held when the content was read."""
    kind = kind_of(value)
    assert kind is not None and kind.write is not None
    keys, names = content.keys
    own = len(content.items) - len(names)
    kind.write(value, keys, list(content.items[:own]))
    attributes = dict(zip(names, content.items[own:]))
    for name in _slots(type(value)):
        if name in attributes:
            object.__setattr__(value, name, attributes.pop(name))
        elif hasattr(value, name):
            object.__delattr__(value, name)
    if hasattr(value, "__dict__"):
        vars(value).clear()
        vars(value).update(attributes)


def fresh(template: Any, content: Content) -> Any:
    """A new object of the template's class that holds the content."""
    kind: Any = type(template)
    made = kind.__new__(kind)
    if isinstance(template, deque):
        made = kind(maxlen=template.maxlen)
    write(made, content)
    return made


def label(value: Any, content: Content, position: int) -> str:
    """How an item is reached from its object: `[0]`, `['key']`, `.name`."""
    keys, names = content.keys
    own = len(content.items) - len(names)
    if position >= own:
        return f".{names[position - own]}"
    if isinstance(value, dict):
        return f"[{keys[position]!r}]"
    return f"[{position}]"


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value refers to, with how it is reached."""
    kind = kind_of(value)
    if kind is not None:
        content = read(value)
        for position, item in enumerate(content.items):
            yield label(value, content, position), item
        if kind.write is None:
            yield from ((" (inside)", inner) for inner in gc.get_referents(value))
    elif isinstance(value, (tuple, frozenset)):
        yield from ((f"[{i}]", item) for i, item in enumerate(value))
    elif isinstance(value, constexpr):
        yield "", value.value
    elif isinstance(value, MethodType):
        yield from (("", value.__self__), ("", value.__func__))
    elif isinstance(value, FunctionType):
        yield from (("", default) for default in value.__defaults__ or ())
        yield from (("", default) for default in (value.__kwdefaults__ or {}).values())
        yield from (("", cell) for cell in value.__closure__ or ())


ANYTHING, KEYS = -1, -2
"""In the place of an item: whatever an object holds, or only its keys."""


@dataclass(frozen=True)
class Held:
    """One object as it was: how it is reached, and what it held."""

    value: Any
    path: str
    content: Content
    outer: bool
    """Whether a caller of the region's function can reach it."""

    def differs(self, item: int) -> bool:
        """Whether the object now holds something else in place of an item, or by `KEYS` other
        keys, or by `ANYTHING` anything else."""
        before, now = self.content, read(self.value)
        if item == ANYTHING:
            return not before.same(now)
        if item == KEYS or before.keys != now.keys:
            return before.keys != now.keys
        return now.items[item] is not before.items[item]

    def item(self, position: int) -> str:
        """How an item of it is reached."""
        return self.path + label(self.value, self.content, position)


class Heap:
    """The objects that were reachable at one moment, by identity, in a fixed order."""

    def __init__(self, objects: Mapping[int, Held]) -> None:
        self.objects = objects

    @classmethod
    def take(cls, frame: FrameType | None, values: Mapping[str, Any] | None = None) -> Heap:
        """A snapshot of all that the kernel's frames reach, those of its callers first; `values`
        are what names of the innermost frame are about to be bound to."""
        frames = list(kernel_frames(frame))
        cells = {name for each in frames for name in each.f_code.co_cellvars}
        objects: dict[int, Held] = {}
        for each in reversed(frames):
            given = {**_locals(each), **(values or {} if each is frame else {})}
            _reach(objects, given, each is not frame, cells)
        return cls(objects)

    def get(self, value: Any) -> Held | None:
        """The object as it was, if it was there."""
        held = self.objects.get(id(value))
        return held if held is not None and held.value is value else None

    def changed(self) -> dict[int, Content]:
        """By identity, what the objects hold that no longer hold what they did."""
        now = ((key, held, read(held.value)) for key, held in self.objects.items())
        return {key: content for key, held, content in now if not held.content.same(content)}

    def restore(self, changed: Iterable[int]) -> None:
        """Makes these objects hold again what they held."""
        for key in changed:
            write(self.objects[key].value, self.objects[key].content)


def kernel_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of kernel code, from this one out to the entry of the trace."""
    while frame is not None:
        if is_user_code(frame.f_code.co_filename):
            yield frame
        elif frame.f_code.co_name == TRACE_ENTRY:
            return
        frame = frame.f_back


def values_of(frame: FrameType, names: Iterable[str]) -> dict[str, Any]:
    """The values of names in a frame."""
    values = frame.f_locals
    return {name: values.get(name, UNBOUND) for name in names}


def _locals(frame: FrameType) -> dict[str, Any]:
    """A frame's own names; those that the rewriting made hold no data of the kernel, but for the
    value of an early return."""
    return {k: v for k, v in frame.f_locals.items() if k[0] != "$" or k == RESULT}


def _reach(
    objects: dict[int, Held], roots: Mapping[str, Any], outer: bool, cells: set[str]
) -> None:
    """Adds every object that these names reach; `cells` are names whose cells are themselves
    names of a frame."""
    seen: set[int] = set()
    waiting = [(value, name) for name, value in reversed(list(roots.items()))]
    kept = []
    while waiting:
        value, path = waiting.pop()
        if is_plain(value) or id(value) in seen or id(value) in objects:
            continue
        seen.add(id(value))
        kept.append(value)  # so that no identity is used twice
        if isinstance(value, FunctionType):
            names = value.__code__.co_freevars
            inner = zip(names, value.__closure__ or ())
            seen |= {id(cell) for name, cell in inner if name in cells or name == "$ctl"}
        if kind_of(value) is not None:
            objects[id(value)] = Held(value, path, read(value), outer)
        children = [(child, path + step) for step, child in _children(value)]
        waiting += reversed(children)
