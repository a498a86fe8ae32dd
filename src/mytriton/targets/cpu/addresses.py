"""The addresses of an access: its pointer at an index, and what they are under a condition.

Whether a stride is 1, and whether an int offset wraps, may be known only in the run. The fast
segments of a lane loop take all such conditions for granted. The generic segment, which runs where
one of them fails, asks again at each access, so that one strided access does not make gathers of
all others:

    load %11: contiguous if %unit, else any addresses
    store %15: contiguous if %unit.1, else any addresses
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.nodes import Operand, Value
from .access import classify
from .code import Reg
from .lowering import Index
from .nest import Form, LoopVersion, Nest, Pointer
from .pointwise import evaluate, fit, unit_of


def address_of(nest: Nest, place: Operand, index: Index, form: Form | None = None) -> Pointer:
    """The addresses of an access at an index; `form`: its pointer there, where it is known."""
    at = fit(place, index)
    general = nest.pointer(place, form or evaluate(nest, place, at), unit_of(place))
    if not nest.version.by_access or classify(nest, general) != "many":
        return general
    return replace(general, under=_assumed(nest, place, at))


def _assumed(nest: Nest, place: Operand, index: Index) -> tuple[Reg, Pointer] | None:
    """A condition, known before the lane loop, under which the addresses are contiguous."""
    version, inner = nest.version, nest.inner
    nest.version = LoopVersion(contiguous=True, tail_mask=version.tail_mask)
    nest.inner = {key: form for key, form in inner.items() if _is_read(key)}
    found = nest.pointer(place, evaluate(nest, place, index), unit_of(place))
    kind, checks = classify(nest, found), nest.version.checks
    nest.version, nest.inner = version, inner
    if kind != "contiguous" or not checks:
        return None
    condition = checks[0]
    for other in checks[1:]:
        condition = nest.inst("holds", "and", [condition, other])
    return condition, found


def _is_read(key: object) -> bool:
    """Whether a key of `Nest.inner` is that of a value read from memory, which no condition
    changes.
    """
    value = key[0] if isinstance(key, tuple) else None
    return isinstance(value, Value) and value.op.name == "load"
