"""Hidden parameters: what checks must know of a launch and the kernel's own parameters do not say.

A check adds the parameters it needs at the end of a function's own; `runtime/checked.py` gives each
its value at a launch, by its role and the parameter that it is about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.nodes import Function, Param
from ...ir.types import I64, PointerType, Type


@dataclass(frozen=True, eq=False)
class Hidden(Param):
    """A parameter that the launch provides. `role` says what it is, `of` which parameter it is
    about (None: the launch)."""

    role: str
    of: Param | None


class HiddenParams:
    """The hidden parameters of one function, made when they are first asked for."""

    def __init__(self, function: Function) -> None:
        self.names = {param.name for param in function.params}
        self.known = {(p.role, p.of): p for p in function.params if isinstance(p, Hidden)}
        self.added: list[Hidden] = []

    def get(self, role: str, of: Param | None, ty: Type = I64) -> Hidden:
        """The parameter of a role."""
        if (role, of) not in self.known:
            name = role if of is None else f"{of.name}_{role}"
            while name in self.names:
                name += "_"
            self.names.add(name)
            param = self.known[role, of] = Hidden(name, ty, role, of)
            self.added.append(param)
        return self.known[role, of]

    def bounds(self, array: Param) -> tuple[Hidden, Hidden]:
        """The address of an array's first byte and the one past its last."""
        return self.get("start", array), self.get("end", array)


def with_hidden(function: Function, change: Callable[[HiddenParams], Function]) -> Function:
    """The function that `change` makes, with the hidden parameters that it asked for."""
    hidden = HiddenParams(function)
    made = change(hidden)
    if not hidden.added:
        return made
    return Function(made.name, (*made.params, *hidden.added), made.body)


def is_array(param: Param) -> bool:
    """Whether a parameter is an array of the launch."""
    return isinstance(param.ty, PointerType) and not isinstance(param, Hidden)
