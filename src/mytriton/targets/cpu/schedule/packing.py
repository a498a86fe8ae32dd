"""Which operands of a product are packed by it, straight from memory, and for how long that lasts.

An operand of `dot` that is made of loads needs no buffer of its own: the product evaluates it into
the layout that its micro-kernel reads. Where the memory is written by no op of the function, two
things follow:

- The programs of a launch that a thread runs one after the other often need the same block (the
  columns of B in a product, the keys of a head in attention). What was packed is kept, under the
  scalars that it depends on; a program that finds them unchanged does not pack again. A launch
  starts with nothing kept. Programs of one launch have no order, so none may expect to see what
  another writes to that memory.
- A loop `for k: acc = dot(a, b, acc)` may add several turns' products at once: both operands of
  the turns before are still what they were.

(Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34, 2008.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir.nodes import Const, Op, Operand, Param, Region, Value, walk
from ....ir.types import element_of, shape_of
from ....passes import loop_values
from ..types import SIZES, arena
from .accesses import Aliases
from .plan import Named, Packed

if TYPE_CHECKING:
    from .expressions import Expressions
    from .planner import Planner

KEPT_BYTES = 1 << 20
"""Bytes of packed blocks that a function keeps: they lie in a core's second cache."""
DEPTH = 256
"""Elements along K from which on reading and writing the accumulators costs little."""
LEFT, RIGHT = 0, 1


def packs_of(planner: Planner, op: Op) -> tuple[tuple[Packed, ...], int]:
    """The operands that a product packs itself, and how many turns of its loop it adds at once."""
    right = op.operands[RIGHT]
    if len(shape_of(op.types[0])) != 2 or not packable(planner.expressions, planner.aliases, right):
        return (), 1
    assert isinstance(right, Value)
    depth, columns = shape_of(right.ty)
    turns = 1
    left_too = packable(planner.expressions, planner.aliases, op.operands[LEFT])
    if left_too and accumulates_over_turns(planner.aliases, planner.region, op):
        turns = max(1, DEPTH // depth)
    keys = keys_of(planner.expressions, planner.aliases, right)
    places = 0
    if may_keep(planner.aliases) and not any(varies(planner.aliases, key) for key in keys):
        size = SIZES[arena(element_of(right.ty))] * columns * depth * turns
        places = places_for(planner.aliases, planner.region, size)
    packs = [Packed(RIGHT, right, "panels", keys if places else (), places)]
    if turns > 1:
        left = op.operands[LEFT]
        assert isinstance(left, Value)
        packs.append(Packed(LEFT, left, "columns" if left.op.name == "trans" else "rows"))
    return tuple(packs), turns


def packable(expressions: Expressions, aliases: Aliases, operand: Operand) -> bool:
    """Whether a block is made of loads of memory that nothing writes, without blocks in buffers."""
    if not isinstance(operand, Value) or operand in expressions.buffers:
        return False
    if not expressions.lowerings.is_computed(operand):
        return False
    parts = expressions.parts(operand)
    loads = [part.op for part in parts if part.op.name == "load"]
    if not loads or not all(aliases.is_constant(load) for load in loads):
        return False
    rows = expressions.lowerings
    if any(rows.get(part.op).reads_elsewhere(part.op) for part in parts if part.op.name != "trans"):
        return False
    return not any(shape_of(leaf.ty) for leaf in expressions.leaves([operand]))


def keys_of(expressions: Expressions, aliases: Aliases, operand: Operand) -> tuple[Named, ...]:
    """The scalars that a block is made of, but for the function's arguments."""
    leaves = dict.fromkeys(expressions.leaves([operand]))
    return tuple(leaf for leaf in leaves if leaf not in aliases.function.params)


def may_keep(aliases: Aliases) -> bool:
    """Whether blocks may be kept from program to program: none prints, which may run any code."""
    return not any(op.name == "print" for op in walk(aliases.function.body))


def places_for(aliases: Aliases, region: Region, size: int) -> int:
    """For how many turns of the loop around the blocks are kept."""
    return max(1, KEPT_BYTES // 2 // size) if region in aliases.loops else 1


def accumulates_over_turns(aliases: Aliases, region: Region, op: Op) -> bool:
    """Whether a product in the body of a `for` adds to a value that the loop carries, which is used
    by this op and by the yield alone."""
    loop = aliases.loops.get(region)
    if loop is None:
        return False
    acc, result = op.operands[-1], op.results[0]
    numbers = [k for k in range(len(loop.types)) if loop_values.iter_args(loop, k)[0] is acc]
    if not numbers or loop_values.yielded(loop, numbers[0]) is not result:
        return False
    used = [operand for inner in walk(region) for operand in inner.operands]
    return sum(operand is acc or operand is result for operand in used) == 2


def varies(aliases: Aliases, scalar: Operand) -> bool:
    """Whether a scalar is likely another one in the next program of a thread: it depends on
    program_id(0), but not by a quotient, or on a loop around."""
    found: dict[Operand, bool] = {}
    return _varies(aliases, scalar, found)


def _varies(aliases: Aliases, scalar: Operand, found: dict[Operand, bool]) -> bool:
    if scalar is None or isinstance(scalar, Const) or scalar in aliases.function.params:
        return False
    if scalar not in found:
        found[scalar] = False  # of a value that depends on itself, its start decides
        found[scalar] = any(_varies(aliases, source, found) for source in _sources(aliases, scalar))
        if isinstance(scalar, Value) and scalar.op.name == "program_id":
            found[scalar] = scalar.op.attrs["axis"] == 0
    return found[scalar]


def _sources(aliases: Aliases, scalar: Operand) -> tuple[Operand, ...]:
    """The scalars that decide whether one varies."""
    if isinstance(scalar, Value):
        quotient = scalar.op.name in ("div", "floordiv") and not shape_of(scalar.ty)
        return () if quotient else scalar.op.operands
    assert isinstance(scalar, Param)
    owner = aliases.owners.get(scalar)
    if owner is None or loop_values.index(owner) is scalar:
        return ()
    k = owner.regions[0].params.index(scalar) - (len(owner.regions[0].params) - len(owner.types))
    return (loop_values.init(owner, k),)
