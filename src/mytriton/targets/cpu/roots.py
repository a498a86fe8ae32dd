"""What a loop nest does at each index: stores, writes into buffers, accumulates.

All values of an index are evaluated before anything of that index is written, so the roots of one
loop see memory as it was; they write in program order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...ir.nodes import Value
from ...ir.types import element_of, shape_of
from . import access, affine
from .addresses import address_of
from .code import Reg, const
from .lowering import Index, RootEmission
from .masks import mask_at
from .nest import Access, Nest
from .operands import type_of
from .pointwise import evaluate, fit
from .schedule.plan import Root
from .sums import Sums, accumulate, across, finished


@dataclass(frozen=True, eq=False)
class Custom(Root):
    """A root that brings its own emission: the inside of an opaque op that is a loop nest."""

    emission: RootEmission | None = None


def emission_of(nest: Nest, root: Root) -> RootEmission:
    """How a root is emitted: its own way, that of its kind, or that of its op's row."""
    if isinstance(root, Custom):
        found = root.emission
    elif root.op is None or root.kind in KINDS:
        found = KINDS[root.kind]
    else:
        found = nest.writer.lowerings.get(root.op).root
    assert found is not None, root.kind
    return found


def make_roots(nest: Nest, roots: Sequence[Root], index: Index, sums: list[Sums]) -> None:
    """Evaluates and then performs every root at an index."""
    totals = iter(sums)
    emissions = [emission_of(nest, root) for root in roots]
    ready = [way.prepare(nest, root, index) for way, root in zip(emissions, roots, strict=True)]
    for root, way, forms in zip(roots, emissions, ready, strict=True):
        marks = [len(code.lines) for code in nest.codes]
        if root.op is not None:
            nest.codes[-1].add(f"; {nest.writer.line(root.op)}")
        if root.kind == "reduce":
            accumulate(nest, next(totals), forms)
        else:
            way.perform(nest, root, index, forms)
        nest.claim(root.made_by, marks)


def _values(nest: Nest, root: Root, index: Index) -> list[Any]:
    return [
        None if operand is None else evaluate(nest, operand, fit(operand, index))
        for operand in root.values
    ]


def _store_values(nest: Nest, root: Root, index: Index) -> list[Any]:
    pointer, value, mask = root.values
    place = address_of(nest, pointer, index)
    held = evaluate(nest, value, fit(value, index))
    known = len(nest.version.bounds)
    found = mask_at(nest, mask, index, True)
    bounds = tuple(nest.version.bounds[known:])
    if nest.version.unmasked:
        nest.store_bounds[root] = bounds
    nest.note(Access("store", pointer, access.class_of(nest, place), found is not None, bounds))
    return [place, held, found]


def _store(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    place, value, mask = forms
    assert root.op is not None
    element = element_of(type_of(root.op, 1))
    access.store(nest, place, element, nest.wide(value), mask)


def _materialise(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    home = nest.targets[root]
    if root.part is None:
        offset = access.offset_in(nest, home.reshaped(root.shape), index)
    else:
        offset = const("i64", root.part.start)
        for part, step in zip(index, root.part.strides, strict=True):
            offset = affine.add(nest, offset, affine.mul(nest, part, const("i64", step)))
    kind = access.class_in(nest, home, offset)
    nest.note(Access("write", root.buffer or root.values[0], kind, False))
    access.keep(nest, home.address, home.element, offset, forms[0])


def _extract(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    assert root.op is not None
    form = forms[0]
    value = form if isinstance(form, Reg) and not form.lanes else nest.extract(nest.wide(form), 0)
    scalar = Reg(value.text, value.type, 0, 0, value.constant, value.divisor)
    nest.writer.scalars[root.op.results[0]] = scalar


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


def _accumulated(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    """What a reduction does is done by its accumulators (`make_roots`)."""


STORE = RootEmission(_store_values, _store)
REDUCE = RootEmission(_values, _accumulated)
KINDS = {
    "materialise": RootEmission(_values, _materialise),
    "extract": RootEmission(_values, _extract),
}
"""The roots that are no ops."""
