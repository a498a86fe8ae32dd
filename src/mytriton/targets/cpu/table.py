"""The rows of the structural ops on this target: one each, and a test demands that none is missing.

An op's row says how it enters the schedule and names the functions that emit it; those are in the
files imported here. The rows of a few element-wise ops add what they are as parts of a mask.
"""

from __future__ import annotations

from . import (
    assert_print,
    atomics,
    control,
    dot,
    folds,
    loads,
    masks,
    pointwise,
    region,
    roots,
    sort,
)
from .lowering import CALLBACKS, Lowering, Lowerings, Role

POINTWISE, OPAQUE = Role.POINTWISE, Role.OPAQUE


def _first(op: object) -> tuple[int, ...]:
    return (0,)


ROWS: dict[str, Lowering] = {
    # blocks and indices
    "program_id": Lowering(POINTWISE, index_map=pointwise.no_operands, value=pointwise.program),
    "num_programs": Lowering(POINTWISE, index_map=pointwise.no_operands, value=pointwise.program),
    "arange": Lowering(POINTWISE, index_map=pointwise.no_operands, value=pointwise.arange),
    "broadcast": Lowering(
        POINTWISE, forwards_address=True, value=pointwise.same, mask_part=masks.through
    ),
    "hint": Lowering(
        POINTWISE, forwards_address=True, value=pointwise.same, mask_part=masks.through
    ),
    "reshape": Lowering(
        POINTWISE,
        reads_elsewhere=pointwise.reshaped_operand,
        moves=True,
        forwards_address=True,
        index_map=pointwise.reshape_map,
        value=pointwise.reshape,
        mask_part=masks.through,
    ),
    "trans": Lowering(
        POINTWISE,
        reads_elsewhere=_first,
        moves=True,
        forwards_address=True,
        index_map=pointwise.trans_map,
        value=pointwise.same,
        mask_part=masks.through,
    ),
    "slice": Lowering(
        POINTWISE,
        moves=True,
        forwards_address=True,
        index_map=pointwise.slice_map,
        value=pointwise.same,
    ),
    "split": Lowering(
        POINTWISE,
        moves=True,
        forwards_address=True,
        index_map=pointwise.split_map,
        value=pointwise.same,
    ),
    "gather": Lowering(
        POINTWISE,
        cost=4,
        reads_elsewhere=_first,
        moves=True,
        forwards_address=True,
        index_map=pointwise.gather_map,
        value=pointwise.gather,
    ),
    "join": Lowering(Role.PARTS),
    "cat": Lowering(Role.PARTS),
    # elements
    "cast": Lowering(POINTWISE, cost=1, value=pointwise.cast),
    "bitcast": Lowering(POINTWISE, value=pointwise.bitcast),
    "select": Lowering(POINTWISE, cost=1, value=pointwise.select),
    "addptr": Lowering(POINTWISE, forwards_address=True, value=pointwise.addptr),
    # memory
    "load": Lowering(POINTWISE, cost=2, index_map=loads.load_map, value=loads.load_value),
    "store": Lowering(Role.ROOT, root=roots.STORE, scalar=region.scalar_store),
    "atomic": Lowering(Role.LANE_BY_LANE, root=atomics.ATOMIC, scalar=atomics.scalar_atomic),
    "atomic_cas": Lowering(Role.LANE_BY_LANE, root=atomics.ATOMIC, scalar=atomics.scalar_atomic),
    "barrier": Lowering(Role.SCALAR, scalar=region.nothing),
    # along axes
    "reduce": Lowering(Role.REDUCTION, root=roots.REDUCE, opaque=folds.emit_fold),
    "scan": Lowering(OPAQUE, opaque=folds.emit_scan),
    "sort": Lowering(OPAQUE, opaque=sort.emit_sort),
    "histogram": Lowering(OPAQUE, opaque=sort.emit_histogram),
    "dot": Lowering(Role.ACCUMULATE, opaque=dot.emit_dot),
    # control flow, and what is said to the launch
    "map": Lowering(OPAQUE, opaque=folds.emit_map),
    "for": Lowering(Role.LOOP, opaque=control.for_loop),
    "while": Lowering(Role.LOOP, opaque=control.while_loop),
    "if": Lowering(OPAQUE, opaque=control.if_else),
    "assert": Lowering(Role.SCALAR, scalar=assert_print.scalar_assert),
    "assume": Lowering(Role.SCALAR, scalar=region.assume),
    **dict.fromkeys(CALLBACKS, Lowering(OPAQUE, opaque=assert_print.call_back)),
}
ELEMENTWISE: dict[str, Lowering] = {
    "and": Lowering(POINTWISE, mask_part=masks.conjunction),
    **dict.fromkeys(masks.MIRRORED, Lowering(POINTWISE, mask_part=masks.comparison)),
}
LOWERINGS = Lowerings(ROWS | ELEMENTWISE)
