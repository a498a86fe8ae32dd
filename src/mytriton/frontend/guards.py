"""What a compilation read from outside its arguments, so that a change of it is noticed.

Tracing runs ordinary Python, which may read globals, closure cells, attributes of modules, classes
and objects, and items of containers. A compilation is valid as long as all of these are what they
were. In the words of PyTorch's Dynamo, each is a guard, and a launch asks whether one is violated.

Which are read is over-approximated from the code. Every function that the kernel can reach is
looked at for the names that it mentions; from the globals and cells that it reads, objects are
followed along mentioned attributes, and into containers; a function or method found on the way is
looked at in its turn, until no name is new. So it does not matter by which local name an object is
read, in which plain helper, or in which method:

    c = cfg; c.size()           names `cfg` and `size`: guards the global `cfg`, the class attribute
                                `size`, and, by the code of `size`, `self.BLOCK` and a global SCALE

The guards are taken before a trace. A kernel may not change what it did not make: guards that are
violated by the trace itself are an error, at the line that did it (`watch.py`).
"""

from __future__ import annotations

import builtins
import dis
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, EnumMeta
from functools import cached_property, partial
from types import (
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from ..errors import is_user_code
from ..language.constexpr import constexpr
from .heap import Content, is_made, kind_of, read, write

MISSING = object()
_SIMPLE = frozenset({bool, int, float, complex, str, bytes, type(None)})
_EVERY_ATTRIBUTE = frozenset({"getattr", "setattr", "hasattr", "delattr", "vars", "__dict__"})
"""Names whose mention means that attributes are read by names that the code does not show."""


def _equal(left: Any, right: Any) -> bool:
    """Whether two values are one to the compiler: the same object, or equal plain values."""
    if left is right:
        return True
    return type(left) is type(right) and type(left) in _SIMPLE and repr(left) == repr(right)


@dataclass(frozen=True)
class Entry:
    """A name in a namespace: a global, or an attribute in the dict of a module, class or object."""

    path: str
    owner: Any
    get: Callable[[str, Any], Any]
    name: str
    value: Any

    def now(self) -> Any:
        return self.get(self.name, MISSING)

    def restore(self) -> None:
        if isinstance(self.owner, type):
            type.__setattr__(self.owner, self.name, self.value)
        elif self.value is MISSING:
            self.owner.pop(self.name, None)
        else:
            self.owner[self.name] = self.value


@dataclass(frozen=True)
class Slot:
    """An attribute that is not in a dict (`__slots__`, and those of C types), or a closure cell."""

    path: str
    owner: Any
    name: str
    value: Any

    def now(self) -> Any:
        try:
            return getattr(self.owner, self.name)
        except (AttributeError, ValueError):
            return MISSING

    def restore(self) -> None:
        if self.value is MISSING:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, self.value)


@dataclass(frozen=True)
class Items:
    """What a container holds."""

    path: str
    owner: Any
    value: Content

    def now(self) -> Content:
        return read(self.owner)

    def restore(self) -> None:
        kind = kind_of(self.owner)
        if kind is not None and kind.write is not None:
            write(self.owner, self.value)


Guard = Entry | Slot | Items


@dataclass(frozen=True)
class Guards:
    """The guards of one compilation; entries are apart because a launch compares them first, by
    identity, which costs next to nothing."""

    entries: tuple[Entry, ...] = ()
    others: tuple[Slot | Items, ...] = ()
    functions: frozenset[FunctionType] = frozenset()
    """The functions that were looked at."""

    @cached_property
    def _quick(self) -> tuple[tuple[Callable[[str, Any], Any], str, Any], ...]:
        return tuple((entry.get, entry.name, entry.value) for entry in self.entries)

    def violated(self) -> str | None:
        """Where something is that is no longer what it was, if there is any."""
        for get, name, value in self._quick:
            if get(name, MISSING) is not value:
                break
        else:
            if not self.others:
                return None
        return next((guard.path for guard in self.changed()), None)

    def changed(self) -> Iterator[Guard]:
        """The violated guards."""
        return (guard for guard in (*self.entries, *self.others) if is_violated(guard))

    def restore(self) -> None:
        """Puts back what was changed."""
        for guard in list(self.changed()):
            guard.restore()


