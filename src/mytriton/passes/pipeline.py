"""What is done to a traced function before a target gets it.

`PASSES` is the table of contents of this package. Every pass takes and gives a function with
regions and keeps its meaning; with MYTRITON_CHECK=1 the verifier runs after each and names the pass
whose result it refuses.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator

from ..ir.check import check
from ..ir.nodes import Function
from .dead_code import drop_dead
from .hoist import hoist
from .order import order
from .rebuild import counting_rules
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


def explain(function: Function) -> Iterator[tuple[str, Counter[str], Function]]:
    """What each pass does: its name, how often it applied each of its rules, and its result."""
    for step in PASSES:
        with counting_rules() as rules:
            function = step(function)
        yield step.__name__, rules, function
