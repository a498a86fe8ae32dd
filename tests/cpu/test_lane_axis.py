"""The lanes of a nest run along the axis of its accesses' strides, and each access has a class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import made_for
from mytriton.targets.cpu.lower.expand import expand
from mytriton.targets.cpu.module import emitted
from mytriton.targets.cpu.segments import NestLoops

from .machines import MACHINES, runs_here
from .plans import compiled


@triton.jit
def transpose(x, out, N, M: tl.constexpr, K: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, K)[None, :]
    tl.store(out + c * N + r, tl.load(x + r * N + c))


@triton.jit
def column_sums(x, out, N, M: tl.constexpr, K: tl.constexpr):
    """Of a matrix whose columns lie one after the other."""
    r, c = tl.arange(0, M)[:, None], tl.arange(0, K)[None, :]
    tl.store(out + tl.arange(0, M), tl.sum(tl.load(x + r + c * N), axis=1))


@triton.jit
def copy(x, out, rows, columns, sr, sc, tr, tc, M: tl.constexpr, K: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, K)[None, :]
    mask = (r < rows) & (c < columns)
    tl.store(out + r * tr + c * tc, tl.load(x + r * sr + c * sc, mask, other=-1), mask)


def nests(kernel: Any, *arguments: Any, **constexprs: Any) -> list[NestLoops]:
    """The loops of a kernel for this machine."""
    kernel.clear_cache()
    with compiled() as found:
        kernel[(1,)](*arguments, **constexprs)
    function, overlap = found[kernel.__name__]
    return emitted(expand(function), overlap, MACHINES["here"])[0].writer.loops


def kinds(nest: NestLoops, generic: bool = False) -> list[str]:
    segment = nest.generic if generic else nest.fast[0]
    assert segment is not None
    return [access.kind for access in segment.body.version.accesses]


def test_a_transpose_stores_along_its_lanes() -> None:
    x = np.zeros((64, 64), np.float32)
    (nest,) = nests(transpose, x, x.copy(), 64, M=64, K=64)
    assert nest.lane == 0
    assert kinds(nest)[-1] == "contiguous"


def test_sums_of_columns_run_along_the_columns() -> None:
    x = np.zeros((64, 32), np.float32)
    nest = nests(column_sums, x, np.zeros(32, np.float32), 32, M=32, K=64)[0]
    assert (nest.lane, nest.inner) == (0, 1)
    assert kinds(nest)[0] == "contiguous"


def test_rows_stay_as_they_are() -> None:
    x = np.zeros((32, 64), np.float32)
    (nest,) = nests(copy, x, x.copy(), 32, 64, 64, 1, 64, 1, M=32, K=64)
    assert nest.lane == 1 and not nest.fast[0].body.version.accesses[0].masked


def test_an_access_that_is_not_contiguous_leaves_the_others_so() -> None:
    """The condition is asked at each access of the generic segment, not once for all."""
    x = np.zeros((32, 64), np.float32)
    (nest,) = nests(copy, x, x.copy(), 32, 64, 64, 1, 64, 1, M=32, K=64)
    assert all(kind.startswith("contiguous if %") for kind in kinds(nest, generic=True))


VIEWS = {
    "rows": lambda x: x[:20, :50],
    "every third column": lambda x: x[:20, :150:3],
    "every second row": lambda x: x[:40:2, :50],
    "columns": lambda x: x[:50, :20].T,
    "from the end": lambda x: x[:20, :50][:, ::-1],
    "one row for all": lambda x: np.broadcast_to(x[3, :50], (20, 50)),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("target", ["rows", "every third column", "columns", "from the end"])
@pytest.mark.parametrize("source", VIEWS)
def test_copies_between_strides(source: str, target: str, machine: str) -> None:
    if not runs_here(machine):
        pytest.skip("this processor cannot run that code")
    x = np.random.default_rng(0).standard_normal((64, 160)).astype(np.float32)
    x[0, :4] = np.nan, np.inf, -0.0, 1e-45
    out = np.full((64, 160), 7, np.float32)
    given, wanted = VIEWS[source](x), out.copy()
    VIEWS[target](wanted)[...] = given
    place = VIEWS[target](out)

    def first(view: Any, whole: Any) -> int:
        start = view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        return start // 4

    copy.clear_cache()
    steps = [step // 4 for step in (*given.strides, *place.strides)]
    flat = x.reshape(-1)[first(given, x) :], out.reshape(-1)[first(place, out) :]
    with made_for(MACHINES[machine]):
        copy[(1,)](*flat, 20, 50, *steps, M=32, K=64, target="cpu")
    copy.clear_cache()
    np.testing.assert_array_equal(out.view(np.int32), wanted.view(np.int32))
