"""Binding a launch's arguments to a kernel's parameters, as Python itself would.

For each kernel a small function with the kernel's own signature is made, so defaults, keywords and
error messages are the interpreter's; it returns the values in the order of the parameters, and the
quick key of each:

    def bind(x, n, BLOCK=64):
        return (x, n, BLOCK), (
            quick[x.__class__](x),
            quick[n.__class__](n),
            BLOCK if BLOCK.__class__ is int else key_2(BLOCK),
        )
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .arguments import QUICK_KEYS
from .parameters import Parameter

KeyPart = Callable[[Any], Any]


Bind = Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]]


def binder(
    fn: Callable[..., Any], parameters: Sequence[Parameter], key_parts: Sequence[KeyPart]
) -> Bind:
    """The function of a kernel; `key_parts` gives the key of each parameter's arguments."""
    form = inspect.signature(fn)
    text = str(form.replace(parameters=_undefaulted(form), return_annotation=form.empty))
    values = "".join(f"{parameter.name}, " for parameter in parameters)
    keys = "".join(f"{_key_text(parameter)}, " for parameter in parameters)
    space: dict[str, Any] = {f"_key_{place}": part for place, part in enumerate(key_parts)}
    space |= {"_int": int, "_quick": QUICK_KEYS}
    exec(f"def bind{text}: return ({values}), ({keys})", space)
    bind: Any = space["bind"]
    bind.__defaults__, bind.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    bind.__name__ = bind.__qualname__ = fn.__name__
    return bind  # type: ignore[no-any-return]


def _key_text(parameter: Parameter) -> str:
    """A known int is its own key: all other keys of constexprs are tuples (`exact`)."""
    name, call = parameter.name, f"_key_{parameter.num}({parameter.name})"
    if parameter.is_constexpr:
        return f"{name} if {name}.__class__ is _int else {call}"
    return call if parameter.declared else f"_quick[{name}.__class__]({name})"


def _undefaulted(form: inspect.Signature) -> list[inspect.Parameter]:
    return [
        parameter.replace(annotation=parameter.empty, default=parameter.empty)
        for parameter in form.parameters.values()
    ]
