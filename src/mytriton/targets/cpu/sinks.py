"""What a loop nest does at each index: stores, keeps, sums.

One idea: all values of an index are evaluated before anything of that index is written, so sinks of
one loop see memory as it was, and their order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.nodes import Value
from ...ir.types import element_of, shape_of
from . import access, affine
from .code import Reg, const
from .masks import mask_at
from .nest import Nest, Pointer
from .operands import type_of
from .schedule import Group, Sink
from .sums import Sums, accumulate, across, finished
from .virtual import Index, evaluate, fit, unit_of


def make_sinks(nest: Nest, group: Group, index: Index, sums: list[Sums]) -> None:
    """Evaluates and then performs every sink of the group at an index."""
    totals = iter(sums)
    ready = [PREPARE[sink.kind](nest, sink, index) for sink in group.sinks]
    for sink, forms in zip(group.sinks, ready, strict=True):
        if sink.op is not None:
            nest.codes[-1].add(f"; {nest.writer.line(sink.op)}")
        if sink.kind == "reduce":
            accumulate(nest, next(totals), forms)
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
    held = evaluate(nest, value, fit(value, index))
    known = len(nest.version.limits)
    found = mask_at(nest, mask, index, True)
    if nest.version.full:
        sink.limits = nest.version.ends[known:]
    return [place, held, found]


def _store(nest: Nest, sink: Sink, index: Index, forms: list[Any]) -> None:
    place, value, mask = forms
    assert sink.op is not None
    element = element_of(type_of(sink.op, 1))
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


def finish_sums(nest: Nest, sums: list[Sums], index: Index, lane: int | None) -> None:
    """After the loop: combines the lanes, if they were summed over, and puts the results where they
    belong.
    """
    for total in sums:
        results = finished(nest, total) if lane is None else across(nest, total)
        op = total.op
        assert op is not None
        axis = op.attrs["axis"]
        at = (*index[:axis], *index[axis + 1 :])
        for value, result in zip(op.results, results, strict=True):
            put_result(nest, value, at, result)
    sums.clear()


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
