"""The checker takes every plan that the planner makes, and refuses wrong ones.

A change of a plan may happen to be as right as the plan (two independent steps swapped), so not
every change is refused; each kind says how many of its changes must be, and for those that are
taken the plan is run: it must give what the right plan gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest

from mytriton.ir.nodes import Function
from mytriton.targets.cpu import CpuKernel, module
from mytriton.targets.cpu.launch import kernel
from mytriton.targets.cpu.lower.expand import expand
from mytriton.targets.cpu.schedule.accesses import Aliases
from mytriton.targets.cpu.schedule.check import PlanError, check_plan
from mytriton.targets.cpu.schedule.plan import Plan
from mytriton.targets.cpu.schedule.planner import plan_of
from mytriton.targets.cpu.table import LOWERINGS
from mytriton.targets.memory import Buffer

from .plans import MORE, compiled
from .wrong_plans import KINDS

LEAST = {
    "steps_swapped": 8, "steps_dropped": 20, "scalars_late": 3, "roots_dropped": 6,
    "roots_doubled": 12, "nests_fused": 6, "buffers_complete_early": 1, "parts_misplaced": 5,
    "buffers_never_complete": 4, "shapes_wrong": 30, "axes_wrong": 2, "lanes_together": 15,
    "reads_forgotten": 12, "in_place_anyway": 1, "slots_wrong": 3, "inner_plans_lost": 2,
    "buffers_freed_early": 4, "buffers_freed_twice": 4, "packs_wrong": 6,
}  # fmt: skip


@pytest.fixture(scope="module")
def functions() -> dict[str, tuple[Function, tuple[object, ...]]]:
    """The expanded functions of `plans.MORE`, and the arguments of each."""
    with compiled() as found:
        for one, arguments, constexprs in MORE:
            one.clear_cache()
            one[(1,)](*arguments, **constexprs)
    given = {one.fn.__name__: arguments for one, arguments, _ in MORE}
    return {name: (expand(function), given[name]) for name, (function, _) in found.items()}


def refused(function: Function, plan: Plan) -> bool:
    try:
        check_plan(plan, Aliases(function, False, LOWERINGS))
    except PlanError:
        return True
    return False


def left(function: Function, plan: Plan, arguments: tuple[object, ...]) -> list[bytes]:
    """What a run of the function by a plan leaves in its arrays."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    given = [
        Buffer(p.ty, a.ctypes.data, a.nbytes, a) if isinstance(a, np.ndarray) else a
        for p, a in zip(function.params, copies)
    ]
    planned = patch.object(module, "plan_of", lambda *_: plan)
    with planned, patch.object(kernel, "expand", lambda expanded: expanded):
        CpuKernel(function, False).launch((1, 1, 1), given)
    return [a.tobytes() for a in copies if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_plans_are_refused(kind: str, functions: dict[str, tuple[Function, object]]) -> None:
    count = 0
    for function, arguments in functions.values():
        right = plan_of(function, False, LOWERINGS)
        assert not refused(function, right)
        for what, wrong in KINDS[kind](right):
            if refused(function, wrong):
                count += 1
            else:
                same = left(function, wrong, arguments) == left(function, right, arguments)
                assert same, f"{function.name}, {what}: taken, and it computes something else"
    assert count >= LEAST[kind]


def test_at_least_sixty_wrong_plans_are_planted() -> None:
    assert sum(LEAST.values()) >= 60 and set(LEAST) == set(KINDS)


def test_iterators_of_wrong_plans_are_lazy(functions: dict[str, tuple[Function, object]]) -> None:
    function, _ = next(iter(functions.values()))
    assert isinstance(KINDS["steps_swapped"](plan_of(function, False, LOWERINGS)), Iterator)
