"""What a kernel was compiled for, as text: to compile it again in another process.

{"name": "add_kernel", "arguments": {"x": "*fp32", "n": "i32", "BLOCK": {"int": 64}},
 "options": {"debug": false, "num_warps": null}, "target": "cpu"}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import CompileTypeError
from ..frontend.signature import Constexpr
from ..ir.types import PointerType, ScalarType, parse_type
from ..targets import CompileOptions

OPTIONS = ("debug", "num_warps")


def to_text(
    name: str, arguments: Mapping[str, Any], options: CompileOptions, target: str | None
) -> str:
    """The text. Raises CompileTypeError for a constexpr that a text cannot hold."""
    data = {
        "name": name,
        "arguments": {key: _encode(key, value) for key, value in arguments.items()},
        "options": {key: getattr(options, key) for key in OPTIONS},
        "target": target,
    }
    return json.dumps(data)


def from_text(name: str, text: str) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """The arguments, the options and the target in a text.

    Raises CompileTypeError for a text of another kernel, or that is none.
    """
    try:
        data = json.loads(text)
        arguments = {key: _decode(value) for key, value in data["arguments"].items()}
        options = {key: data["options"][key] for key in OPTIONS}
        found, target = data["name"], data["target"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CompileTypeError(f"{name}: this is no specialization data: {error!r}") from None
    if found != name:
        raise CompileTypeError(f"{name}: the specialization data is that of {found}")
    return arguments, options, target


def _type_text(ty: ScalarType | PointerType) -> str:
    if isinstance(ty, PointerType):
        return f"*{'k' if ty.const else ''}{ty.element.name}"
    return str(ty.name)


def _encode(name: str, value: Any) -> Any:
    """A type is a text, a tuple a list, a known value {its class: its text or itself}."""
    if isinstance(value, (ScalarType, PointerType)):
        return _type_text(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return [_encode(name, part) for part in value]
    known = value.value if isinstance(value, Constexpr) else value
    if known is None or type(known) in (bool, int, str):
        return {type(known).__name__: known}
    if type(known) is float:
        return {"float": known.hex()}
    if isinstance(known, (ScalarType, PointerType)):
        return {"dtype": _type_text(known)}
    if type(known) is tuple:
        return {"tuple": [_encode(name, Constexpr(part)) for part in known]}
    raise CompileTypeError(
        f"{name}: a constexpr of type {type(known).__name__} cannot be written as text"
    )


_READ: Mapping[str, Callable[[Any], Any]] = {
    "NoneType": lambda text: None,
    "bool": bool,
    "int": int,
    "str": str,
    "float": float.fromhex,
    "dtype": parse_type,
    "tuple": lambda parts: tuple(_decode(part).value for part in parts),
}


def _decode(value: Any) -> Any:
    if isinstance(value, str):
        return _read_type(value)
    if isinstance(value, list):
        return tuple(map(_decode, value))
    ((kind, text),) = value.items()
    return Constexpr(_READ[kind](text))


def _read_type(text: str) -> Any:
    found = parse_type(text)
    if found is None:
        raise ValueError(f"{text!r} is no type")
    return found
