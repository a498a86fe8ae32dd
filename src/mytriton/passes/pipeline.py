"""What is done to a traced function before a target gets it.

One idea: `PASSES` is the table of contents of this package. Every pass takes and gives a function
with regions and keeps its meaning; with MYTRITON_CHECK=1 the verifier runs after each and names the
pass whose result it refuses.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..ir.check import check
from ..ir.nodes import Function
from .dead_code import drop_dead
from .hoist import hoist
from .order import order
from .simplify import simplify

Pass = Callable[[Function], Function]

PASSES: tuple[Pass, ...] = (simplify, drop_dead, hoist, order)


def optimize(function: Function) -> Function:
    """The function that targets compile."""
    checking = os.environ.get("MYTRITON_CHECK") == "1"
    for step in PASSES:
        function = step(function)
        if checking:
            check(function, f"after {step.__name__}")
    return function
