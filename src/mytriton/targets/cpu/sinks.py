"""What a loop nest does at each index: stores, keeps, sums.

One idea: all values of an index are evaluated before anything of that index is written, so sinks of one loop see memory as
it was, and their order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...ir.nodes import Op, Value
from ...ir.types import element_of, shape_of
from . import access, affine
from .code import Code, Reg, const
from .combine import apply, identities
from .masks import mask_at
from .nest import Form, Nest, Pointer
from .schedule import Group, Sink
from .types import full
from .virtual import Index, evaluate, fit, unit_of


@dataclass(eq=False)
class Sums:
    """The accumulators of one reduction in one version of the lane loop: vectors, one per operand."""

    op: Op | None
    names: list[str]
    types: list[str]
    lanes: int
    starts: list[Reg]
    nexts: list[Reg] = field(default_factory=list)
    totals: list[Reg] = field(default_factory=list)
    incoming: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    def start_from(self, before: Sums | None) -> Sums:
        """Sets what the loop begins with: the identities, or what an earlier loop left."""
        self.incoming = [reg.text for reg in (before.totals if before else self.starts)]
        return self

    def head(self, code: Code, entry: str, latch: str) -> None:
        for name, type_, start, following in zip(self.names, self.types, self.incoming, self.nexts):
            whole = full(type_, self.lanes)
            code.add(f"%{name} = phi {whole} [ {start}, %{entry} ], [ {following.text}, %{latch} ]")

    def foot(self, code: Code, entry: str | None, latch: str) -> None:
        """What the sum is after the loop."""
        self.results = [following.text for following in self.nexts]
        if entry is None:
            return
        for number, (name, type_) in enumerate(zip(self.names, self.types)):
            whole, end = full(type_, self.lanes), f"%{name}.end"
            ways = f"[ {self.incoming[number]}, %{entry} ], [ {self.results[number]}, %{latch} ]"
            code.add(f"{end} = phi {whole} {ways}")
            self.results[number] = end

    def settle(self, level: int) -> None:
        self.totals = [
            Reg(text, type_, self.lanes, level) for text, type_ in zip(self.results, self.types)
        ]

    def merge(self, nest: Nest, code: Code, label: str, other: Sums, other_label: str) -> None:
        """Joins the sums of two ways through the nest."""
        for number, (mine, theirs) in enumerate(zip(self.totals, other.totals)):
            ways = f"[ {mine.text}, %{label} ], [ {theirs.text}, %{other_label} ]"
            name = nest.writer.names.fresh("sum")
            code.add(f"%{name} = phi {mine.full} {ways}")
            self.totals[number] = Reg(f"%{name}", mine.type, mine.lanes, mine.level)


def _op(total: Sums) -> Op:
    assert total.op is not None
    return total.op


def sums_of(nest: Nest, group: Group) -> list[Sums]:
    """Fresh accumulators for the group's reductions."""
    found = []
    for sink in group.sinks:
        if sink.kind == "reduce":
            assert sink.op is not None
            starts = [nest.wide(start) for start in identities(sink.op.regions[0])]
            hints = [nest.writer.names.fresh("acc") for _ in starts]
            found.append(Sums(sink.op, hints, [s.type for s in starts], nest.lanes, starts))
    return found


def make_sinks(nest: Nest, group: Group, index: Index, sums: list[Sums]) -> None:
    """Evaluates and then performs every sink of the group at an index."""
    totals = iter(sums)
    ready = [PREPARE[sink.kind](nest, sink, index) for sink in group.sinks]
    for sink, forms in zip(group.sinks, ready, strict=True):
        if sink.kind == "reduce":
            _accumulate(nest, next(totals), forms)
        else:
            PERFORM[sink.kind](nest, sink, index, forms)


def _values(nest: Nest, sink: Sink, index: Index) -> list[Any]:
    return [
        None if operand is None else evaluate(nest, operand, fit(operand, index))
        for operand in sink.values
    ]


def _store_values(nest: Nest, sink: Sink, index: Index) -> list[Any]:
    pointer, value, mask = sink.values
    place = evaluate(nest, pointer, fit(pointer, index))
    if isinstance(place, Reg):
        place = Pointer(place, None, unit_of(pointer))
    return [place, evaluate(nest, value, fit(value, index)), mask_at(nest, mask, index, True)]


