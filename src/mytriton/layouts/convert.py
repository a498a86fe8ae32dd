"""How a block changes from one layout to another: a plan that NumPy simulates and CUDA prints.

Each location of the target needs a location of the source that holds the same element; since both
are linear, it is enough to find one for each basis of the target. Where the source is always the
same thread, registers are permuted; where it is a lane of the same warp, lanes exchange by shuffle;
otherwise the block goes through shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from .linear import Bases, Layout, Span, combine
from .swizzle import Swizzle, swizzle


@dataclass(frozen=True)
class Permute:
    """Register r of the target is register `source[r]` of the same thread."""

    source: Bases


@dataclass(frozen=True)
class Shuffle:
    """Register r of the target is register `source[r]` of lane L(thread) ^ `flip[r]` of the same
    warp, where L is the linear map of the thread's number with the bases `lane`."""

    source: Bases
    flip: Bases
    lane: Bases


@dataclass(frozen=True)
class Shared:
    """The source is written to shared memory and read back, at offsets `swizzle` gives."""

    swizzle: Swizzle


Plan = Permute | Shuffle | Shared


def convert(source: Layout, target: Layout, element_bytes: int = 4) -> Plan:
    """The cheapest plan that holds in `target` what is held in `source`.

    Both have one shape and the same numbers of lanes and warps.
    """
    assert source.shape == target.shape, f"{source.shape} is not {target.shape}"
    assert len(source.thread) == len(target.thread)
    moves = _moves(source, target)
    if moves is None:
        return Shared(swizzle(source, target, element_bytes))
    registers, threads = moves
    count = 1 << len(source.register)
    every = [combine(registers, r) for r in range(target.registers)]
    pick = tuple(place & count - 1 for place in every)
    flip = tuple(place // count for place in every)
    stays = tuple(1 << i if i < len(source.lane) else 0 for i in range(len(source.thread)))
    if not any(flip) and threads == stays:
        return Permute(pick)
    return Shuffle(pick, flip, threads)


def _moves(source: Layout, target: Layout) -> tuple[Bases, Bases] | None:
    """For each register basis of the target its source (register bits, then lane bits), and for
    each thread bit the source lane; None where the source is not in the thread's own warp, or is
    another register in each lane.

    A lane whose own register holds the element is preferred, so that copies are read in place.
    """
    inside = Span(source.register + source.lane)
    lanes = Span(source.lane)
    registers = [inside.solve(base) for base in target.register]
    threads = []
    for bit, (own, base) in enumerate(zip(source.thread, target.thread)):
        further = lanes.solve(base ^ own)
        here = 1 << bit if bit < len(source.lane) else 0
        threads.append(None if further is None else further ^ here)
    if None in registers or None in threads:
        return None
    return tuple(r or 0 for r in registers), tuple(t or 0 for t in threads)
