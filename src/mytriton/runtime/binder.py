"""Binding a launch's arguments to a kernel's parameters, as Python itself would.

For each kernel a small function with the kernel's own signature is made, so defaults, keywords and
error messages are the interpreter's; it returns the values in the order of the parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def binder(fn: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """A function with the kernel's signature that returns its arguments in order."""
    form = inspect.signature(fn)
    names = list(form.parameters)
    text = str(form.replace(parameters=_undefaulted(form), return_annotation=form.empty))
    body = f"({', '.join(names)},)" if names else "()"
    space: dict[str, Any] = {}
    exec(f"def bind{text}: return {body}", space)
    bind: Any = space["bind"]
    bind.__defaults__, bind.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    bind.__name__ = bind.__qualname__ = fn.__name__
    return bind  # type: ignore[no-any-return]


def _undefaulted(form: inspect.Signature) -> list[inspect.Parameter]:
    return [
        parameter.replace(annotation=parameter.empty, default=parameter.empty)
        for parameter in form.parameters.values()
    ]
