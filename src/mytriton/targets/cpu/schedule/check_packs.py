"""Rule 8 of the checker of plans: what an op packs itself, and keeps.

1. The op is a product, and packs an operand of its own, its right one in panels or its left one in
   rows (in columns where it is a transpose), from loads of memory that no op of the function
   writes; no block in a buffer is among it.
2. What is kept depends on nothing but its keys and the function's arguments, and no program prints.
3. Turns are collected only in the body of a `for` that carries the accumulator, which nothing else
   there looks at, and of both operands.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....ir.nodes import Const, Op, Operand, Param, Region, Value, walk
from ....ir.types import shape_of
from .accesses import Aliases
from .plan import Opaque, Packed

LAYOUTS = {0: ("rows", "columns"), 1: ("panels",)}
"""The layouts that a product reads each of its operands in."""


def wrong_packs(body: Opaque, region: Region, aliases: Aliases) -> Iterator[str]:
    """What is wrong with the operands that an op packs."""
    op = body.op
    if not body.packs and body.turns == 1:
        return
    if op.name != "dot":
        yield "packs its operands and is no product"
    for packed in body.packs:
        yield from _wrong(packed, op, aliases)
    if body.turns > 1:
        yield from _wrong_turns(body, region, aliases)


def _wrong(packed: Packed, op: Op, aliases: Aliases) -> Iterator[str]:
    if op.operands[packed.index] is not packed.value:
        yield "packs another value than its operand"
    if packed.layout not in LAYOUTS.get(packed.index, ()):
        yield f"packs operand {packed.index} in {packed.layout}"
    if packed.layout == "columns" and packed.value.op.name != "trans":
        yield "packs columns of what is no transpose"
    loads, scalars = _leaves(packed.value, aliases)
    if not all(aliases.is_constant(load) for load in loads):
        yield "packs what may be written"
    arguments = aliases.function.params
    if packed.places and not scalars <= {*packed.keys, *arguments}:
        yield "keeps a block though a scalar in it is no key"
    if packed.places and any(inner.name == "print" for inner in walk(aliases.function.body)):
        yield "keeps a block though programs print"


def _wrong_turns(body: Opaque, region: Region, aliases: Aliases) -> Iterator[str]:
    acc, result = body.op.operands[-1], body.op.results[0]
    if {packed.index for packed in body.packs} != {0, 1}:
        yield "collects turns of an operand that it does not pack"
    if region not in aliases.loops or acc not in region.params:
        yield "collects turns, but adds to nothing that a loop carries"
        return
    number = region.params.index(acc) - len(region.params)
    if region.results[number] is not result:
        yield "collects turns, but the loop goes on with another value"
    for inner in walk(region):
        for operand in inner.operands:
            own = inner is body.op or (inner is region.ops[-1] and operand is result)
            if (operand is acc or operand is result) and not own:
                yield "collects turns, but the sum is used within the loop"


def _leaves(value: Operand, aliases: Aliases) -> tuple[list[Op], set[Value | Param]]:
    """The loads under a block, and the scalars that it is made of."""
    loads: list[Op] = []
    scalars: set[Value | Param] = set()
    seen: set[Operand] = set()
    stack = [value]
    while stack:
        part = stack.pop()
        if part is None or isinstance(part, Const) or part in seen:
            continue
        seen.add(part)
        if isinstance(part, Param) or not shape_of(part.ty):
            scalars.add(part)
        else:
            loads += [part.op] if part.op.name == "load" else []
            stack.extend(part.op.operands)
    return loads, scalars
