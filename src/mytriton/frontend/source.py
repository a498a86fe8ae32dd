"""From a Python function to its rewritten twin, made once and kept.

One idea: the twin is compiled from the kernel's own file and lines and shares the kernel's globals,
defaults and closure cells, so it is the same function but for its control flow. A function whose
source cannot be had is its own twin. Read by `trace.py`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from ..errors import CompileError, Location
from .control import Control
from .rewrite import Site, rewrite_function

_TWINS: dict[CodeType, tuple[CodeType, Control] | None] = {}


def twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its control flow rewritten."""
    if not isinstance(function, FunctionType):
        return function
    code = function.__code__
    if code not in _TWINS:
        _TWINS[code] = _compile(function)
    made = _TWINS[code]
    if made is None:
        return function
    new, control = made
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    closure = tuple(CellType(control) if n == "$ctl" else cells[n] for n in new.co_freevars)
    result = FunctionType(
        new, function.__globals__, function.__name__, function.__defaults__, closure
    )
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__ = function.__qualname__
    return result


def definition(function: FunctionType) -> ast.FunctionDef | None:
    """The function's definition, at its own lines and columns; None where it cannot be had."""
    try:
        lines, start = inspect.getsourcelines(function)
        indented = lines[0][:1].isspace()
        text = "".join(["if 1:\n" if indented else "", *lines])
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    node: ast.AST = tree.body[0]
    if indented and isinstance(node, ast.If):
        node = node.body[0]
    if isinstance(node, ast.AsyncFunctionDef) and node.name == function.__name__:
        where = (Location(function.__code__.co_filename, node.lineno + start - 1, node.name),)
        raise CompileError("`async def` cannot be a kernel: use a plain `def`", where)
    if not isinstance(node, ast.FunctionDef) or node.name != function.__name__:
        return None
    ast.increment_lineno(node, start - 1 - indented)
    return node


def source(function: Callable[..., Any]) -> str:
    """The function's source text without its decorators; empty where it cannot be had."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""
    at = text.find("def ")
    return text[at:] if at >= 0 else text


def _compile(function: FunctionType) -> tuple[CodeType, Control] | None:
    node = definition(function)
    if node is None:
        return None
    code = function.__code__
    sites: list[Site] = []
    new = rewrite_function(node, sites, [0])
    new.decorator_list = []
    new.name = "$kernel"  # its own name must stay a global inside it
    _strip(new.args)
    names = [*code.co_freevars, "$ctl"]
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    factory = ast.FunctionDef("$factory", arguments, [new], [])
    if "type_params" in ast.FunctionDef._fields:
        factory.type_params = []  # type: ignore[attr-defined]
    module = ast.Module([factory], [])
    for inner in ast.walk(module):
        if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    compiled = compile(module, code.co_filename, "exec")
    made = _code(_code(compiled, "$factory"), "$kernel").replace(co_name=code.co_name)
    if hasattr(code, "co_qualname"):
        made = made.replace(co_qualname=code.co_qualname)
    return made, Control(sites, function.__name__)


def _code(outer: CodeType, name: str) -> CodeType:
    found = (c for c in outer.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return next(found)


def _strip(arguments: ast.arguments) -> None:
    """Leaves the names: defaults and annotations are the original's."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    for argument in every:
        argument.annotation = None
    # Constants stand in, so that each parameter keeps whether it has a default.
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
