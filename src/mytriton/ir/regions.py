"""The rows of the ops with regions: reductions, scans, maps, loops, branches, and `yield`.

One idea: a region is a function of its params that ends in a `yield`; what an op does with it is in
its rule and its `region_kind`. There are no jumps, so what a value dominates is its scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .ops import REQUIRED, RegionKind, Types, along, broadcast_shapes, need, structural
from .types import BOOL, element_of, shape_of, with_shape

if TYPE_CHECKING:
    from .nodes import Region


def _combiner(types: Sequence[Any], region: Region) -> None:
    """A region of two values an operand that gives one an operand, all scalar."""
    elements = tuple(element_of(ty) for ty in types)
    given = tuple(param.ty for param in region.params)
    need(given == elements * 2, f"the combine function must take {elements * 2}, takes {given}")
    results = region.result_types
    need(results == elements, f"the combine function must return {elements}, returns {results}")


def _reduce(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    axis = attrs["axis"]
    shape = along(types, axis)
    _combiner(types, regions[0])
    return tuple(with_shape(element_of(ty), shape[:axis] + shape[axis + 1 :]) for ty in types)


def _scan(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    along(types, attrs["axis"])
    _combiner(types, regions[0])
    return tuple(types)


def _for(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    bounds, carried, region = types[:3], tuple(types[3:]), regions[0]
    same = len(set(bounds)) == 1 and bounds[0].kind in "iu"
    need(same, f"loop bounds need one int type, got {', '.join(map(str, bounds))}")
    given = tuple(param.ty for param in region.params)
    need(
        given == (bounds[0], *carried),
        f"the loop body takes {given}, is given {(bounds[0], *carried)}",
    )
    need(
        region.result_types == carried,
        f"the loop carries {carried} but its body gives {region.result_types}",
    )
    return carried


def _while(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    carried, (test, body) = tuple(types), regions
    for region in regions:
        given = tuple(param.ty for param in region.params)
        need(given == carried, f"a region of the loop takes {given}, is given {carried}")
    need(
        test.result_types == (BOOL,),
        f"the loop's condition must be one bool, got {test.result_types}",
    )
    need(
        body.result_types == carried,
        f"the loop carries {carried} but its body gives {body.result_types}",
    )
    return carried


def _if(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    need(tuple(types) == (BOOL,), f"the condition must be one bool, got {types[0]}")
    then, other = regions
    same = then.result_types == other.result_types and not then.params and not other.params
    need(same, f"the branches give {then.result_types} and {other.result_types}")
    return then.result_types


def _map(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    shape = broadcast_shapes([shape_of(ty) for ty in types])
    given = tuple(param.ty for param in regions[0].params)
    need(
        given == tuple(map(element_of, types)),
        f"the function takes {given}, is given {tuple(types)}",
    )
    return tuple(with_shape(element_of(ty), shape) for ty in regions[0].result_types)


def _yield(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
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
