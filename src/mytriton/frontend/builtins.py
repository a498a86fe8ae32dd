"""Python's builtins inside a kernel: the same on Python values, the language's on tensors.

One entry a builtin: `float(x)` of a Python value stays Python; of a tensor it casts.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir.build import current
from ..ir.nodes import Const
from ..ir.types import BOOL, F32, I32, I64
from ..language import library, math
from ..language.constexpr import unwrap
from ..language.promotion import cast
from ..language.tensor import tensor
from ..strict import refuse


def _any(values: Any) -> bool:
    return builtins.any(isinstance(value, tensor) for value in values)


def _fold(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """`min` and `max`: pairwise of several values, a reduction of one block."""

    def call(*args: Any, **kwargs: Any) -> Any:
        values = [unwrap(value) for value in args]
        if len(values) == 1 and isinstance(values[0], tensor):
            return getattr(library, name)(values[0], **kwargs)
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = list(values[0])
        if not _any(values):
            return function(*map(unwrap, args), **kwargs)
        pair = getattr(math, f"{name}imum")
        result = values[0]
        for value in values[1:]:
            result = pair(result, value)
        return result

    return call


def _abs(value: Any) -> Any:
    return math.abs(value) if isinstance(value, tensor) else builtins.abs(unwrap(value))


def _float(*args: Any) -> Any:
    if not args or not isinstance(args[0], tensor):
        return builtins.float(*map(unwrap, args))
    value = args[0]
    wide = value.dtype.kind == "f" and value.dtype.bits == 64
    return value if wide else tensor(cast(value.handle, F32))


def _int(*args: Any) -> Any:
    if not args or not isinstance(args[0], tensor):
        return builtins.int(*map(unwrap, args))
    value = args[0]
    if value.dtype.kind in "iu":
        return value
    wide = value.dtype.bits == 64
    return tensor(cast(value.handle, I64 if wide else I32))


def _bool(*args: Any) -> Any:
    if not args or not isinstance(args[0], tensor):
        return builtins.bool(*map(unwrap, args))
    return tensor(cast(args[0].handle, BOOL))


def _sum(values: Any, *rest: Any, **kwargs: Any) -> Any:
    if isinstance(values, tensor):
        return library.sum(values, *rest, **kwargs)
    return builtins.sum(unwrap(values), *rest, **kwargs)


def _len(value: Any) -> Any:
    return builtins.len(unwrap(value))


def _print(*args: Any, sep: str = " ", hex: bool = False, **kwargs: Any) -> None:
    """Shows the values once a program, when the kernel runs, after the program's index; ints in
    base 16 with hex. A number that is known is part of the text. With `file` it is Python's print.
    """
    builder = current()
    check_print(args)
    if kwargs.get("file") is not None:
        builtins.print(*args, sep=sep, **kwargs)
        return
    if builder.eager:
        shown = sep.join(_shown(value, hex) for value in map(unwrap, args))
        builtins.print(f"pid {builder.program_id} {shown}", **kwargs)
        return
    texts: list[str] = []
    values: list[Any] = []
    for value in map(unwrap, args):
        if isinstance(value, tensor) and (hex or not isinstance(value.handle, Const)):
            values.append(value.handle)
        elif values:
            _emit_print(values, "".join(text + sep for text in texts), hex)
            texts, values = [builtins.str(value)], []
        else:
            texts.append(builtins.str(value))
    prefix = "".join(text + sep for text in texts) if values else sep.join(texts)
    _emit_print(values, prefix, hex)


def check_print(args: Sequence[Any]) -> None:
    """In strict mode, refuses a print that is no text followed by values."""
    values = [unwrap(value) for value in args]
    if not isinstance(next(iter(values), None), str) or any(isinstance(v, str) for v in values[1:]):
        refuse("print of anything but a text and then values", 'print("x and y are", x, y)')


def _shown(value: Any, hex: bool) -> str:
    """A value of a program that runs eagerly, as the op `print` shows it."""
    known = isinstance(value, tensor) and (hex or not isinstance(value.handle, Const))
    return current().value_text(value.handle, hex) if known else builtins.str(value)


def _emit_print(values: list[Any], prefix: str, hex: bool) -> None:
    current().emit("print", values, {"prefix": prefix, "hex": builtins.bool(unwrap(hex))})


BUILTINS: Mapping[Any, Callable[..., Any]] = {
    builtins.min: _fold("min", builtins.min),
    builtins.max: _fold("max", builtins.max),
    builtins.abs: _abs,
    builtins.float: _float,
    builtins.int: _int,
    builtins.bool: _bool,
    builtins.sum: _sum,
    builtins.len: _len,
    builtins.print: _print,
}
