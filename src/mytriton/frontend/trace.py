"""Tracing: running a kernel's rewritten source on symbolic values.

There is no visitor of Python. The kernel runs; the tensors it computes with record what is done to
them in the current builder.

    trace(add_kernel, {"x": PointerType(F32), "n": I32, "BLOCK": 256})   →  Function
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import CompileTypeError, KernelFault
from ..ir.build import Builder, using
from ..ir.nodes import Function, Param
from ..ir.types import Type
from ..language.debug import printing
from ..language.tensor import tensor
from ..strict import refuse
from .aliases import check_shared, sharing
from .guards import Guard, Guards, guards_of, is_violated
from .inline import recording, run
from .signature import Constexpr, is_constexpr, signature
from .watch import ChangeError, Suspect, locating, moment


def trace(
    function: Callable[..., Any], arguments: Mapping[str, Any], builder: Builder | None = None
) -> Function:
    """The IR of a kernel for these arguments: an IR type for a run-time one (or a tuple of them),
    a Python value (or `Constexpr`) for a known one.

    Raises CompileError at the kernel's line.
    """
    return traced(function, arguments, builder)[0]


def traced(
    function: Callable[..., Any], arguments: Mapping[str, Any], builder: Builder | None = None
) -> tuple[Function, Guards]:
    """The IR of a kernel, and the guards under which it stays valid."""
    values = [value.value for value in arguments.values() if isinstance(value, Constexpr)]
    guards = guards_of([function], values)
    with recording() as reached:
        made = locating(lambda: _unchanging(guards, function, arguments, builder or Builder()))
    if not reached <= guards.functions:
        guards = guards_of([function, *reached], values)
    return made, guards


@dataclass(frozen=True)
class _Outside:
    """Something that the kernel did not make."""

    guard: Guard

    def differs(self, item: int) -> bool:
        return is_violated(self.guard)


def _unchanging(
    guards: Guards, function: Callable[..., Any], arguments: Mapping[str, Any], builder: Builder
) -> Function:
    """Traces, and raises if that changed anything which the kernel did not make."""
    every = (*guards.entries, *guards.others)
    number = moment([_Outside(guard) for guard in every], None)
    try:
        made = _trace(function, arguments, builder)
    except KernelFault:
        _refuse_changes(guards, number)
        raise
    _refuse_changes(guards, number)
    return made


def _refuse_changes(guards: Guards, number: int) -> None:
    if guards.violated() is None:
        return
    every = (*guards.entries, *guards.others)
    changed = next(guards.changed())
    guards.restore()
    raise ChangeError(
        f"`{changed.path}` is changed, which the kernel did not make: tracing a kernel may not"
        " change what is outside it; pass values as arguments, store results through pointers",
        Suspect(number, every.index(changed), 0),
    )


def _trace(
    function: Callable[..., Any], arguments: Mapping[str, Any], builder: Builder
) -> Function:
    if not function.__name__.isascii():
        refuse(f"the kernel's name `{function.__name__}`", "letters of ASCII")
    parameters = signature(function).parameters
    params: list[Param] = []
    given: dict[str, Any] = {}
    with using(builder) as active, sharing(), printing():
        for name, value in arguments.items():
            known = name in parameters and is_constexpr(parameters[name])
            given[name] = value if known else _symbolic(name, value, params)
            if isinstance(given[name], Constexpr):
                given[name] = given[name].value
        result = run(function, given)
        check_shared()
        if result is not None:
            raise CompileTypeError(
                f"a kernel returns nothing, but {function.__name__} returned {result!r}; store"
                " what it computes through a pointer"
            )
        return active.function(function.__name__, params)


def _symbolic(name: str, value: Any, params: list[Param]) -> Any:
    """The kernel's view of one argument; run-time parts become params."""
    if isinstance(value, Type):
        params.append(Param(name, value))
        return tensor(params[-1])
    if isinstance(value, tuple):
        parts = [_symbolic(f"{name}_{i}", part, params) for i, part in enumerate(value)]
        return getattr(type(value), "_make", tuple)(parts)
    return value.value if isinstance(value, Constexpr) else value
