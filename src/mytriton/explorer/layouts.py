"""The layouts of the CUDA text for the document: which warp, lane and register holds each element,
and how values move from one layout to another.

A layout is its bases (`layouts/linear.py`); the page works out every element from these, as
`Layout.index` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..ir.nodes import Operand, Value
from ..ir.text import SSAPrinter
from ..layouts import picture
from ..layouts.convert import Permute, Plan, Shared, Shuffle
from ..layouts.linear import Layout
from ..layouts.swizzle import conflicts
from ..targets.cuda.emit.record import Move, Record
from ..targets.cuda.emit.scratch import access_width
from .document import HeldValue, LayoutView, MoveView
from .places import Places

PICTURE_COLUMNS = 32
"""Columns of a layout's picture as text; rows go on to `PICTURE_ROWS`."""
PICTURE_ROWS = 64


@dataclass
class Layouts:
    """Numbers layouts as they are met."""

    record: Record
    places: Places
    numbers: dict[Layout, int] = field(default_factory=dict)
    held: dict[Layout, list[HeldValue]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.printer = SSAPrinter(self.record.numbers)

    def views(self) -> tuple[tuple[LayoutView, ...], tuple[MoveView, ...]]:
        """The layouts of blocks, with the values in each, and the moves."""
        for value, layout in self.record.values:
            if layout.shape:
                self._hold(value, layout)
        moves = tuple(self._moves())
        views = tuple(_view(layout, self.held.get(layout, [])) for layout in self.numbers)
        return views, moves

    def of(self, layout: Layout) -> int:
        """The number of a layout."""
        return self.numbers.setdefault(layout, len(self.numbers))

    def _hold(self, value: Operand, layout: Layout) -> None:
        self.of(layout)
        assert value is not None
        op = value.op if isinstance(value, Value) else None
        place = -1 if op is None else self.places.of(op.where)
        text = self.printer.operand(value) if op is None else self.printer.head(op)
        held = HeldValue(self.printer.operand(value), text, str(value.ty), place)
        self.held.setdefault(layout, []).append(held)

    def _moves(self) -> Iterator[MoveView]:
        for move in self.record.moves:
            if move.source.shape:
                yield self._move(move)

    def _move(self, move: Move) -> MoveView:
        kind, words = _described(move.plan)
        view = MoveView(
            self.printer.operand(move.value),
            self.places.of(move.where),
            self.of(move.source),
            self.of(move.target),
            kind,
            words,
            move.width,
        )
        if not isinstance(move.plan, Shared):
            return view
        shared, sides = move.plan.swizzle, (move.source, move.target)
        placed = [side.mapped(shared.offset, side.shape) for side in sides]
        vectors = tuple(access_width(side, shared.vector) for side in placed)
        most = (
            conflicts(side, replace(shared, vector=vector), move.width)
            for side, vector in zip(sides, vectors)
        )
        return replace(view, offsets=shared.offsets, vectors=vectors, conflicts=tuple(most))


def _described(plan: Plan) -> tuple[str, str]:
    """What a move does, in a word and in words."""
    if isinstance(plan, Permute):
        return "permute", "each thread has what it needs, in other registers"
    if isinstance(plan, Shuffle):
        return "shuffle", "lanes of a warp exchange registers by shuffles"
    return "shared", "written to shared memory, a barrier, read back"


def _view(layout: Layout, values: list[HeldValue]) -> LayoutView:
    text = "\n".join(picture(layout, PICTURE_COLUMNS).split("\n")[: PICTURE_ROWS + 1])
    return LayoutView(layout.shape, layout.register, layout.lane, layout.warp, text, tuple(values))
