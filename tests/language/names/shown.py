"""How a public name is shown to work: a row, a launch, or a plain check.

One idea: each is a value that `test_every_name.py` runs on interpret and cpu, and that
`tools/language_table.py` asks whether the lane rule lowers it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mytriton.errors import CompileError
from mytriton.targets import cuda
from tests.support.backends import run_on
from tests.support.block_functions import BlockFunction, check_everywhere
from tests.support.compare import Array, require_equal


@dataclass(frozen=True)
class Row:
    """A function of blocks: `body(f, *blocks)` calls the name's function `f`, and gives what
    `reference(*arrays)` gives."""

    body: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: Sequence[Array]
    rtol: float = 0.0
    atol: float = 0.0

    def show(self, f: Any) -> None:
        check_everywhere(
            lambda *blocks: self.body(f, *blocks),
            self.reference,
            self.inputs,
            rtol=self.rtol,
            atol=self.atol,
        )

    def lane_rule(self, f: Any) -> str:
        return lowered(
            lambda: cuda.generate(BlockFunction(lambda *b: self.body(f, *b), self.inputs).function)
        )


@dataclass(frozen=True)
class Launched:
    """A kernel: `expected` of its arrays by name."""

    kernel: Any
    arguments: Sequence[Any]
    expected: Mapping[str, Any]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[int, ...] = (1,)
    rtol: float = 0.0

    def show(self, f: Any) -> None:
        for target in ("interpret", "cpu"):
            got = run_on(target, self.kernel, self.grid, *self.arguments, **self.constexprs)
            for name, want in self.expected.items():
                wanted = np.asarray(want, got[name].dtype).reshape(got[name].shape)
                require_equal(got[name], wanted, f"{target}, {name}", self.rtol)

    def lane_rule(self, f: Any) -> str:
        return lowered(
            lambda: self.kernel.warmup(*self.arguments, grid=self.grid, **self.constexprs).cuda_src
        )


@dataclass(frozen=True)
class Plain:
    """A check without a kernel of its own; true on every target alike."""

    check: Callable[[], None]

    def show(self, f: Any) -> None:
        self.check()

    def lane_rule(self, f: Any) -> str:
        return "works"


Shown = Row | Launched | Plain


def lowered(generate: Callable[[], Any]) -> str:
    """Whether a launch without `num_warps` can be lowered."""
    try:
        generate()
    except CompileError as error:
        if "num_warps" in str(error) or "lane rule" in str(error):
            return "num_warps"
        raise
    return "works"