def _store(nest: Nest, sink: Sink, index: Index, forms: list[Any]) -> None:
    place, value, mask = forms
    assert sink.op is not None
    element = element_of(sink.op.operands[1].ty)  # type: ignore[union-attr]
    access.store(nest, place, element, nest.wide(value), mask)


def _keep(nest: Nest, sink: Sink, index: Index, forms: list[Any]) -> None:
    home = sink.home
    assert home is not None
    if sink.place is None:
        offset = access.offset_in(nest, home.reshaped(sink.shape), index)
    else:
        steps, start = sink.place
        offset = const("i64", start)
        for part, step in zip(index, steps, strict=True):
            offset = affine.add(nest, offset, affine.mul(nest, part, const("i64", step)))
    access.keep(nest, home.address, home.element, offset, forms[0])


def _extract(nest: Nest, sink: Sink, index: Index, forms: list[Any]) -> None:
    assert sink.op is not None
    form = forms[0]
    value = form if isinstance(form, Reg) and not form.lanes else nest.extract(nest.wide(form), 0)
    scalar = Reg(value.text, value.type, 0, 0, value.constant, value.divisor)
    nest.writer.scalars[sink.op.results[0]] = scalar


def _accumulate(nest: Nest, total: Sums, forms: list[Form]) -> None:
    level = len(nest.codes) - 1
    olds = [
        Reg(f"%{name}", type_, nest.lanes, level) for name, type_ in zip(total.names, total.types)
    ]
    values = [nest.wide(form) for form in forms]
    news = [nest.wide(form) for form in apply(nest, _op(total).regions[0], [*olds, *values])]
    if nest.version.valid is not None:
        valid = nest.version.valid
        news = [nest.select("acc", valid, new, old) for new, old in zip(news, olds)]
    total.nexts = news


def finish_sums(nest: Nest, sums: list[Sums], index: Index, lane: int | None) -> None:
    """After the loop: combines the lanes, if they were summed over, and puts the results where they belong."""
    for total in sums:
        results: list[Reg] = total.totals
        if lane is not None:
            results = across(nest, total)
        op = _op(total)
        axis = op.attrs["axis"]
        at = (*index[:axis], *index[axis + 1 :])
        for value, result in zip(op.results, results, strict=True):
            put_result(nest, value, at, result)
    sums.clear()


def across(nest: Nest, total: Sums) -> list[Reg]:
    """Combines the lanes of the accumulators, half with half."""
    values, lanes = total.totals, total.lanes
    width = nest.lanes
    while lanes > 1:
        lanes //= 2
        halves = [_half(nest, value, lanes, part) for part in (0, 1) for value in values]
        nest.lanes = lanes
        values = [
            form for form in apply(nest, _op(total).regions[0], halves) if isinstance(form, Reg)
        ]
    nest.lanes = width
    return [nest.extract(value, 0) for value in values]


def _half(nest: Nest, value: Reg, lanes: int, part: int) -> Reg:
    numbers = ", ".join(f"i32 {part * lanes + lane}" for lane in range(lanes))
    text = f"shufflevector {value.typed}, {value.full} poison, <{lanes} x i32> <{numbers}>"
    return nest.put(value.level, "half", text, value.type, lanes)


def put_result(nest: Nest, value: Value, index: Index, result: Reg) -> None:
    """Binds a scalar result, or puts it at its index into the arena."""
    if not shape_of(value.ty):
        nest.writer.scalars[value] = Reg(result.text, result.type, 0, 0)
        return
    home = nest.places[value]
    offset = access.offset_in(nest, home, index)
    if result.lanes:
        access.keep(nest, home.address, home.element, offset, result)
        return
    width, nest.lanes = nest.lanes, 0
    access.keep(nest, home.address, home.element, offset, result)
    nest.lanes = width


PREPARE: dict[str, Callable[[Nest, Sink, Index], list[Any]]] = {
    "store": _store_values,
    "keep": _values,
    "extract": _values,
    "reduce": _values,
}
PERFORM: dict[str, Callable[[Nest, Sink, Index, list[Any]], None]] = {
    "store": _store,
    "keep": _keep,
    "extract": _extract,
}
