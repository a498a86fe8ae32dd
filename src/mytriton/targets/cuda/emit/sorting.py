"""Sorts and histograms, in shared memory.

A sort is bitonic (Batcher, "Sorting networks and their applications", 1968): log2(n)^2 / 2 rounds
in which elements a distance apart are put in order. What is sorted are the keys with the places
they came from, which also makes it stable; the operands are then read from those places.
"""

from __future__ import annotations

from math import prod

from ....ir.nodes import Op
from ....ir.types import I32, element_of, shape_of
from ....layouts.linear import Layout, padded
from ..spelling import local_type
from .emitter import Emitter, Rule
from .linear import Register, enclosed


def sort(emitter: Emitter, op: Op) -> None:
    (key, *_) = op.operands
    assert key is not None
    axis, element, shape = op.attribute("axis"), element_of(key.ty), shape_of(key.ty)
    layout = emitter.home(op.results[0])
    whole = padded(shape)
    count, size = prod(whole), emitter.scratch.size(element)
    places = -(-count * size // 4) * 4
    held = emitter.get(key, layout)
    emitter.scratch.reserve(places + 4 * count)
    with emitter.registers(layout) as r:
        at = emitter.index(layout, r)
        emitter.scratch.write(element, 0, at, held.at(r))
        emitter.scratch.write(I32, places, at, emitter.coordinate(layout, axis, r))
    extent, inner = whole[axis], prod(whole[axis + 1 :])
    keys, order = emitter.scratch.pointer(element), emitter.scratch.pointer(I32, places)
    down = "true" if op.attribute("descending") else "false"
    facts = f"{count}, {extent}, {inner}, {shape[axis]}, {emitter.distribution.threads}"
    emitter.put(f"sort_shared<{local_type(element)}, {down}>({keys}, {order}, {facts});")
    name = emitter.fresh("order")
    from_ = emitter.array(
        name,
        "int",
        layout,
        lambda r: emitter.scratch.read(I32, places, emitter.index(layout, r)),
    )
    emitter.scratch.reading = (emitter.scratch.use,)  # sort_shared ends with a barrier
    for value, operand in zip(op.results, op.operands):
        assert operand is not None
        moved = emitter.get(operand, layout)
        kind = element_of(operand.ty)
        emitter.scratch.reserve(count * emitter.scratch.size(kind))
        with emitter.registers(layout) as r:
            emitter.scratch.write(kind, 0, emitter.index(layout, r), moved.at(r))
        emitter.scratch.share()

        def at_place(layout: Layout, r: Register) -> str:
            here = enclosed(emitter.index(layout, r))
            along = enclosed(emitter.coordinate(layout, axis, r))
            return f"{here} + ({from_.at(r)} - {along}) * {inner}"

        emitter.read(value, at_place)


def histogram(emitter: Emitter, op: Op) -> None:
    """Counts in shared memory: atomics of all threads."""
    operand, mask = op.operands
    assert operand is not None
    value, bins, shape = op.results[0], op.attribute("bins"), shape_of(operand.ty)
    layout, threads = emitter.home(operand), emitter.distribution.threads
    held = emitter.get(operand, layout)
    masks = None if mask is None else emitter.get(mask, layout)
    emitter.scratch.reserve(4 * bins)
    thread = emitter.thread
    with emitter.printer.block(f"for (int i = {thread}; i < {bins}; i += {threads})"):
        emitter.put(f"{emitter.scratch.at(I32, 0, 'i')} = 0;")
    emitter.scratch.share()
    with emitter.registers(layout) as r:
        conditions = [*emitter.valid(shape, layout, r), *emitter.owner(layout)]
        conditions += [] if masks is None else [masks.at(r)]
        signed = element_of(operand.ty).kind == "i"
        conditions += [f"{held.at(r)} >= 0"] if signed else []
        conditions.append(f"{held.at(r)} < {bins}")
        with emitter.guarded(conditions):
            emitter.put(f"atomicAdd(&{emitter.scratch.at(I32, 0, held.at(r))}, 1);")
    emitter.scratch.share()
    emitter.read(value, lambda layout, r: emitter.index(layout, r))


RULES: dict[str, Rule] = {"sort": sort, "histogram": histogram}
