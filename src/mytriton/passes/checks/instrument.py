"""The kinds of faults that a checked kernel looks for, each a pass over the traced function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir.nodes import Function, Op
from .insert import insert_checks
from .nan import NAN
from .overflow import overflow
from .program_order import permute_programs
from .propagate import with_shadows
from .races import find_races
from .undefined import UNDEFINED


@dataclass(frozen=True)
class Instrumented:
    """A function with checks. origins: by kind, the ops that reports name by their number, from 1,
    as they stand in the function that was traced."""

    function: Function
    origins: Mapping[str, tuple[Op, ...]] = field(default_factory=dict)


Pass = Callable[[Function], tuple[Function, tuple[Op, ...]]]
PASSES: dict[str, Pass] = {
    "undefined": lambda function: with_shadows(function, UNDEFINED),
    "nan": lambda function: with_shadows(function, NAN),
    "overflow": lambda function: with_shadows(function, overflow(function)),
    "bounds": lambda function: (insert_checks(function), ()),
    "races": find_races,
    "order": permute_programs,
}
"""By kind, in the order in which they are applied. What the earlier ones add, the later ones do not
look at: it is made of ints, and accesses hidden arrays only. Races come after bounds: an access of
the words beside an array must not come before the check that the element is one of the array."""


def instrument(function: Function, kinds: Sequence[str]) -> Instrumented:
    """The function with the checks of these kinds."""
    origins: dict[str, tuple[Op, ...]] = {}
    for kind, step in PASSES.items():
        if kind in kinds:
            function, origins[kind] = step(function)
    return Instrumented(function, origins)
