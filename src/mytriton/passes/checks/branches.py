"""Branches that checks emit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...elementary.term import IrTerm
from ...ir.build import current
from ...ir.nodes import Operand
from ...ir.ops import RegionKind


def emit_if(condition: IrTerm, then: Callable[[], None]) -> None:
    """Emits an `if` without results."""
    builder = current()

    def body() -> Sequence[Operand]:
        then()
        return ()

    regions = (
        builder.region(RegionKind.BRANCH, (), body),
        builder.region(RegionKind.BRANCH, (), lambda: ()),
    )
    builder.emit("if", [condition.value], {}, regions)
