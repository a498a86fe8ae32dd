"""Each pass, program by program: `cases/*.txt` hold the text before and after.

A file holds cases with `====` between them: a line `# pass: what holds`, the body of a kernel with
the parameters of `corpus.PARAMS`, `---->`, and the body that the pass gives. UPDATE=1 rewrites the
second bodies. Every result is verified, and means what its program means.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mytriton.ir.check import check
from mytriton.ir.nodes import Function
from mytriton.ir.text import SSAPrinter
from mytriton.passes.dead_code import drop_dead
from mytriton.passes.hoist import hoist
from mytriton.passes.order import order
from mytriton.passes.pipeline import optimize
from mytriton.passes.simplify import simplify
from tests.ir.corpus import program, same_meaning

CASES = Path(__file__).parent / "cases"
PASSES: dict[str, Callable[[Function], Function]] = {
    run.__name__: run for run in (simplify, drop_dead, hoist, order, optimize)
}
ARROW, BETWEEN = "---->\n", "====\n"


def after(before: str) -> str:
    """What the pass that a case names makes of its program."""
    step = PASSES[before[2:].split(":")[0]]
    function = check(program(before.replace("\\\n", "")))
    made = check(same_meaning(function, step))
    assert step(made) is made, "a second run finds nothing left to do"
    return SSAPrinter().print_ops(made.body.ops)


@pytest.mark.parametrize("name", sorted(file.name for file in CASES.iterdir()))
def test_each_pass_gives_what_its_file_says(
    name: str, expected: Callable[[str, str], None]
) -> None:
    cases = (CASES / name).read_text(encoding="utf-8").split(BETWEEN)
    befores = [case.split(ARROW)[0].rstrip("\n") + "\n" for case in cases]
    text = BETWEEN.join(f"{before}{ARROW}{after(before)}\n" for before in befores)
    expected(f"../passes/cases/{name}", text)
