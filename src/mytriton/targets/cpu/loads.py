"""A load at one point of a nest: its address picks the instruction, its mask what it may touch."""

from __future__ import annotations

from typing import Any

from ...ir.nodes import Value
from ...ir.types import element_of
from .access import class_of, classify, load
from .addresses import address_of
from .lowering import Index, Wants
from .masks import mask_at
from .nest import Access, Form, Nest
from .pointwise import evaluate, fit


def load_map(nest: Nest, value: Value, index: Index) -> Wants:
    """The pointer; mask and `other` are evaluated by `load_value`, which may do without."""
    return [(value.op.operands[0], index)]


def load_value(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    """The elements that the pointer's form leads to.

    A load of one address for all lanes stands before the lane loop, so its mask is never taken to
    be true there.
    """
    pointer, mask, other = forms[0], value.op.operands[1], value.op.operands[2]
    pointer = address_of(nest, value.op.operands[0], index, pointer)
    varies = classify(nest, pointer) != "one"
    known = len(nest.version.bounds)
    found, rest = mask_at(nest, mask, index, varies), None
    bounds, kind = tuple(nest.version.bounds[known:]), class_of(nest, pointer)
    nest.note(Access("load", value.op.operands[0], kind, found is not None, bounds))
    if found is not None and other is not None:
        rest = evaluate(nest, other, fit(other, index))
    nest.loads = "load volatile" if value.op.attribute("volatile") else "load"
    result = load(nest, pointer, element_of(value.ty), found, rest)
    nest.loads = "load"
    return result
