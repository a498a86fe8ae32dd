"""What the reports of a launch mean: the op that told, the number that names what tainted, and the
kernel's lines say the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..errors import KernelMemoryError, Location
from ..ir.nodes import Op
from ..passes.checks.findings import decoded
from ..passes.checks.races import ACCESS_BITS, FLAG, MOST_ACCESSES, PROGRAM_BITS
from ..targets.reports import Listener, Told
from .findings import Finding, Note

Origins = Mapping[str, Sequence[Op]]


def findings_of(heard: Listener, origins: Origins, kernel: str) -> Iterator[Finding]:
    """The findings of a launch."""
    for told in heard.told:
        yield EXPLAIN[told.op.attrs["kind"]](told, origins, kernel)


def out_of_bounds(error: KernelMemoryError, kernel: str) -> Finding:
    """The finding of an access that stopped the launch."""
    help = "mask the lanes that are outside, or see how the offset is computed"
    return Finding("bounds", error.message, error.where, help=help, kernel=kernel)


class _Tainted:
    """A report of a tainted lane, taken apart: the lane, and the number of what tainted."""

    def __init__(self, told: Told) -> None:
        detail = told.op.attrs["detail"]
        self.role, *self.names = [part for part in detail if isinstance(part, str)]
        self.shape = tuple(part for part in detail if not isinstance(part, str))
        self.number, flat = decoded(int(told.values[1]), self.shape)
        self.lane = tuple(int(place) for place in np.unravel_index(flat, self.shape))
        self.program = told.program

    @property
    def whose(self) -> str:
        """The lane and the program, in words."""
        if not self.shape:
            return f"program {self.program}"
        lane = self.lane if len(self.lane) > 1 else self.lane[0]
        return f"lane {lane} of program {self.program}"


def _undefined(told: Told, origins: Origins, kernel: str) -> Finding:
    tainted = _Tainted(told)
    load = origins["undefined"][tainted.number - 1]
    return Finding(
        "undefined",
        f"{tainted.whose}: {tainted.role} is undefined",
        told.op.where,
        (Note("the value is undefined where the mask of this load is off", load.where),),
        "give the load `other=…`, or mask what uses it alike",
        kernel,
        tainted.program,
        tainted.lane,
        cause=load.where,
    )


def _nan(told: Told, origins: Origins, kernel: str) -> Finding:
    tainted = _Tainted(told)
    op = origins["nan"][tainted.number - 1]
    name = op.row.symbol or op.name
    return Finding(
        "nan",
        f"`{name}` makes NaN or infinity of finite operands, and {tainted.whose} has it as"
        f" {tainted.role}",
        op.where,
        _notes(op, f"it is {tainted.role} here", told.op),
        NAN_HELP.get(op.name, "look at the operands' range, or compute in a wider float type"),
        kernel,
        tainted.program,
        tainted.lane,
    )


NAN_HELP = {
    "div": "look for a divisor that is 0, or select another value where it is",
    "exp": "subtract the maximum before the exponential",
    "log": "the operand is 0 or negative: clamp it, or select another value there",
    "sqrt": "the operand is negative: clamp it, or select another value there",
    "rsqrt": "the operand is 0 or negative: add a small number to it",
    "cast": "the number is too large for the narrower type",
}


def _overflow(told: Told, origins: Origins, kernel: str) -> Finding:
    tainted = _Tainted(told)
    op = origins["overflow"][tainted.number - 1]
    name, ty = op.row.symbol or op.name, op.types[0]
    if op.name == "cast":
        message = f"an offset is narrowed to {ty} and loses bits"
        help = "leave the offset in its type"
    else:
        message = f"`{name}` wraps in {ty}"
        help = "widen an operand before: (…).to(tl.int64)"
    return Finding(
        "overflow",
        f"{message} on its way into an address, in {tainted.whose}",
        op.where,
        _notes(op, "the address is used here", told.op),
        help,
        kernel,
        tainted.program,
        tainted.lane,
    )


def _notes(op: Op, text: str, use: Op) -> tuple[Note, ...]:
    """A note on the use, where it stands on another line."""
    return (Note(text, use.where),) if use.where != op.where else ()


def _race(told: Told, origins: Origins, kernel: str) -> Finding:
    tainted = _Tainted(told)
    (array,) = tainted.names
    accesses = origins["races"]
    number = tainted.number & MOST_ACCESSES
    other = accesses[number - 1] if 0 < number < MOST_ACCESSES else None
    whose, did = f"program {tainted.number >> ACCESS_BITS & (1 << PROGRAM_BITS) - 1}", tainted.role
    if did == "read" and tainted.number & FLAG:
        whose = "another program"  # several have, and only the last is known
    help = "let programs write apart, use atomics, or order them by a release and an acquire"
    if tainted.role == "lanes":
        whose, did = "another lane of the program", "written"
        help = "put `tl.debug_barrier()` between the two: the lanes of a GPU are threads"
    mine = told.op
    message = f"{tainted.whose} accesses an element of `{array}` that {whose} has {did}"
    notes = (Note(f"{whose} has {did} it here", other.where),) if other is not None else ()
    return Finding(
        "races",
        f"{message}, and nothing orders the two",
        mine.where,
        notes,
        help,
        kernel,
        tainted.program,
        tainted.lane,
        array,
        (*mine.where, *(other.where if other else ()), Location("", 0, tainted.role)),
    )


EXPLAIN: dict[str, Callable[[Told, Origins, str], Finding]] = {
    "undefined": _undefined,
    "nan": _nan,
    "overflow": _overflow,
    "races": _race,
}
