"""Which axis of a nest its vectors run along: the one along which its accesses lie best.

Before a nest is emitted, each of its accesses gets the stride that it has along each axis of the
nest (`passes/strides`), and each axis a cost, in vector instructions an element:

    x + r * 64 + c, stored at out + c * 64 + r

              axis 0 (r)                  axis 1 (c)
    load      strided: a gather           contiguous
    store     contiguous                  strided: a scatter, dearer than a gather

so vectors run along axis 0. A stride that only the run will tell is taken to be 1 along the last
axis, as kernels that are given row-major arrays expect, and is tested in front of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...ir.nodes import Op, Operand, Param, Value
from ...ir.types import shape_of
from ...passes.strides import ONE, ZERO, Stride, StrideAnalysis, Strides
from .lowering import Lowerings
from .pointwise import only_ones_move
from .schedule.plan import LoopNest, Root, strides

Axes = tuple[int | None, ...]
"""For each axis of a value the axis of the nest that it runs along; None: it stays."""


@dataclass(frozen=True, eq=False)
class StridedAccess:
    """One access of a nest and its stride along each axis of the nest: `verb` is "load" or "store"
    of memory, "read" or "write" of a buffer; `place` is the pointer, or what the buffer holds.
    """

    verb: str
    place: Operand
    strides: Strides

    def may_be_contiguous(self, axis: int) -> bool:
        """Whether the stride along an axis is 1, or only the run will tell and no other is 1."""
        step = self.strides[axis]
        return step == ONE or (step is not None and step.runtime and ONE not in self.strides)

    def cost(self, axis: int, last: bool, lanes: int) -> float:
        """Instructions an element, with so many lanes along the axis."""
        step = self.strides[axis]
        if step == ZERO:
            return ONE_ADDRESS / lanes
        if step == ONE or (last and self.may_be_contiguous(axis)):
            return 1 / lanes
        return MANY_ADDRESSES[self.verb]


ONE_ADDRESS = 0.5
MANY_ADDRESSES = {"load": 0.6, "read": 0.5, "store": 1.2, "write": 1.0}
"""An element of a gather or scatter, in instructions: what AVX-512 machines take, roughly."""
ACROSS = 8
"""The instructions that combine the lanes of an accumulator."""
ADVANTAGE = 0.8
"""Another axis than the last must cost less than this part of what the last one does."""


def lane_axis(nest: LoopNest, accesses: Sequence[StridedAccess], vector_lanes: int) -> int:
    """The axis of the lanes: the cheapest that is long, the last of equal ones."""
    long = [axis for axis, extent in enumerate(nest.shape) if extent > 1]
    if len(long) < 2 or nest.single or not accesses:
        return long[-1] if long else len(nest.shape) - 1
    best = long[-1]
    least = _cost(nest, accesses, best, True, vector_lanes) * ADVANTAGE
    for axis in long[:-1]:
        cost = _cost(nest, accesses, axis, False, vector_lanes)
        if cost < least:
            best, least = axis, cost
    return best


def _cost(
    nest: LoopNest, accesses: Sequence[StridedAccess], axis: int, last: bool, vector_lanes: int
) -> float:
    extent = nest.shape[axis]
    lanes = min(vector_lanes, 1 << (extent - 1).bit_length())
    total = sum(access.cost(axis, last, lanes) for access in accesses) + nest.cost / lanes
    if nest.axis == axis:
        total += ACROSS * sum(root.kind == "reduce" for root in nest.roots) / extent
    return total * (-(-extent // lanes) * lanes / extent)


def strided_accesses(
    nest: LoopNest, lowerings: Lowerings, analysis: StrideAnalysis
) -> tuple[StridedAccess, ...]:
    """The accesses of a nest, each once for every index that it is made at."""
    return tuple(_Walk(nest, lowerings, analysis).accesses())


@dataclass(frozen=True, eq=False)
class _Walk:
    """Goes through what a nest evaluates, from its roots to its buffers."""

    nest: LoopNest
    lowerings: Lowerings
    analysis: StrideAnalysis

    def accesses(self) -> Iterator[StridedAccess]:
        own: Axes = tuple(range(len(self.nest.shape)))
        stack: list[tuple[Operand, Axes]] = []
        for root in self.nest.roots:
            stack += [(v, fitted(v, own)) for v in root.values if v is not None]
            yield from self.written(root, own)
        seen = set(stack)
        values, reads = set(self.nest.values), set(self.nest.reads)
        while stack:
            operand, axes = stack.pop()
            if not isinstance(operand, (Value, Param)):
                continue
            if operand in reads:
                yield StridedAccess("read", operand, self.along(row_major(operand), axes))
            elif isinstance(operand, Value) and operand in values:
                yield from self.read(operand.op, axes)
                below = [(v, at) for v, at in self.below(operand, axes) if (v, at) not in seen]
                seen.update(below)
                stack += below

    def written(self, root: Root, axes: Axes) -> Iterator[StridedAccess]:
        """What a root writes."""
        if root.kind == "store":
            place = root.values[0]
            yield StridedAccess("store", place, self.along(self.strides(place), axes))
        elif root.kind == "materialise":
            steps = root.part.strides if root.part else strides(root.shape)
            of_root = tuple(map(Stride, steps))
            yield StridedAccess("write", root.buffer or root.values[0], self.along(of_root, axes))

    def read(self, op: Op, axes: Axes) -> Iterator[StridedAccess]:
        """What a load reads; the buffers that ops read at other indices."""
        if op.name == "load":
            place = op.operands[0]
            yield StridedAccess("load", place, self.along(self.strides(place), axes))
        elif op.name == "gather":
            axis = op.attrs["axis"]
            steps: Strides = row_major(op.operands[0])
            steps = (*steps[:axis], None, *steps[axis + 1 :])
            yield StridedAccess("read", op.operands[0], self.along(steps, axes))
        elif op.name == "reshape" and not only_ones_move(op):
            steps = tuple(map(Stride, strides(op.attrs["shape"])))
            yield StridedAccess("read", op.operands[0], self.along(steps, axes))

    def strides(self, place: Operand) -> Strides:
        assert place is not None
        return self.analysis.of(place) if shape_of(place.ty) else ()

    def along(self, steps: Strides, axes: Axes) -> Strides:
        """The strides of a value along the axes of the nest."""
        found: list[Stride | None] = [ZERO] * len(self.nest.shape)
        for step, axis in zip(steps, axes if steps else ()):
            if axis is not None:
                known = found[axis]
                found[axis] = None if step is None or known is None else known.plus(step)
        return tuple(found)

    def below(self, value: Value, axes: Axes) -> Iterator[tuple[Operand, Axes]]:
        """The operands of a pointwise value, and the axes of the nest that theirs run along."""
        op = value.op
        special = MAPS.get(op.name)
        if special is not None:
            yield from special(op, value.index, axes)
            return
        for operand in op.operands:
            if operand is not None:
                yield operand, fitted(operand, axes)


def row_major(operand: Operand) -> Strides:
    """The strides of a buffer."""
    assert operand is not None
    return tuple(map(Stride, strides(shape_of(operand.ty))))


def fitted(operand: Operand, axes: Axes) -> Axes:
    """The axes of an operand that stretches to a value with these."""
    assert operand is not None
    shape = shape_of(operand.ty)
    if len(shape) != len(axes):
        return ()
    return tuple(None if n == 1 else axis for n, axis in zip(shape, axes))


Below = Iterator[tuple[Operand, Axes]]


def _trans(op: Op, index: int, axes: Axes) -> Below:
    order = op.attrs["order"]
    yield op.operands[0], tuple(axes[order.index(source)] for source in range(len(order)))


def _reshape(op: Op, index: int, axes: Axes) -> Below:
    operand = op.operands[0]
    assert operand is not None
    if only_ones_move(op):
        kept = iter([axis for axis, n in zip(axes, op.attrs["shape"]) if n != 1])
        yield operand, tuple(None if n == 1 else next(kept) for n in shape_of(operand.ty))


def _split(op: Op, index: int, axes: Axes) -> Below:
    yield op.operands[0], (*axes, None)


def _gather(op: Op, index: int, axes: Axes) -> Below:
    yield op.operands[1], axes


def _slice(op: Op, index: int, axes: Axes) -> Below:
    yield op.operands[0], axes


MAPS = {
    "gather": _gather,
    "reshape": _reshape,
    "slice": _slice,
    "split": _split,
    "trans": _trans,
}
"""The ops whose index differs from their operands', or that read an operand in its buffer."""
