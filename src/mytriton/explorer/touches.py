"""A recorded launch for the document: arrays, and what each program touched of them, as runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from ..ir.nodes import Function, number
from ..ir.numeric import Array
from ..ir.text import SSAPrinter
from ..targets.memory import Buffer
from .document import AccessRecord, ArrayRecord, RunRecord, Touched
from .places import Places
from .recording import Access, Recorded

MOST_RUNS = 60_000
"""Runs that a document holds; accesses that have more are left out."""


def run_record(function: Function, recorded: Recorded, places: Places) -> RunRecord:
    """The record of a launch of a function."""
    printer, left = SSAPrinter(number(function)), MOST_RUNS
    views = {at: _view(function, recorded, at) for at, _ in _buffers(recorded)}
    views = {at: view for at, view in views.items() if prod(view.shape)}
    numbers = {at: n for n, at in enumerate(views)}
    kept: list[AccessRecord] = []
    complete = recorded.complete
    for access in recorded.accesses.values():
        if access.argument not in views:
            continue
        touched = tuple(_touched(access, views[access.argument]))
        left -= sum(len(one.runs) for one in touched)
        complete = complete and left >= 0
        if left >= 0:
            text, place = printer.head(access.op), places.of(access.op.where)
            array = numbers[access.argument]
            kept.append(AccessRecord(text, place, array, access.write, touched))
    arrays = tuple(_array(recorded, at, view) for at, view in views.items())
    programs = tuple(recorded.programs)
    return RunRecord(recorded.grid, programs, arrays, tuple(kept), complete)


@dataclass(frozen=True)
class View:
    """An array argument as its elements: numbers[k] is the row-major number of the element that
    lies k elements past the first, -1 between elements."""

    name: str
    element: str
    shape: tuple[int, ...]
    numbers: Array

    def inside(self, offsets: Array) -> Array:
        """The numbers of the elements at these offsets, without those that are none."""
        within = offsets[(offsets >= 0) & (offsets < self.numbers.size)]
        found: Array = self.numbers[within]
        return found[found >= 0]


def _view(function: Function, recorded: Recorded, at: int) -> View:
    name, buffer = function.params[at].name, recorded.launch.arguments[at]
    assert isinstance(buffer, Buffer)
    size = (buffer.nbytes or 0) // buffer.type.element.itemsize
    shape, strides = recorded.launch.shapes.get(name, ((), ()))
    if not shape or any(step < 0 for step in strides):
        shape, strides = (size,), (1,)
    offsets = np.zeros((), np.int64)
    for extent, step in zip(shape, strides):
        offsets = offsets[..., None] + np.arange(extent, dtype=np.int64) * step
    flat = offsets.reshape(-1)
    numbers = np.full(int(flat.max(initial=-1)) + 1, -1, np.int64)
    numbers[flat] = np.arange(flat.size)
    return View(name, str(buffer.type.element), shape, numbers)


def _buffers(recorded: Recorded) -> Iterator[tuple[int, Buffer]]:
    arguments = enumerate(recorded.launch.arguments)
    return ((at, argument) for at, argument in arguments if isinstance(argument, Buffer))


def _touched(access: Access, view: View) -> Iterator[Touched]:
    for program, offsets in sorted(access.touched.items()):
        elements = np.sort(view.inside(offsets))
        if elements.size:
            yield Touched(program, runs(elements))


def runs(elements: Array) -> tuple[tuple[int, int, int], ...]:
    """Ascending numbers as runs of start, count and step, each as long as it goes."""
    found, at, count = [], 0, len(elements)
    steps = np.diff(elements)
    ends = np.flatnonzero(np.diff(steps)) + 1  # where the step to the next is another
    while at < count:
        if at == count - 1:
            found.append((int(elements[at]), 1, 1))
            break
        place = int(np.searchsorted(ends, at + 1))
        last = int(ends[place]) if place < len(ends) else count - 1
        if last == at + 1 and int(steps[at]) != 1:  # two that only happen to have a distance
            last = at
        step = int(steps[at]) if last > at else 1
        found.append((int(elements[at]), last - at + 1, step))
        at = last + 1
    return tuple(found)


def _array(recorded: Recorded, at: int, view: View) -> ArrayRecord:
    """An array, with what all programs together did to it."""
    size = prod(view.shape)
    counts, writers, outside = np.zeros(size, np.int32), np.zeros(size, np.int32), 0
    stores: dict[int, list[Array]] = {}
    for access in recorded.accesses.values():
        if access.argument != at:
            continue
        for program, offsets in access.touched.items():
            elements = view.inside(offsets)
            outside += offsets.size - elements.size
            counts[elements] += 1
            if access.write and not access.op.name.startswith("atomic"):
                stores.setdefault(program, []).append(elements)
    for parts in stores.values():
        writers[np.unique(np.concatenate(parts))] += 1
    untouched, overlapping = np.flatnonzero(counts == 0), np.flatnonzero(writers > 1)
    return ArrayRecord(
        view.name,
        view.element,
        view.shape,
        outside,
        untouched.size,
        int(untouched[0]) if untouched.size else -1,
        overlapping.size,
        int(overlapping[0]) if overlapping.size else -1,
    )
