"""Binding a launch's arguments to a kernel's parameters, as Python itself would.

For each kernel two small functions with the kernel's own signature are made, so defaults, keywords
and error messages are the interpreter's. Every launch begins with `entry`, which hands the values
to the quick launch that the kernel did last (`quick.py`); only what that will not have goes on:

    def entry(grid, /, x=missing, n=missing, BLOCK=64, *rest, **options):
        try:
            done = kernel.quick(grid, options, x, n, BLOCK) if not rest else MISS
            return kernel.launch(grid, (x, n, BLOCK), rest, options) if done is MISS else done
        except KernelFault as error:
            raise at_kernel(error) from error.__cause__

There `bind` returns the values in the order of the parameters, and the quick key of each:

    def bind(x, n, BLOCK=64):
        return (x, n, BLOCK), (
            quick[x.__class__](x),
            quick[n.__class__](n),
            BLOCK if BLOCK.__class__ is int else key_2(BLOCK),
        )
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import KernelFault
from .arguments import QUICK_KEYS
from .parameters import Parameter
from .quick import MISS
from .tracebacks import at_kernel

if TYPE_CHECKING:
    from .jit import JITFunction

KeyPart = Callable[[Any], Any]
Bind = Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]]
Kind = inspect.Parameter
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for an argument that a launch does not give."""


def binder(
    fn: Callable[..., Any], parameters: Sequence[Parameter], key_parts: Sequence[KeyPart]
) -> Bind:
    """The function `bind` of a kernel; `key_parts` gives the key of each parameter's arguments."""
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


# -- the start of every launch


def entry(fn: Callable[..., Any], kernel: JITFunction) -> Callable[..., Any] | None:
    """The function that `kernel[grid]` calls: `entry(grid, *args, **kwargs)`; None for a function
    that takes any number of arguments.

    It accepts any arguments but two for one parameter, so it is `kernel.launch` that says what is
    missing or unknown.
    """
    form = inspect.signature(fn)
    own = list(form.parameters.values())
    if any(one.kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD) for one in own):
        return None
    names = _apart(("grid", "rest", "options", "kernel", "MISS", "done"), form.parameters)
    grid, rest, options, kernel_name, miss, done = names
    fault, error, shown = _apart(("KernelFault", "error", "at_kernel"), form.parameters)
    positional = [one.replace(annotation=Kind.empty, default=None) for one in own]
    keywords = [one for one in positional if one.kind is Kind.KEYWORD_ONLY]
    positional = positional[: len(own) - len(keywords)]
    signature = inspect.Signature(
        [
            Kind(grid, Kind.POSITIONAL_ONLY),
            *positional,
            Kind(rest, Kind.VAR_POSITIONAL),
            *keywords,
            Kind(options, Kind.VAR_KEYWORD),
        ]
    )
    values = "".join(f"{one.name}, " for one in own)
    text = f"""def entry{signature}:
    try:
        {done} = {kernel_name}.quick({grid}, {options}, {values}) if not {rest} else {miss}
        if {done} is {miss}:
            return {kernel_name}.launch({grid}, ({values}), {rest}, {options})
        return {done}
    except {fault} as {error}:
        raise {shown}({error}) from {error}.__cause__
"""
    space: dict[str, Any] = {kernel_name: kernel, miss: MISS, "__name__": __name__}
    space |= {fault: KernelFault, shown: at_kernel}
    exec(compile(text, f"<launch of {fn.__name__}>", "exec"), space)
    made: Any = space["entry"]
    defaults = {
        one.name: MISSING if one.default is Kind.empty else one.default
        for one in form.parameters.values()
    }
    made.__defaults__ = tuple(defaults[one.name] for one in positional)
    made.__kwdefaults__ = {one.name: defaults[one.name] for one in keywords}
    made.__name__ = made.__qualname__ = fn.__name__
    return made  # type: ignore[no-any-return]


def _apart(names: Sequence[str], taken: Mapping[str, Any]) -> list[str]:
    """The names, with as many underscores before them as it takes to differ from those taken."""
    longest = max(map(len, taken), default=0)
    return ["_" * max(1, longest) + name if f"_{name}" in taken else f"_{name}" for name in names]


def as_given(
    parameters: Sequence[inspect.Parameter], values: Sequence[Any], rest: Sequence[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments that bind to these values, without the missing ones."""
    first = next((place for place, value in enumerate(values) if value is MISSING), len(values))
    by_place = [p for p in parameters[:first] if p.kind is not Kind.KEYWORD_ONLY]
    named = zip(parameters[len(by_place) :], values[len(by_place) :])
    kwargs = {p.name: value for p, value in named if value is not MISSING}
    return [*values[: len(by_place)], *rest], kwargs
