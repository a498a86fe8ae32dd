"""The plan of a region: its steps in order, and which values lie in buffers.

A block value is a function of its index and costs nothing until a *root* needs it: a store, a
reduction, a value that is materialised in a buffer (Halide's `compute_root`). Roots of one
iteration shape share a loop nest unless one needs the finished result of another.

    m = max(x); e = exp(x - m); s = sum(e); store(e / s)
    step 0: nest {reduce m}    step 1: nest {reduce s, materialise e}    step 2: nest {store e / s}

At each index of a nest every root is evaluated before any is performed, so the roots of a nest see
memory as it was before the nest at all indices that only they themselves touch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ....ir.nodes import Op, Operand, Param, Region, Value

Named = Value | Param


@dataclass(frozen=True)
class Part:
    """Where in a buffer a root writes: element (i, j, …) goes to start + i*strides[0] + …"""

    strides: tuple[int, ...]
    start: int


@dataclass(frozen=True, eq=False)
class Root:
    """One thing a loop nest does: `kind` is "store", "reduce", "materialise", "extract" or the name
    of an op that is done lane by lane.

    `values` is what is evaluated at each index of `shape`; `axis` the one that a reduction runs
    along. Of a materialise: `buffer` is the value whose buffer is written, `part` where in it (None
    for all of it, row-major), `completes` whether the buffer may be read after the nest; `slot` is
    the number of the region's result that is written instead of a buffer of this region; `reason`
    says why the value is not just evaluated again.
    """

    kind: str
    op: Op | None
    values: tuple[Operand, ...]
    shape: tuple[int, ...]
    axis: int | None = None
    buffer: Named | None = None
    part: Part | None = None
    completes: bool = False
    slot: int | None = None
    reason: str = ""

    @property
    def made_by(self) -> Op | None:
        """The op that it does, or that made what it writes; None where that is a parameter's."""
        value = self.values[0] if self.op is None and self.values else None
        return value.op if isinstance(value, Value) else self.op


@dataclass(frozen=True, eq=False)
class LoopNest:
    """Fused loops over a shape; `axis` is the one that its reductions run along; `single`: one lane
    at a time. `values` is what its roots evaluate, `reads` the buffers they read, and `cost` how
    many instructions an index takes.
    """

    shape: tuple[int, ...]
    roots: tuple[Root, ...]
    axis: int | None = None
    single: bool = False
    values: tuple[Value, ...] = ()
    reads: tuple[Named, ...] = ()
    cost: int = 0


@dataclass(frozen=True, eq=False)
class Packed:
    """A block operand, number `index`, that an op evaluates itself, in the layout that it reads.

    `layout` is "panels" (as many columns as the op holds in registers, one row after the other),
    "rows" (row-major) or "columns" (column-major: what a transpose is made of, row-major). What was
    packed in the first `places` turns of the loop around (each of as many turns as the op collects)
    is kept from program to program while the scalars `keys` are the same; with 0 places it is
    packed each time.
    """

    index: int
    value: Value
    layout: str
    keys: tuple[Named, ...] = ()
    places: int = 0


@dataclass(frozen=True, eq=False)
class Opaque:
    """An op that is emitted as a whole, over operands that lie in buffers, and the plans of its
    regions; `reads` is every buffer of this region, or of those around, that it or they read.
    `packs` are the operands that it evaluates; of a product, `turns` is for how many turns of the
    loop around it collects its operands before it adds to the accumulator.
    """

    op: Op
    bodies: tuple[Plan, ...] = ()
    reads: tuple[Named, ...] = ()
    packs: tuple[Packed, ...] = ()
    turns: int = 1


@dataclass(frozen=True, eq=False)
class Step:
    """Scalar ops, then a loop nest or an opaque op. `frees`: the buffers that nothing reads or
    writes after this step, so that their memory may be used again.
    """

    scalars: tuple[Op, ...]
    body: LoopNest | Opaque | None
    frees: tuple[Named, ...] = ()


@dataclass(frozen=True, eq=False)
class Plan:
    """The steps of a region.

    `slots` says how each block among the region's results gets into its place: by the value whose
    buffer simply is that place, or None where a root of the plan writes it. `in_place`: no step
    reads the block that a loop carried in after the one that it carries on was first written, so
    that both may share a buffer.
    """

    region: Region
    steps: tuple[Step, ...]
    slots: Mapping[int, Value | None] = field(default_factory=dict)
    in_place: Mapping[int, bool] = field(default_factory=dict)

    def inner(self) -> dict[Region, Plan]:
        """This plan and those of all regions inside, by region."""
        found = {self.region: self}
        for step in self.steps:
            if isinstance(step.body, Opaque):
                for body in step.body.bodies:
                    found |= body.inner()
        return found


def strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(step)
        step *= extent
    return tuple(reversed(steps))
