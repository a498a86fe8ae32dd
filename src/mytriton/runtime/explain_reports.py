"""What the reports of a launch mean: the op that told, the number that names what tainted, and the
kernel's lines say the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..errors import KernelMemoryError
from ..ir.nodes import Op
from ..passes.checks.findings import decoded
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
        role, *shape = told.op.attrs["detail"]
        self.role = str(role)
        self.shape = tuple(map(int, shape))
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


EXPLAIN: dict[str, Callable[[Told, Origins, str], Finding]] = {
    "undefined": _undefined,
    "nan": _nan,
    "overflow": _overflow,
}
