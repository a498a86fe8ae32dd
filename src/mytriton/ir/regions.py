"""The rows of the ops with regions: reductions, scans, maps, loops, branches, and `yield`.

A region is a function of its params that ends in a `yield`; what an op does with it is in
its rule and its `region_kind`. There are no jumps, so what a value dominates is its scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ops import (
    REQUIRED,
    RegionKind,
    Signature,
    Types,
    along,
    broadcast_shapes,
    need,
    structural,
)
from .types import BOOL, element_of, shape_of, with_shape

if TYPE_CHECKING:
    from .nodes import Region


def _combiner(types: Types, region: Region) -> None:
    """A region of two values an operand that gives one an operand, all scalar."""
    elements = tuple(map(element_of, types))
    given = param_types(region)
    need(given == elements * 2, f"the combine function must take {elements * 2}, takes {given}")
    results = region.result_types
    need(results == elements, f"the combine function must return {elements}, returns {results}")


def param_types(region: Region) -> Types:
    return tuple(param.ty for param in region.params)


def _reduce(sig: Signature) -> Types:
    types, axis = sig.all(), sig["axis"]
    shape = along(types, axis)
    _combiner(types, sig.regions[0])
    return tuple(with_shape(element_of(ty), shape[:axis] + shape[axis + 1 :]) for ty in types)


def _scan(sig: Signature) -> Types:
    along(sig.all(), sig["axis"])
    _combiner(sig.all(), sig.regions[0])
    return sig.all()


def _for(sig: Signature) -> Types:
    types, region = sig.all(), sig.regions[0]
    bounds, carried = types[:3], types[3:]
    ints = bounds[0].kind in "iu" and not shape_of(bounds[0]) and len(set(bounds)) == 1
    need(ints, f"loop bounds need one scalar int type, got {', '.join(map(str, bounds))}")
    given, wanted = param_types(region), (bounds[0], *carried)
    need(given == wanted, f"the loop body takes {given}, is given {wanted}")
    _carries(carried, region)
    return carried


def _carries(carried: Types, body: Region) -> None:
    results = body.result_types
    need(results == carried, f"the loop carries {carried} but its body gives {results}")


def _while(sig: Signature) -> Types:
    carried, (test, body) = sig.all(), sig.regions
    for given in map(param_types, sig.regions):
        need(given == carried, f"a region of the loop takes {given}, is given {carried}")
    condition = test.result_types
    need(condition == (BOOL,), f"the loop's condition must be one bool, got {condition}")
    _carries(carried, body)
    return carried


def _if(sig: Signature) -> Types:
    need(sig.type(0) == BOOL, f"the condition must be one bool, got {sig.type(0)}")
    then, other = sig.regions
    same = then.result_types == other.result_types and not then.params and not other.params
    need(same, f"the branches give {then.result_types} and {other.result_types}")
    return then.result_types


def _map(sig: Signature) -> Types:
    types, region = sig.all(), sig.regions[0]
    given = param_types(region)
    need(given == tuple(map(element_of, types)), f"the function takes {given}, is given {types}")
    shape = broadcast_shapes(list(map(shape_of, types)))
    return tuple(with_shape(element_of(ty), shape) for ty in region.result_types)


def _yield(sig: Signature) -> Types:
    return ()


_AXIS = {"axis": REQUIRED}

structural(
    "reduce",
    "*values",
    "Combines along an axis, in order.",
    _reduce,
    attrs=_AXIS,
    region_names=("combine",),
)
structural(
    "scan",
    "*values",
    "Running combinations along an axis.",
    _scan,
    attrs={**_AXIS, "reverse": False},
    region_names=("combine",),
)
structural(
    "for",
    "lo hi step *carried",
    "A counted loop; the body takes the index and the carried values.",
    _for,
    attrs={"hints": ()},
    region_names=("body",),
    region_kind=RegionKind.LOOP,
)
structural(
    "while",
    "*carried",
    "A condition region and a body region, both of the carried values.",
    _while,
    region_names=("test", "body"),
    region_kind=RegionKind.LOOP,
    region_separator="do",
)
structural(
    "if",
    "condition",
    "One of two regions.",
    _if,
    region_names=("then", "otherwise"),
    region_kind=RegionKind.BRANCH,
    region_separator="else",
)
structural(
    "map",
    "*values",
    "A scalar function applied to every element.",
    _map,
    region_names=("function",),
)
YIELD = structural("yield", "*values", "Ends a region with its results.", _yield)
