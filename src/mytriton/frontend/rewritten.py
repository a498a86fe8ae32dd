"""From a Python function to its rewritten form, made once for each code object.

The rewritten function is compiled under the kernel's own file and lines and shares the kernel's
globals, defaults and closure cells, so it is the same function but for its control flow. A function
whose source cannot be had is left as it is. Read by `inline.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from .control import Control
from .portable import check_portable
from .rewrite import Site, rewrite_function
from .source import ByCode, compile_in, definition

_REWRITTEN: ByCode[tuple[CodeType, Control] | None] = ByCode()


def rewritten(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its control flow rewritten."""
    if not isinstance(function, FunctionType):
        return function
    check_portable(function)
    code = function.__code__
    if code not in _REWRITTEN:
        _REWRITTEN[code] = _rewrite(function)
    made = _REWRITTEN[code]
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


def _rewrite(function: FunctionType) -> tuple[CodeType, Control] | None:
    node = definition(function)
    if node is None:
        return None
    code = function.__code__
    sites: list[Site] = []
    new = rewrite_function(node, sites, [0])
    new.decorator_list = []
    new.name = "$kernel"  # its own name must stay a global inside it
    _strip(new.args)
    made = compile_in(new, code, ("$ctl",)).replace(co_name=code.co_name)
    if hasattr(code, "co_qualname"):
        made = made.replace(co_qualname=code.co_qualname)
    return made, Control(sites, function.__name__)


def _strip(arguments: ast.arguments) -> None:
    """Leaves the names: defaults and annotations are the original's."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    for argument in every:
        argument.annotation = None
    # Constants stand in, so that each parameter keeps whether it has a default.
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
