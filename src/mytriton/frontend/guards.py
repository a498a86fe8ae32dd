"""What compiled code took from outside its arguments, so that a change of it is noticed.

One idea: a trace records the functions it ran; the globals, attributes of modules and closure cells
that their code reads are looked at once, and compared at each launch by identity, which costs next
to nothing. Lists and dicts are compared by content. Read by `runtime/cache.py`.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..errors import is_user_code

_MISSING = object()
_SIMPLE = (bool, int, float, complex, str, bytes, type(None))


@dataclass(frozen=True)
class Captured:
    """The values read: by name from a mapping, by attribute from an object, or in a closure cell.

    `same` are compared by identity first; `mutable` hold containers and are compared by content.
    """

    same: tuple[tuple[Mapping[str, Any], str, Any], ...]
    mutable: tuple[tuple[Mapping[str, Any], str, Any], ...]
    cells: tuple[tuple[Any, str, Any], ...]

    def changed(self) -> str | None:
        """The name of something that is no longer what it was when the kernel was compiled."""
        for names, name, value in self.same:
            now = names.get(name, _MISSING)
            if now is not value and not _equal(now, value):
                return name
        for names, name, frozen in self.mutable:
            if _freeze(names.get(name, _MISSING)) != frozen:
                return name
        for cell, name, value in self.cells:
            if _freeze(_content(cell)) != value:
                return name
        return None


def _equal(left: Any, right: Any) -> bool:
    """Whether two plain values are one to the compiler."""
    return type(left) is type(right) and type(left) in _SIMPLE and repr(left) == repr(right)


def _freeze(value: Any, depth: int = 4) -> Any:
    """Containers by content, plain values with their type, all else by identity."""
    if type(value) in _SIMPLE:
        return type(value), repr(value)
    if isinstance(value, (list, tuple)) and depth:
        return type(value), tuple(_freeze(item, depth - 1) for item in value)
    if isinstance(value, dict) and depth:
        return dict, tuple((repr(key), _freeze(item, depth - 1)) for key, item in value.items())
    return _Identity(value)


@dataclass(frozen=True, eq=False)
class _Identity:
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def captured(functions: Iterable[Callable[..., Any]]) -> Captured:
    """What the code of these functions, and of the plain functions they name, reads."""
    same: dict[tuple[int, str], Any] = {}
    mutable: dict[tuple[int, str], Any] = {}
    cells: dict[int, Any] = {}
    waiting = [function for function in functions if isinstance(function, FunctionType)]
    seen = set(waiting)
    while waiting:
        function = waiting.pop()
        for names, name in _reads(function):
            value = names[name]
            content = isinstance(value, (list, dict))
            found = (names, name, _freeze(value) if content else value)
            (mutable if content else same)[id(names), name] = found
            if isinstance(value, FunctionType) and value not in seen and _is_user(value):
                seen.add(value)
                waiting.append(value)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            cells[id(cell)] = (cell, name, _freeze(_content(cell)))
    return Captured(tuple(same.values()), tuple(mutable.values()), tuple(cells.values()))


def _is_user(function: FunctionType) -> bool:
    return is_user_code(function.__code__.co_filename)


def _reads(function: FunctionType) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The globals that exist and the attributes, of modules and plain objects, the code reads."""
    names = function.__globals__
    for code in _codes(function.__code__):
        owner: Any = _MISSING
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                name = instruction.argval
                owner = names.get(name, _MISSING)
                if owner is not _MISSING:
                    yield names, name
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and owner is not _MISSING:
                held = _attributes(owner)
                if held is None or instruction.argval not in held:
                    owner = _MISSING
                    continue
                yield held, instruction.argval
                owner = held[instruction.argval]
            elif instruction.opname not in ("CACHE", "PUSH_NULL", "PRECALL"):
                owner = _MISSING


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _attributes(owner: Any) -> Mapping[str, Any] | None:
    """The attributes of a module, class or object of the user's; None for this package's own."""
    name = owner.__name__ if isinstance(owner, ModuleType) else type(owner).__module__
    if isinstance(owner, type):
        name = owner.__module__
    if str(name).partition(".")[0] in ("mytriton", "builtins", "numpy", "torch", "math"):
        return None
    return getattr(owner, "__dict__", None)
