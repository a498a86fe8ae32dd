"""The checker of loops takes what is emitted, and refuses it with one thing wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from mytriton.targets.cpu.code import const
from mytriton.targets.cpu.lower.expand import expand
from mytriton.targets.cpu.module import emitted
from mytriton.targets.cpu.nest import Bound
from mytriton.targets.cpu.segments import LoopsError, NestLoops, Segment, check_loops

from .machines import MACHINES
from .plans import kernels_of


@pytest.fixture(scope="module")
def nests() -> list[NestLoops]:
    """The loops of kernels with masks, tails, checks and strides."""
    functions = [*kernels_of("more").values(), *kernels_of("matmul").values()]
    found = []
    for function, overlap in functions:
        found += emitted(expand(function), overlap, MACHINES["avx2"])[0].writer.loops
    return found


def with_segment(loops: NestLoops, number: int, segment: Segment) -> NestLoops:
    return replace(loops, fast=(*loops.fast[:number], segment, *loops.fast[number + 1 :]))


def with_version(segment: Segment, **changes: Any) -> Segment:
    """The segment with another version of its body."""
    version = replace(segment.body.version, **changes)
    return replace(segment, body=replace(segment.body, version=version))


def wrong(loops: NestLoops) -> Iterator[tuple[str, NestLoops]]:
    for number, segment in enumerate(loops.fast):
        yield "a late start", with_segment(loops, number, replace(segment, start=const("i64", 1)))
        if segment.bounds:
            yield "no bounds", with_segment(loops, number, replace(segment, bounds=()))
            fewer = replace(segment, bounds=segment.bounds[1:])
            yield "a bound less", with_segment(loops, number, fewer)
        masked = with_version(segment, unmasked=False)
        if any(access.bounds for access in segment.body.version.accesses):
            yield "a version with masks that tests none", with_segment(loops, number, masked)
        if not segment.body.version.unmasked and segment.body.version.tail_mask is not None:
            open_ = with_version(segment, tail_mask=None)
            yield "a tail that overruns", with_segment(loops, number, open_)
        if segment.kind == "main" and segment.end.constant is not None:
            end = const("i64", int(segment.end.constant) - 1)
            yield "an end within a vector", with_segment(loops, number, replace(segment, end=end))
    if len(loops.fast) == 2:
        yield "no tail", replace(loops, fast=loops.fast[:1])
        yield "segments swapped", replace(loops, fast=loops.fast[::-1])
    if loops.generic is not None:
        yield "no generic segment", replace(loops, generic=None)
        yield "no checks", replace(loops, checks=())
        yield "a check less", replace(loops, checks=loops.checks[1:])
        contiguous = with_version(loops.generic, contiguous=True)
        yield "a generic segment that assumes", replace(loops, generic=contiguous)


def test_what_is_emitted_is_taken_and_what_is_wrong_refused(nests: list[NestLoops]) -> None:
    kinds: dict[str, int] = {}
    for loops in nests:
        check_loops(loops)
        for kind, changed in wrong(loops):
            with pytest.raises(LoopsError):
                check_loops(changed)
            kinds[kind] = kinds.get(kind, 0) + 1
    assert len(kinds) >= 11 and sum(kinds.values()) >= 60, kinds


def test_an_access_may_not_rely_on_another_segments_bound(nests: list[NestLoops]) -> None:
    loops = next(loops for loops in nests if loops.fast[0].bounds)
    main = loops.fast[0]
    other = Bound(None, const("i64", 3), const("i64", 3))
    accesses = [replace(a, bounds=(other,)) for a in main.body.version.accesses]
    with pytest.raises(LoopsError, match="past a bound"):
        check_loops(with_segment(loops, 0, with_version(main, accesses=accesses)))
