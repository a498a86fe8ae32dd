"""The loops of one nest as a value, between the plan and LLVM's text; as text; and its checker.

A nest has outer loops, a lane loop over one axis, perhaps a loop over the reduced axis inside. The
lane loop is a list of segments, each one version of the body over a range of lanes:

    main      as many whole vectors as lie below all bounds; masks that gave bounds are not tested
    tail      the lanes that are left, one register at a time, with masks
    generic   all lanes, where a run-time check (contiguous, does not wrap) has failed

What `mytriton show --stage loops` prints:

    nest 64 x 256, lanes along axis 1
        main 0 … %full, 32 lanes a turn, while %12
            load %10: contiguous, under %12
            store %20: contiguous, under %12
        tail %full … 256, 16 lanes a turn
            load %10: contiguous, masked
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...ir.nodes import Operand
from .code import Code, Reg
from .lane_axis import StridedAccess
from .nest import Access, LoopVersion
from .sums import Sums


@dataclass(frozen=True, eq=False)
class Stitch:
    """A finished loop body and where it runs."""

    header: str
    index: str
    body: Code
    start: Reg
    end: Reg
    step: int

    def between(self, start: Reg, end: Reg) -> Stitch:
        return Stitch(self.header, self.index, self.body, start, end, self.step)


@dataclass(frozen=True, eq=False)
class Body:
    """One version of the lane loop's body."""

    version: LoopVersion
    loop: Stitch
    sums: list[Sums]
    lanes: int


@dataclass(frozen=True, eq=False)
class Segment:
    """One version of the body from lane `start` to lane `end`; `bounds`: what `end` does not
    exceed, in a version whose masks are not tested.
    """

    kind: str
    body: Body
    start: Reg
    end: Reg
    bounds: tuple[Reg, ...] = ()


@dataclass(frozen=True, eq=False)
class NestLoops:
    """The loops of one nest: its axes, the lane axis, the reduced axis inside the lane loop (or
    None), and the segments of the lane loop: `fast` ones where all `checks` hold, else `generic`.
    """

    extents: tuple[int, ...]
    lane: int
    inner: int | None
    checks: tuple[Reg, ...]
    fast: tuple[Segment, ...]
    generic: Segment | None
    accesses: tuple[StridedAccess, ...] = ()
    """Of a nest of several long axes: the strides by which the lane axis was chosen."""

    def segments(self) -> tuple[Segment, ...]:
        """All of them, the generic one last."""
        return self.fast if self.generic is None else (*self.fast, self.generic)


class LoopsError(AssertionError):
    """The loops of a nest break a rule; the text says which."""


def check_loops(loops: NestLoops) -> None:
    """Raises LoopsError unless the segments cover every lane once, in order, each access stands
    under its guard, and what versions take for granted is checked.

    An access of a version without masks relies on the bounds that its mask gave: its segment must
    end below each of them. A segment that may reach past the extent masks the lanes there. Only a
    version that is guarded by all its checks may take addresses to be contiguous.
    """
    extent, end = loops.extents[loops.lane], None
    for segment in loops.fast:
        start = segment.start.constant
        _need(start == 0 if end is None else segment.start is end, "a gap between segments")
        end = segment.end
    last = loops.fast[-1]
    whole = last.end.constant == extent
    _need(whole or last.kind == "tail", "the last segment does not reach the extent")
    for segment in loops.segments():
        _check_segment(loops, segment, extent)
    _need((loops.generic is None) == (not loops.checks), "checks without another way, or none")


def _check_segment(loops: NestLoops, segment: Segment, extent: int) -> None:
    version, lanes = segment.body.version, segment.body.lanes
    for access in version.accesses:
        for bound in access.bounds:
            _need(version.unmasked, f"{segment.kind} drops a mask")
            _need(bound.below in segment.bounds, f"{segment.kind} runs past a bound")
    if not version.unmasked:
        _need(not segment.bounds, f"{segment.kind} has bounds that nothing relies on")
        _need(extent % lanes == 0 or version.tail_mask is not None, f"{segment.kind} overruns")
    elif segment.end.constant is not None:
        _need(int(segment.end.constant) % lanes == 0, f"{segment.kind} ends within a vector")
    fast = segment is not loops.generic
    _need(fast or not version.contiguous, "the generic segment takes addresses to be contiguous")
    _need(not fast or set(version.checks) <= set(loops.checks), "a check is not made")


def _need(holds: object, message: str) -> None:
    if not holds:
        raise LoopsError(message)


def loops_text(loops: NestLoops, operand: Callable[[Operand], str]) -> Iterator[str]:
    """The lines of one nest; `operand` names values."""
    extents = " x ".join(map(str, loops.extents))
    inner = "" if loops.inner is None else f", axis {loops.inner} inside"
    yield f"nest {extents}, lanes along axis {loops.lane}{inner}"
    for strided in loops.accesses:
        yield f"    {_strides_text(strided, operand)}"
    if loops.checks:
        yield f"    if {' and '.join(check.text for check in loops.checks)}"
    for segment in loops.fast:
        yield from _segment_text(segment, operand)
    if loops.generic is not None:
        yield "    otherwise"
        yield from _segment_text(loops.generic, operand)


def _strides_text(access: StridedAccess, operand: Callable[[Operand], str]) -> str:
    steps = ", ".join("any" if s is None else s.text(operand) for s in access.strides)
    return f"{access.verb} {operand(access.place)}: strides {steps}"


def _segment_text(segment: Segment, operand: Callable[[Operand], str]) -> Iterator[str]:
    version = segment.body.version
    masks = dict.fromkeys(operand(b.mask) for b in version.bounds)
    while_ = f", while {' and '.join(masks)}" if masks else ""
    span = f"{segment.start.text} … {segment.end.text}"
    yield f"    {segment.kind} {span}, {segment.body.lanes} lanes a turn{while_}"
    for access in version.accesses:
        yield f"        {_access_text(access, version, operand)}"


def _access_text(access: Access, version: LoopVersion, operand: Callable[[Operand], str]) -> str:
    words = [f"{access.verb} {operand(access.place)}: {access.kind}"]
    if access.masked or (version.tail_mask is not None and access.kind != "one address"):
        words.append("masked")
    under = dict.fromkeys(operand(bound.mask) for bound in access.bounds)
    words += [f"under {' and '.join(under)}"] if under else []
    return ", ".join(words)