def is_violated(guard: Guard) -> bool:
    """Whether what the guard watches is no longer what it was."""
    now = guard.now()
    if isinstance(guard, Items):
        before = guard.value
        return before.keys != now.keys or not all(map(_equal, before.items, now.items))
    return not _equal(now, guard.value)


def guards_of(functions: Iterable[Any], values: Iterable[Any] = ()) -> Guards:
    """The guards of what these functions, and what they reach, may read; also of these values."""
    collector = Collector(set(), False)
    roots = list(functions)
    while True:
        known = len(collector.names), collector.every
        collector = Collector(collector.names, collector.every)
        for function in roots:
            collector.function(function)
        for value in values:
            collector.visit(value, "an argument")
        if known == (len(collector.names), collector.every):
            return collector.guards()


class Collector:
    """One walk over what code can reach, along the names that it mentions so far.

    every: some code reads attributes by names that it does not mention.
    """

    def __init__(self, names: set[str], every: bool) -> None:
        self.names, self.every = names, every
        self.found: dict[tuple[int, str], Guard] = {}
        self.functions: dict[int, FunctionType] = {}
        self.homes: set[str] = set()
        self.seen: dict[int, Any] = {}
        self.waiting: list[tuple[Any, str]] = []
        self.visiting = False

    def guards(self) -> Guards:
        every = self.found.values()
        return Guards(
            tuple(guard for guard in every if isinstance(guard, Entry)),
            tuple(guard for guard in every if not isinstance(guard, Entry)),
            frozenset(self.functions.values()),
        )

    # -- code

    def function(self, function: Any) -> None:
        """Looks at a function that is surely called, wherever its file is."""
        if isinstance(function, FunctionType):
            self.homes.add(_home(function.__code__.co_filename))
            self.look(function)

    def look(self, function: FunctionType) -> None:
        """Guards the globals and cells that a function mentions, and what it reaches by them."""
        if id(function) in self.functions:
            return
        self.functions[id(function)] = function
        codes = list(_codes(function.__code__))
        names = {name for code in codes for name in code.co_names}
        self.names |= names
        self.every |= not _EVERY_ATTRIBUTE.isdisjoint(names)
        space = function.__globals__
        # Of the names that a code mentions only these are globals; the rest are attributes.
        for name in sorted({name for code in codes for name in _globals_read(code)}):
            if name in space or hasattr(builtins, name):
                self.entry(space, name, name)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self.slot(cell, "cell_contents", name)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.visit(default, f"a default of {function.__name__}")

    def follows(self, file: str) -> bool:
        """Whether code of a file is looked at: the user's, and that of an installed library only if
        a kernel is part of it."""
        return is_user_code(file) and _home(file) in (_OWN, *self.homes)

    # -- guards

    def entry(self, space: Mapping[str, Any], name: str, path: str, owner: Any = None) -> None:
        owner = space if owner is None else owner
        if (id(owner), name) not in self.found:
            value = space.get(name, MISSING)
            self.found[id(owner), name] = Entry(path, owner, space.get, name, value)
            self.visit(value, path)

    def slot(self, owner: Any, name: str, path: str) -> None:
        if (id(owner), name) not in self.found:
            guard = Slot(path, owner, name, None)
            self.found[id(owner), name] = guard = Slot(path, owner, name, guard.now())
            self.visit(guard.value, path)

    # -- values

    def visit(self, value: Any, path: str) -> None:
        """Guards what can be reached from a value, in turn: the objects may form long chains."""
        if type(value) in _SIMPLE or value is MISSING or id(value) in self.seen:
            return
        self.seen[id(value)] = value
        self.waiting.append((value, path))
        if self.visiting:
            return
        self.visiting = True
        try:
            while self.waiting:
                self.reach(*self.waiting.pop())
        finally:
            self.visiting = False

    def reach(self, value: Any, path: str) -> None:
        """Guards what is reached from a value in one step."""
        match value:
            case ModuleType():
                self.module(value, path)
            case type():
                self.class_(value, path)
            case FunctionType():
                self.plain_function(value, path)
            case MethodType():
                self.visit(value.__func__, path)
                self.visit(value.__self__, path)
            case staticmethod() | classmethod():
                self.visit(value.__func__, path)
            case property():
                self.visit(value.fget, path)
            case partial():
                for part in (value.func, *value.args, *value.keywords.values()):
                    self.visit(part, path)
            case tuple() | frozenset():
                for position, item in enumerate(value):
                    self.visit(item, f"{path}[{position}]")
            case _:
                self.object(value, path)

    def plain_function(self, function: FunctionType, path: str) -> None:
        if self.follows(function.__code__.co_filename):
            self.look(function)
        self.visit(getattr(function, "__wrapped__", None), path)

    def module(self, module: ModuleType, path: str) -> None:
        if module is os and self.names & {"environ", "getenv"}:
            self.items(vars(os.environ)["_data"], f"{path}.environ")
        file = getattr(module, "__file__", None) or ""
        if is_user_code(file) and module.__name__ not in sys.builtin_module_names:
            for name in sorted(self.names & vars(module).keys()):
                space = vars(module)
                if self.follows(file):
                    self.entry(space, name, f"{path}.{name}")
                else:
                    guard = Entry(f"{path}.{name}", space, space.get, name, space[name])
                    self.found.setdefault((id(space), name), guard)

    def class_(self, kind: type, path: str) -> None:
        """The mentioned attributes of a class, and the methods that operators and the like call."""
        for base in kind.__mro__:
            if not self.follows_class(base):
                continue
            space = vars(base)
            for name, value in list(space.items()):
                special = name.startswith("__") and isinstance(value, FunctionType)
                if name in self.names or special or (self.every and not name.startswith("__")):
                    self.entry(space, name, f"{path}.{name}", base)
        if isinstance(kind, EnumMeta):
            self.items(kind._member_map_, path)

    def follows_class(self, kind: type) -> bool:
        """Whether a class is the user's: made by a `class` statement, and not in a library."""
        library = kind.__module__.partition(".")[0]
        return (library == "builtins" and is_made(kind)) or library not in _LIBRARIES

    def object(self, value: Any, path: str) -> None:
        """An object of a class: its class, its mentioned attributes, and its items."""
        kind = type(value)
        if isinstance(value, constexpr):
            return self.visit(value.value, path)
        if kind.__module__.partition(".")[0] == "mytriton":
            inner = getattr(value, "fn", None)
            return (
                self.function(inner) if isinstance(inner, FunctionType) else self.visit(inner, path)
            )
        self.visit(kind, path)
        self.visit(getattr(value, "__wrapped__", None), path)  # functools.cache and its like
        row = kind_of(value)
        if row is not None and row.type is not object:
            self.items(value, path)
        space = getattr(value, "__dict__", None)
        if isinstance(space, dict):
            self.attributes(value, space, path)
        for base in kind.__mro__:
            for name, found in vars(base).items():
                descriptor = isinstance(found, (MemberDescriptorType, GetSetDescriptorType))
                if descriptor and name in self.names and name != "__dict__":
                    self.slot(value, name, f"{path}.{name}")

    def attributes(self, value: Any, space: dict[str, Any], path: str) -> None:
        names = set(space) if self.every else self.names & space.keys()
        if isinstance(value, Enum):
            names |= {"_value_"}
        for name in sorted(names):
            self.entry(space, name, f"{path}.{name}")
        for base in type(value).__mro__:
            if self.follows_class(base):
                for name in self.names & vars(base).keys() - names:
                    self.entry(space, name, f"{path}.{name}")  # one that would hide the class's

    def items(self, value: Any, path: str) -> None:
        if (id(value), "[]") not in self.found:
            content = read(value)
            self.found[id(value), "[]"] = Items(path, value, content)
            self.seen[id(value)] = value
            for position, item in enumerate(content.items):
                self.visit(item, f"{path}[{position}]")


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _globals_read(code: CodeType) -> Iterator[str]:
    """The names that a code looks up among its globals."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval


_OWN = ""
_STANDARD = os.path.dirname(os.__file__) + os.sep
_LIBRARIES = sys.stdlib_module_names | {"mytriton", "numpy", "torch", "cupy"}


def _home(file: str) -> str:
    """The library that a file is of: its folder among the installed packages, the standard
    library, or, of all other files, ''."""
    for folder in ("site-packages", "dist-packages"):
        before, found, rest = file.partition(f"{os.sep}{folder}{os.sep}")
        if found:
            return before + found + rest.partition(os.sep)[0]
    return _STANDARD if file.startswith((_STANDARD, "<frozen")) else _OWN
