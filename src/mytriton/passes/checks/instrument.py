"""The kinds of faults that a checked kernel looks for, each a pass over the traced function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.nodes import Function
from .insert import insert_checks

KINDS: dict[str, Callable[[Function], Function]] = {"bounds": insert_checks}
"""By kind, in the order in which they are applied: what a later one adds is not looked at by an
earlier one."""


def instrument(function: Function, kinds: Sequence[str]) -> Function:
    """The function with the checks of these kinds; the function itself for none."""
    for kind, check in KINDS.items():
        if kind in kinds:
            function = check(function)
    return function
