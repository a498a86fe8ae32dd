"""What strict mode refuses of a kernel's text: statements and expressions that Triton's frontend
does not know, and names that it does not let a kernel read.

Triton walks the kernel's syntax tree, so whatever node it has no rule for is refused even where it
is never executed. Here the kernel is run, and all of Python is its metalanguage; this walk finds
the difference. What values decide (shapes, dtypes) is in `language/portable.py`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ..errors import Location, is_user_code
from ..language.constexpr import constexpr
from ..language.tensor import tensor, to_tensor
from ..strict import is_strict, refuse
from .source import definition

_JIT = "write a function of its own and decorate it with @triton.jit"
_HOST = "compute it on the host and pass it as a tl.constexpr argument"
_NODES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Break: ("`break`", "loop `while` a condition holds, or mask the rest of the turns"),
    ast.Continue: ("`continue`", "put what follows under an `if`"),
    ast.Try: ("`try`", "remove it: nothing can be caught in a kernel"),
    ast.Raise: ("`raise`", "tl.static_assert(…) or tl.device_assert(…)"),
    ast.Delete: ("`del`", "remove it"),
    ast.Global: ("`global`", "pass values as arguments and return them"),
    ast.Nonlocal: ("`nonlocal`", "pass values as arguments and return them"),
    ast.Import: ("`import`", "import at the top of the module"),
    ast.ImportFrom: ("`import`", "import at the top of the module"),
    ast.Lambda: ("`lambda`", _JIT),
    ast.FunctionDef: ("a function in a function", _JIT),
    ast.AsyncFunctionDef: ("a function in a function", _JIT),
    ast.ClassDef: ("a class in a function", "write it at the top of the module"),
    ast.Dict: ("a dict", "use tuples, or names of their own"),
    ast.Set: ("a set", "use tuples"),
    ast.DictComp: ("a comprehension of a dict", "use tuples"),
    ast.SetComp: ("a comprehension of a set", "use tuples"),
    ast.GeneratorExp: ("a generator", "write a `for` loop over tl.static_range"),
    ast.Yield: ("`yield`", "return a tuple"),
    ast.YieldFrom: ("`yield`", "return a tuple"),
    ast.Match: ("`match`", "write `if` and `elif`"),
    ast.MatMult: ("`@`", "tl.dot(a, b)"),
    ast.In: ("`in`", "compare with each, joined by `or`"),
    ast.NotIn: ("`not in`", "compare with each, joined by `and`"),
}
_BUILTINS = frozenset(
    ("float", "getattr", "hasattr", "int", "isinstance", "len", "list", "max", "min", "print",
     "range")
)  # fmt: skip
"""The Python builtins that Triton lets a kernel call."""
_INSTEAD = {
    "abs": "tl.abs(x)", "sum": "tl.sum(x)", "bool": "`x != 0`", "pow": "`x ** y`",
    "enumerate": "count by tl.static_range", "zip": "index tuples under tl.static_range",
}  # fmt: skip
_CHANGING = frozenset(("append", "extend", "insert", "pop", "remove", "update", "setdefault"))
_LOOPS = (ast.For, ast.While)
_RETURN = ("`return` in a loop", "keep the result in a name and return it after the loop")

Finding = tuple[int, str, str]
"""A line, what is refused there, and the portable form."""


def check_portable(function: Callable[..., Any]) -> None:
    """In strict mode, raises StrictError for the first line of a kernel's text that Triton refuses.

    Functions of this package, and functions without a source text, are not looked at.
    """
    if not is_strict() or not isinstance(function, types.FunctionType):
        return
    code = function.__code__
    if is_user_code(code.co_filename):
        for line, what, portable in _findings(function):
            refuse(what, portable, (Location(code.co_filename, line, code.co_name),))


def check_choice(first: Any, second: Any) -> None:
    """In strict mode, refuses `first if condition else second` of two types, where the run decides
    the condition."""
    if is_strict() and all(isinstance(v, (tensor, bool, int, float)) for v in (first, second)):
        one, other = to_tensor(first).type, to_tensor(second).type
        if one != other:
            refuse(
                f"a conditional expression of {one} and {other}",
                "cast both to one type, or tl.where(condition, x, y)",
            )


@lru_cache(maxsize=1024)
def _findings(function: types.FunctionType) -> tuple[Finding, ...]:
    node = definition(function)
    if node is None:
        return ()
    found = [*_of_nodes(node), *_of_names(node, function)]
    return tuple(sorted(found, key=lambda finding: finding[0]))


def _of_nodes(function: ast.FunctionDef) -> Iterator[Finding]:
    for statement in function.body:
        for node in ast.walk(statement):
            if not isinstance(node, (ast.stmt, ast.expr)):
                continue
            operators = [op for op in ast.iter_child_nodes(node) if not hasattr(op, "lineno")]
            for part in (node, *operators):  # an operator stands at its expression's line
                if type(part) in _NODES:
                    yield node.lineno, *_NODES[type(part)]
            if type(node) in _RULES:
                yield from ((node.lineno, *found) for found in _RULES[type(node)](node))
            if isinstance(node, _LOOPS):
                inside = (inner for part in node.body for inner in ast.walk(part))
                returns = (inner for inner in inside if isinstance(inner, ast.Return))
                yield from ((inner.lineno, *_RETURN) for inner in returns)


# -- rules of single nodes

Rule = Callable[[Any], Iterator[tuple[str, str]]]


def _assign(node: ast.Assign) -> Iterator[tuple[str, str]]:
    if len(node.targets) > 1:
        yield "an assignment to several names, `a = b = …`", "assign one after the other"
    for target in ast.walk(ast.Tuple(list(node.targets))):
        if isinstance(target, ast.Starred):
            yield "an assignment to `*names`", "name every element"
    yield from _targets(node.targets)
    if isinstance(node.value, ast.JoinedStr) or isinstance(
        getattr(node.value, "value", None), (str, bytes)
    ):
        yield "a text assigned to a plain name", "annotate it, `name: tl.constexpr = …`"


def _targets(targets: list[ast.expr]) -> Iterator[tuple[str, str]]:
    for target in targets:
        if isinstance(target, ast.Subscript):
            yield "an assignment to an element", "make a new tuple, or choose by tl.where"
        elif isinstance(target, ast.Attribute):
            yield "an assignment to an attribute", "return the value"
        elif isinstance(target, (ast.Tuple, ast.List)):
            yield from _targets(target.elts)


def _loop(node: ast.For | ast.While) -> Iterator[tuple[str, str]]:
    if node.orelse:
        yield "`else` of a loop", "test the condition after the loop"


def _for(node: ast.For) -> Iterator[tuple[str, str]]:
    yield from _loop(node)
    if not isinstance(node.target, ast.Name):
        yield "a loop over several names", "index inside the loop"
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    if name not in ("range", "static_range"):
        yield (
            "a loop over something that is no range",
            "loop over range, tl.range or tl.static_range and index inside",
        )


def _comprehension(node: ast.ListComp) -> Iterator[tuple[str, str]]:
    if len(node.generators) > 1:
        yield "a comprehension of two loops", "write `for` loops"
    elif isinstance(node.generators[0].iter, ast.Call):
        yield "a comprehension over a call", "write a `for` loop over tl.static_range"


def _compare(node: ast.Compare) -> Iterator[tuple[str, str]]:
    if len(node.ops) > 1:
        yield "a chained comparison (older than 3.9)", "`(a < b) & (b < c)`"


def _call(node: ast.Call) -> Iterator[tuple[str, str]]:
    if any(keyword.arg is None for keyword in node.keywords):
        yield "`**keywords` in a call", "write each keyword"
    if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        yield f"`.{node.func.attr}(…)`: lists are tuples", "make a new tuple: `a + (x,)`"


_RULES: dict[type[ast.AST], Rule] = {
    ast.Assign: _assign,
    ast.AugAssign: lambda node: _targets([node.target]),
    ast.AnnAssign: lambda node: _targets([node.target]),
    ast.For: _for,
    ast.While: _loop,
    ast.ListComp: _comprehension,
    ast.Compare: _compare,
    ast.Call: _call,
}


# -- names


def _of_names(node: ast.FunctionDef, function: types.FunctionType) -> Iterator[Finding]:
    """The globals and cells that the body reads and that Triton does not let it read."""
    local = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
    outside: Mapping[str, Any] = {
        **function.__globals__,
        **inspect.getclosurevars(function).nonlocals,
    }
    for statement in node.body:
        for inner in ast.walk(statement):
            if not isinstance(inner, ast.Name) or not isinstance(inner.ctx, ast.Load):
                continue
            if inner.id in local:
                continue
            if inner.id in outside:
                yield from (
                    (inner.lineno, *found) for found in _global(inner.id, outside[inner.id])
                )
            elif hasattr(builtins, inner.id) and inner.id not in _BUILTINS:
                instead = _INSTEAD.get(inner.id, _HOST)
                yield inner.lineno, f"the builtin `{inner.id}`", instead


def _global(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, types.FunctionType) and is_user_code(value.__code__.co_filename):
        if not hasattr(value, "__wrapped__") and not hasattr(value, "__triton_builtin__"):
            yield f"`{name}`, a plain Python function", "decorate it with @triton.jit"
    elif not _may_be_read(value):
        yield (
            f"the global `{name}`, which is no tl.constexpr",
            f"`{name} = tl.constexpr({value!r})`, or pass it as a tl.constexpr argument",
        )


def _may_be_read(value: Any) -> bool:
    """Whether a kernel may read a global of this value in Triton."""
    allowed = (types.ModuleType, constexpr, type, types.BuiltinFunctionType, types.FunctionType)
    if isinstance(value, allowed) or hasattr(value, "fn"):
        return True
    named_tuple = isinstance(value, tuple) and hasattr(value, "_fields")
    return named_tuple or type(value).__module__.startswith("mytriton.")
