"""A kernel's signature in words, and a guess where none is given: for looking at kernels without
running them.

    x=*fp32, n=i32, BLOCK=256, DTYPE=fp16      # pointers with *, run-time types, constexpr values

A stage of a kernel depends on nothing but its parameters' types and constexpr values. A parameter
that the kernel's source uses as an address is guessed to be `*fp32`, any other `i32`.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

from ..errors import did_you_mean
from ..ir.types import F32, I32, PointerType, parse_type

ADDRESSED = re.compile(r"load|store|atomic_\w+|make_block_ptr|make_tensor_descriptor")
GUESSED_BLOCK, GUESSED_VALUE = 128, 64
"""The values of constexprs that nobody gives: of one called BLOCK…, and of any other."""
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
        name = min(unknown)
        meant = did_you_mean(name, parameters)
        raise SignatureError(
            f"no parameter {sorted(unknown)}{meant}; the kernel has ({', '.join(parameters)})"
        )
    pointers = addressed_names(fn)
    result: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name in given:
            result[name] = given[name] if name in constexprs else _runtime(name, given[name])
        elif name in constexprs:
            result[name] = _constexpr(fn, constexprs, parameter)
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


def _constexpr(fn: Callable[..., Any], constexprs: set[str], parameter: inspect.Parameter) -> Any:
    if parameter.default is not parameter.empty:
        return parameter.default
    if "BLOCK" in parameter.name.upper():
        return GUESSED_BLOCK
    raise SignatureError(
        f"the constexpr {parameter.name} has no default: give its value, as in"
        f" --sig '{ready_made(fn, constexprs)}'"
    )


def ready_made(fn: Callable[..., Any], constexprs: set[str]) -> str:
    """A signature for every parameter, to be edited: guessed types, and for a constexpr without a
    default a guessed value."""
    pointers = addressed_names(fn)
    parts = []
    for name, parameter in inspect.signature(fn).parameters.items():
        if name not in constexprs:
            parts.append(f"{name}={'*fp32' if name in pointers else 'i32'}")
        elif parameter.default is parameter.empty:
            parts.append(f"{name}={GUESSED_BLOCK if 'BLOCK' in name.upper() else GUESSED_VALUE}")
        elif isinstance(parameter.default, (bool, int, float, str)):
            parts.append(f"{name}={parameter.default!r}".replace("'", '"'))
    return ", ".join(parts)


def addressed_names(fn: Callable[..., Any], depth: int = 8) -> set[str]:
    """The names that the function's source uses as addresses: in a load, a store and their like,
    through assignments, as an argument that a function it calls uses so, or by a name that ends in
    `ptr`. depth: how deep calls are followed."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, SyntaxError):
        return set()
    names = {name for name in inspect.signature(fn).parameters if name.endswith("ptr")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ADDRESSED.fullmatch(_called(node)) and node.args:
            names.add(_leftmost(node.args[0]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and depth:
            names |= _passed_on(node, inspect.getclosurevars(fn).globals.get(node.func.id), depth)
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


def _passed_on(call: ast.Call, called: Any, depth: int) -> set[str]:
    """The names that a call hands to parameters which the called jit function uses as addresses."""
    inner = getattr(called, "fn", None)
    if not inspect.isfunction(inner):
        return set()
    addressed = addressed_names(inner, depth - 1)
    given = {**dict(zip(inspect.signature(inner).parameters, call.args))}
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return {_leftmost(value) for name, value in given.items() if name in addressed}


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _leftmost(node: ast.expr) -> str:
    """The first name of a sum: `x` of `x + a * b + c`."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.id if isinstance(node, ast.Name) else ""
