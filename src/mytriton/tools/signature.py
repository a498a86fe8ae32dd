"""A kernel's signature in words, and a guess where none is given: for looking at kernels without
running them.

    x=*fp32, n=i32, BLOCK=256, DTYPE=fp16      # pointers with *, run-time types, constexpr values

One idea: to show any stage of a kernel only its parameters' types and constexprs are needed. A
parameter that the kernel's source uses as an address is guessed to be `*fp32`, any other `i32`.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

from ..ir.types import F32, I32, PointerType, parse_type

ADDRESSED = re.compile(r"load|store|atomic_\w+|make_block_ptr|make_tensor_descriptor")
ITEM = re.compile(r"\s*(\w+)\s*[=:]\s*([^,()]+|\([^()]*\))\s*(?:,|$)")


class SignatureError(ValueError):
    """The text is not a signature of the kernel; says which part, and what is allowed."""


def parse_value(text: str) -> Any:
    """A constexpr value as Python spells it; a bare word is a string."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parse_signature(text: str) -> dict[str, Any]:
    """The types and constexpr values that a signature's text gives, by parameter name.

    Raises SignatureError at the first part that is not `name=type` or `name=value`.
    """
    given: dict[str, Any] = {}
    position = 0
    while text[position:].strip():
        item = ITEM.match(text, position)
        if item is None:
            raise SignatureError(
                f"cannot read the signature at {text[position:]!r}: "
                "write name=*fp32, name=i32 or name=256"
            )
        name, value = item[1], item[2].strip()
        given[name] = parse_type(value) or parse_value(value)
        position = item.end()
    return given


def complete(fn: Callable[..., Any], constexprs: set[str], given: dict[str, Any]) -> dict[str, Any]:
    """Every parameter's type or constexpr value: as given, by default, else guessed.

    Raises SignatureError for names the kernel has not, for words that are no type, and for
    constexprs without a value.
    """
    parameters = inspect.signature(fn).parameters
    unknown = given.keys() - parameters.keys()
    if unknown:
        raise SignatureError(f"no parameter {sorted(unknown)}; the kernel has {list(parameters)}")
    pointers = addressed_names(fn)
    result: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name in given:
            result[name] = given[name] if name in constexprs else _runtime(name, given[name])
        elif name in constexprs:
            result[name] = _constexpr(name, parameter)
        else:
            result[name] = PointerType(F32) if name in pointers else I32
    return result


def _runtime(name: str, value: Any) -> Any:
    if isinstance(value, str):
        raise SignatureError(
            f"{name}: there is no type {value!r}; write {name}=i32, {name}=fp16, {name}=*bf16 (a"
            f" pointer), or {name}=64 for a value"
        )
    return value


def _constexpr(name: str, parameter: inspect.Parameter) -> Any:
    if parameter.default is not parameter.empty:
        return parameter.default
    if "BLOCK" in name.upper():
        return 128
    raise SignatureError(f"the constexpr {name} has no default: give it, as in --sig '{name}=64'")


def addressed_names(fn: Callable[..., Any]) -> set[str]:
    """The names that the function's source uses, directly or through assignments, as addresses."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, SyntaxError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ADDRESSED.fullmatch(_called(node)) and node.args:
            names.add(_leftmost(node.args[0]))
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    while True:
        more = {
            _leftmost(node.value)
            for node in assigned
            if any(isinstance(t, ast.Name) and t.id in names for t in node.targets)
        }
        if more <= names:
            return names
        names |= more


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _leftmost(node: ast.expr) -> str:
    """The first name of a sum: `x` of `x + a * b + c`."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.id if isinstance(node, ast.Name) else ""
