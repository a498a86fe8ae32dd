"""The class of an access, and the reasons for it in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np

from ..ir.nodes import Const, Op, Operand, Param, Value
from ..ir.structural import pointee
from ..ir.types import shape_of
from ..passes.axis_info import AxisInfo
from .addresses import Form, NoSteps, Step, Steps
from .document import Measured
from .recording import Access, Recorded

VECTOR_BYTES = 16
"""The most that a thread moves at once."""


def class_of(form: Form, shape: Sequence[int]) -> str:
    """How the addresses of an access run: "one element", "one address", "contiguous", "stride 4",
    "unknown stride" or "gather"."""
    if not shape:
        return "one element"
    if isinstance(form, NoSteps):
        return "gather"
    steps = _moving(form.axes, shape)
    if not any(steps.values()):
        return "one address"
    if any(step in (1, -1) for step in steps.values()):
        return "contiguous"
    known = [abs(step) for step in steps.values() if isinstance(step, int) and step]
    return f"stride {min(known)}" if known else "unknown stride"


def _moving(steps: Sequence[Step], shape: Sequence[int]) -> dict[int, Step]:
    """The steps of the axes that have several elements."""
    return {axis: step for axis, (step, n) in enumerate(zip(steps, shape)) if n > 1}


def steps_text(form: Form) -> tuple[str, ...]:
    """The steps along the axes as text; none where there are none."""
    return () if isinstance(form, NoSteps) else tuple(map(str, form.axes))


def reasons(op: Op, form: Form) -> Iterator[str]:
    """Why the addresses of an access do not run better, and what to do."""
    shape = shape_of(_pointer(op).ty)
    if isinstance(form, NoSteps):
        line = f" at line {form.op.where[0].line}" if form.op and form.op.where else ""
        yield f"its index {form.reason}{line}, so each lane goes where its own index says"
        return
    if class_of(form, shape) in ("one element", "one address", "contiguous"):
        return
    for axis, step in _moving(form.axes, shape).items():
        if isinstance(step, str):
            yield (
                f"neighbours along axis {axis} are {step} elements apart, which is not known to be"
                " 1: pass it as a constexpr, or leave it out where it is 1"
            )
        elif step:
            yield (
                f"neighbours along axis {axis} are {abs(step)} elements apart, so one in"
                f" {abs(step)} of the elements that memory delivers is used: let a contiguous axis"
                " be an axis of the block, or change the order of the array"
            )


def narrowness(op: Op, form: Steps, vector: int, facts: Mapping[Operand, AxisInfo]) -> str:
    """Why a thread moves less than 16 bytes at once on a GPU; "" where it does not."""
    pointer = _pointer(op)
    size, known = pointee(pointer.ty).itemsize, facts[pointer]
    wanted = VECTOR_BYTES // size
    if vector >= wanted or not shape_of(pointer.ty):
        return ""
    axis = max(known.axes, key=lambda axis: known.contiguity[axis])
    head = f"a thread moves {vector * size} bytes at once, not {VECTOR_BYTES}: "
    if known.contiguity[axis] < wanted:
        return f"{head}only {known.contiguity[axis]} neighbours are known to be contiguous"
    if known.divisibility[axis] < VECTOR_BYTES:
        names = [f"`{step}`" for step in form.axes if isinstance(step, str)]
        rows = f" and {' and '.join(names)} of {wanted}" if names else ""
        return (
            f"{head}addresses are known to be multiples of {known.divisibility[axis]} bytes only."
            f" The array and the start of a block must be multiples of {VECTOR_BYTES} bytes{rows};"
            " a launch knows int arguments to be multiples of 16 where they are, and"
            " tl.multiple_of says it"
        )
    mask = op.operands[1 if op.name == "load" else 2]
    if mask is not None and shape_of(mask.ty) and facts[mask].constancy[axis] < wanted:
        return (
            f"{head}the mask is known to be the same for {facts[mask].constancy[axis]} neighbours"
            f" only; a bound that is divisible by {wanted} makes it so (an int argument divisible"
            " by 16, or tl.multiple_of), as does no mask"
        )
    return f"{head}the block has {prod(shape_of(pointer.ty))} elements for all threads"


def _pointer(op: Op) -> Value | Param | Const:
    pointer = op.operands[0]
    assert pointer is not None
    return pointer


# -- what was measured


def measured(access: Access) -> Measured:
    """What an access did in a recorded launch."""
    return Measured(
        access.write,
        access.times,
        access.lanes,
        access.off,
        access.bytes,
        access.samples,
        access.sectors,
        access.wanted,
    )


def distinct_bytes(recorded: Recorded) -> int:
    """The bytes of the elements that were touched, each once: what must come from memory."""
    touched: dict[tuple[int, int], list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]] = {}
    for access in recorded.accesses.values():
        touched.setdefault((access.argument, access.size), []).extend(access.touched.values())
    parts = [(size, lists) for (_, size), lists in touched.items() if lists]
    return sum(np.unique(np.concatenate(lists)).size * size for size, lists in parts)
