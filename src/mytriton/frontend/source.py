"""The source text of kernel functions, as it was when they were defined.

Python keeps no text of what it loaded: a file may be edited while a process runs. So `@jit` keeps
the lines of the file at once (`remember`), and the definition that is parsed from them is compiled
as it stands and compared with the function's own code before it is used.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from dis import opname
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar
from weakref import ref

from ..errors import CompileError, Location, has_text
from ..ir.recursion import deeply
from .precedence import mark_bare

T = TypeVar("T")


class ByCode(Generic[T]):
    """A mapping from code objects, by identity, that keeps none of them alive.

    Equality of code objects will not do: it ignores the file name.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[ref[CodeType], T]] = {}

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self._entries

    def __getitem__(self, code: CodeType) -> T:
        return self._entries[id(code)][1]

    def __setitem__(self, code: CodeType, value: T) -> None:
        key = id(code)
        self._entries[key] = ref(code, lambda _: self._entries.pop(key, None)), value


_LINES: ByCode[list[str]] = ByCode()


def remember(function: FunctionType) -> None:
    """Keeps the lines of the function's file as they are now."""
    _LINES[function.__code__] = _file_lines(function)


def _file_lines(function: FunctionType) -> list[str]:
    file = function.__code__.co_filename
    if not has_text(file):
        return []
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


def _block(function: FunctionType) -> list[str]:
    """The lines of the function, decorators included; empty where they cannot be had."""
    code = function.__code__
    lines = _LINES[code] if code in _LINES else _file_lines(function)
    try:
        return inspect.getblock(lines[code.co_firstlineno - 1 :])
    except (IndentationError, SyntaxError):
        return []


def source(function: Callable[..., Any]) -> str:
    """The function's source text without its decorators; empty where it cannot be had."""
    if not isinstance(function, FunctionType):
        return ""
    text = textwrap.dedent("".join(_block(function)))
    at = text.find("def ")
    return text[at:] if at >= 0 else text


def definition(function: FunctionType) -> ast.FunctionDef | None:
    """The function's definition, at its own lines and columns; None where it cannot be had.

    Raises CompileError for an `async def`, and where the text is not that of the loaded code.
    """
    node = _parse(function)
    name = function.__code__.co_name
    if isinstance(node, ast.AsyncFunctionDef) and node.name == name:
        where = (Location(function.__code__.co_filename, node.lineno, name),)
        raise CompileError("`async def` cannot be a kernel: use a plain `def`", where)
    if not isinstance(node, ast.FunctionDef) or node.name != name:
        return None
    if _loaded_as_text(function) and not _is_text_of(node, function.__code__):
        where = (Location(function.__code__.co_filename, node.lineno, name),)
        raise CompileError(
            f"the source of {name} is not the code that runs: the file was changed after it was"
            " imported; import it again",
            where,
        )
    return node


def _parse(function: FunctionType) -> ast.AST | None:
    lines = _block(function)
    indented = "".join(lines[:1])[:1].isspace()
    text = "".join(["if 1:\n" if indented else "", *lines])
    try:
        tree = deeply(lambda: ast.parse(text))
    except SyntaxError:
        return None
    mark_bare(tree, text)
    if not tree.body:
        return None
    node: ast.AST = tree.body[0]
    if indented and isinstance(node, ast.If):
        node = node.body[0]
    ast.increment_lineno(node, function.__code__.co_firstlineno - 1 - indented)
    return node


def _loaded_as_text(function: FunctionType) -> bool:
    """Whether Python itself compiled the function from its file: other loaders may change the
    tree, as pytest's does for `assert`."""
    module = sys.modules.get(function.__module__)
    loader = getattr(module, "__loader__", None)
    return type(loader) is SourceFileLoader and vars(module) is function.__globals__


def _is_text_of(node: ast.FunctionDef, code: CodeType) -> bool:
    """Whether the definition compiles to the code."""
    if any(name.startswith("_") and "__" in name for name in code.co_names):
        return True  # maybe mangled by a class around it
    # Under another name: in the function around it, its own would hide the global of that name.
    bare = ast.FunctionDef("$text", node.args, node.body, [])
    ast.copy_location(bare, node)
    made = compile_in(bare, code)
    return list(_fingerprint(made)) == list(_fingerprint(code))


_CALL_FORMS = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL"})
_WITH_ARGUMENT = frozenset({"BINARY_OP", "COMPARE_OP", "LOAD_CONST", "LOAD_FAST", "STORE_FAST"})


def _fingerprint(code: CodeType) -> Iterator[Any]:
    """What tells the code of one text from that of another: its instructions, but for the form of
    calls, which depends on whether the module around it imports the name; its names and constants.
    """
    for position in range(0, len(code.co_code), 2):
        name = opname[code.co_code[position]]
        if name in _WITH_ARGUMENT:
            yield name, code.co_code[position + 1]
        elif name not in _CALL_FORMS:
            yield "LOAD_ATTR" if name == "LOAD_METHOD" else name
    yield code.co_names
    yield code.co_varnames
    yield code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _fingerprint(constant)
        elif isinstance(constant, frozenset):
            yield sorted(map(repr, constant))
        elif "<locals>" not in (text := repr(constant)):  # the qualified name of an inner class
            yield text


def compile_in(node: ast.FunctionDef, code: CodeType, more_names: tuple[str, ...] = ()) -> CodeType:
    """The definition compiled for the place of `code`: its file, and its free names (and more) as
    names of a function around it."""
    names = [*code.co_freevars, *more_names]
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    factory = ast.FunctionDef("$factory", arguments, [node], [])
    for function in (factory, node):
        if "type_params" in ast.FunctionDef._fields and not hasattr(function, "type_params"):
            function.type_params = []  # type: ignore[attr-defined]
    module = ast.Module([factory], [])
    for inner in ast.walk(module):
        if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    flags = code.co_flags & _FUTURE_FLAGS
    compiled: CodeType = deeply(
        lambda: compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    )
    return _inner(_inner(compiled, "$factory"), node.name)


_FUTURE_FLAGS: int = __future__.annotations.compiler_flag


def _inner(outer: CodeType, name: str) -> CodeType:
    found = (c for c in outer.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return next(found)
