"""Masks that need not be masks: where a mask is sure to be true, and up to where.

A mask such as `offs < n` on a run is a number, how many lanes of the row are in range; one that is
the same for all lanes, such as `rows < m` outside the lane loop, is none or all of them. The main
version of the lane loop runs to the least of these numbers without any mask; the tail does the
rest.
"""

from __future__ import annotations

from ...ir.nodes import Operand, Value
from ...ir.types import shape_of
from . import affine
from .access import both
from .code import Reg, const
from .lowering import Index
from .nest import TRUE, Bound, Nest, Run
from .pointwise import evaluate, fit, routes


def mask_at(nest: Nest, mask: Operand, index: Index, varies: bool) -> Reg | None:
    """The mask of an access; None where it is true for sure, or taken to be in the main version.

    `varies`: the access stands in the lane loop. One before the loop is made whatever the version.
    """
    if mask is None:
        return None
    at = fit(mask, index)
    return _assumed(nest, mask, at) if nest.version.unmasked and varies else _plain(nest, mask, at)


def _plain(nest: Nest, mask: Operand, index: Index) -> Reg | None:
    form = evaluate(nest, mask, index)
    assert isinstance(form, Reg)
    return None if form.constant is True else form


def _assumed(nest: Nest, mask: Operand, index: Index) -> Reg | None:
    """What is left to test of a mask; the rest of it becomes bounds of the main version."""
    version = nest.version
    known = version.masks.get((mask, index))
    if known is None:
        start = len(version.bounds)
        left = _split(nest, mask, index)
        known = version.masks[mask, index] = (left, tuple(version.bounds[start:]))
    else:
        version.bounds += known[1]
    return known[0]


def _split(nest: Nest, mask: Operand, index: Index) -> Reg | None:
    form = _part(nest, mask, index)
    if form is None:
        return None
    if not form.lanes and form.level < nest.lane_level:
        whole, none = const("i64", nest.extent), const("i64", 0)
        limit = nest.select("limit", form, whole, none)
        nest.version.bounds.append(Bound(mask, limit, limit))
        return None
    return form


def _part(nest: Nest, mask: Operand, index: Index) -> Reg | None:
    """What is left to test of a mask after its op has given bounds."""
    if isinstance(mask, Value) and mask not in nest.writer.homes:
        part = nest.writer.lowerings.get(mask.op).mask_part
        if part is not None and shape_of(mask.ty):
            return part(nest, mask, index)
    return _plain(nest, mask, index)


def through(nest: Nest, mask: Value, index: Index) -> Reg | None:
    """A change of shape: the mask of the operand, at the operand's index."""
    wants = routes(nest, mask, index)
    if len(wants) != 1:  # a reshape that reads its operand at other indices
        return _plain(nest, mask, index)
    ((operand, at),) = wants
    return _assumed(nest, operand, at)


def conjunction(nest: Nest, mask: Value, index: Index) -> Reg | None:
    (left, at_left), (right, at_right) = routes(nest, mask, index)
    return both(nest, _assumed(nest, left, at_left), _assumed(nest, right, at_right))


def comparison(nest: Nest, mask: Value, index: Index) -> Reg | None:
    """left < right and its kin, where one side is a run of step 1 and the other one scalar."""
    (left, at_left), (right, at_right) = routes(nest, mask, index)
    assert left is not None and right is not None
    a, b = evaluate(nest, left, at_left), evaluate(nest, right, at_right)
    name, signed = mask.op.name, left.ty.scalar.kind == "i"
    if isinstance(b, Run) and not isinstance(a, Run):
        a, b, name = b, a, MIRRORED[name]
    if not (isinstance(a, Run) and isinstance(b, Reg) and _bounds_the_row(nest, a, b)):
        return _plain(nest, mask, index)
    count = _true_lanes(nest, a, b, name, signed)
    safe = affine.wraps_not(nest, a, signed)
    below, whole = nest.select("limit", safe, count, const("i64", 0)), const("i64", nest.extent)
    upper = name in ("cmp_lt", "cmp_le")
    above = nest.select("end", safe, count, whole) if upper else whole
    nest.version.bounds.append(Bound(mask, below, above))
    nest.inner[(mask, index)] = TRUE
    nest.version.assumes = True
    return None


def _bounds_the_row(nest: Nest, run: Run, bound: Reg) -> bool:
    """Whether run < bound is one number of lanes for the whole lane loop: a run of step 1 and a
    scalar, both known before that loop.
    """
    before = max(run.base.level, bound.level) < nest.lane_level
    return run.step.constant == 1 and not bound.lanes and before


def _true_lanes(nest: Nest, run: Run, bound: Reg, name: str, signed: bool) -> Reg:
    """How many lanes from the first on are true, 0 … extent, where the run does not wrap; for
    lower bounds all or none.

    The distance from the first element to the bound is taken as unsigned: it is exact at every
    width wherever the comparison of the first element holds.
    """
    order = f"icmp {'s' if signed else 'u'}{name.removeprefix('cmp_')}"
    some = nest.inst("some", order, [run.base, bound], "i1")
    none, count = const("i64", 0), const("i64", nest.extent)
    if name in ("cmp_lt", "cmp_le"):
        closed = int(name == "cmp_le")
        apart = affine.add(nest, bound, affine.negate(nest, run.base))
        apart = affine.resize(nest, apart, False, "i64")
        assert isinstance(apart, Reg)
        least = nest.call("apart", "llvm.umin", [apart, const("i64", nest.extent - closed)])
        count = affine.add_scalars(nest, least, const("i64", closed))
    return nest.select("count", some, count, none)


MIRRORED = {"cmp_lt": "cmp_gt", "cmp_le": "cmp_ge", "cmp_gt": "cmp_lt", "cmp_ge": "cmp_le"}
