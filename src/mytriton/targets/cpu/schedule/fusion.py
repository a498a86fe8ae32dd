"""Which nest each root joins: the earliest one of its shape that dependence allows.

Steps are only ever appended, so a step's number never changes. The first step of a root is the
longest path to it: past the steps that make its operands, past every op that an edge of the
dependence graph puts before it (or in the step of that op, where the edge is fusible). From there
on it takes the first nest of its shape; where there is none, a new step at the end.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from ....ir.nodes import Op, Value
from .dependence import DependenceGraph
from .expressions import Expressions
from .plan import Root

MOST_ROOTS = 32
"""Stores and reductions of one nest; what it puts into buffers comes on top."""


@dataclass(eq=False)
class DraftNest:
    """A loop nest that roots may still join; `values` is what they evaluate."""

    shape: tuple[int, ...]
    single: bool
    axis: int | None = None
    roots: list[Root] = field(default_factory=list)
    values: dict[Value, None] = field(default_factory=dict)

    def takes(self, root: Root) -> bool:
        """Whether a root of this shape fits: not among lane-by-lane ops, and along one axis; and a
        loop of very many streams is slower than two, to run and to compile.
        """
        if self.single or (len(self.roots) >= MOST_ROOTS and root.op is not None):
            return False
        return None in (self.axis, root.axis) or self.axis == root.axis


@dataclass(eq=False)
class Draft:
    """A step under construction."""

    index: int
    scalars: list[Op] = field(default_factory=list)
    body: DraftNest | Op | None = None


@dataclass(frozen=True)
class Placed:
    """The step of an op; `before`: among the scalar ops, before the step's nest or opaque op."""

    step: int
    before: bool


class Fusion:
    """The steps of one region."""

    def __init__(self, graph: DependenceGraph, expressions: Expressions) -> None:
        self.graph = graph
        self.expressions = expressions
        self.steps = [Draft(0)]
        self.where: dict[Op, Placed] = {}
        """The last place of each op of the graph that has one; a load has one where it is
        evaluated.
        """
        self.evaluated: dict[Value, list[int]] = {}
        """The steps whose nests evaluate a value."""
        self.not_before: dict[Op, int] = {}
        """The first step of an op, beyond what its operands and edges say."""
        self._nests: dict[tuple[int, ...], list[int]] = {}

    def bound(self, op: Op, may_fuse: bool) -> int:
        """The first step where an op stands behind all that must come before it."""
        first = 0
        for edge in self.graph.before.get(op, ()):
            placed = self.where.get(edge.source)
            if placed is not None:
                shares = placed.before or (may_fuse and edge.fusible)
                first = max(first, placed.step + (not shares))
        return first

    def first(self, root: Root) -> int:
        """The first step whose nest may hold a root."""
        step = self.expressions.ready(root.values)
        if root.op is None:
            return step
        return max(step, self.bound(root.op, True), self.not_before.get(root.op, 0))

    def candidate(self, root: Root, single: bool = False) -> int | None:
        """The first step there is whose nest may take a root."""
        if single:
            return None
        same = self._nests.get(root.shape, [])
        for index in same[bisect_left(same, self.first(root)) :]:
            if self.nest(index).takes(root):
                return index
        return None

    def nest(self, index: int) -> DraftNest:
        body = self.steps[index].body
        assert isinstance(body, DraftNest)
        return body

    def step(self, index: int) -> Draft:
        while index >= len(self.steps):
            self.steps.append(Draft(len(self.steps)))
        return self.steps[index]

    def open_step(self, first: int) -> Draft:
        """The last step, if it may be this one and has only scalars yet; else a new one."""
        step = self.step(max(first, len(self.steps) - 1))
        return step if step.body is None else self.step(len(self.steps))

    # -- placing

    def place(self, root: Root, single: bool = False) -> int:
        """Puts a root into the first nest that may take it, or into a new one."""
        found = self.candidate(root, single)
        if found is None:
            step = self.open_step(self.first(root))
            step.body = DraftNest(root.shape, single)
            found = step.index
            self._nests.setdefault(root.shape, []).append(found)
        self.join(found, root)
        return found

    def join(self, index: int, root: Root) -> None:
        """Adds a root to a nest, and notes what it evaluates and touches."""
        nest = self.nest(index)
        nest.roots.append(root)
        nest.axis = root.axis if nest.axis is None else nest.axis
        for operand in root.values:
            for part in self.expressions.parts(operand, nest.values):
                nest.values[part] = None
                self.evaluated.setdefault(part, []).append(index)
                if part.op.name == "load":
                    self._note(part.op, index)
        if root.op is not None:
            self._note(root.op, index)

    def _note(self, op: Op, index: int) -> None:
        known = self.where.get(op)
        if known is None or known.step < index:
            self.where[op] = Placed(index, before=False)

    def add_scalar(self, op: Op) -> None:
        """Puts a scalar op where its operands and memory order allow."""
        index = max(self.expressions.ready(op.operands), self.bound(op, False))
        self.step(index).scalars.append(op)
        if op in self.graph.before:
            self.where[op] = Placed(index, before=True)
        for value in op.results:
            self.expressions.scalars[value] = index

    def add_opaque(self, op: Op, first: int) -> int:
        """Puts an opaque op into the first free step from `first` on that memory order allows."""
        index = max(first, self.bound(op, False))
        while self.step(index).body is not None:
            index += 1
        self.steps[index].body = op
        if op in self.graph.before:
            self._note(op, index)
        return index
