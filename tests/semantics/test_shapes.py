"""Shapes, rule by rule; docs/semantics.md says which rule is which test.

Elsewhere: chains of rearrangements of any shape and dtype in tests/properties/test_shapes.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileValueError
from tests.support.backends import refused_everywhere, run_everywhere
from tests.support.block_functions import check_value

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


def test_scalars_and_extents_of_one_broadcast():
    row, column = np.arange(4, dtype=np.int32), np.arange(3, dtype=np.int32)[:, None]
    check_value(
        lambda r, c: (r + c, r * 2, c + 1), [row + column, row * 2, column + 1], row, column
    )
    check_value(lambda x, r: x + r, X + row, X, row)


@triton.jit
def stores_kernel(out, row, masks):
    square = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(out + square, tl.load(row + tl.arange(0, 4)))
    tl.store(out + 16 + square, 7, mask=(tl.arange(0, 4) < 2)[:, None])
    column = out + 32 + tl.arange(0, 4)[:, None] * 4
    tl.store(column + tl.arange(0, 4)[None, :], tl.load(row + tl.arange(0, 4)[None, :]))
    wide = tl.load(row + tl.arange(0, 4)[None, :], mask=tl.arange(0, 4)[:, None] < 3, other=-1)
    tl.store(masks + square, wide)


def test_rows_repeat_and_mask_and_pointer_broadcast_both_ways():
    row = np.array([5, 6, 7, 8], np.int32)
    out = np.zeros(48, np.int32)
    half = np.array([[7] * 4] * 2 + [[0] * 4] * 2)
    wide = np.where(np.arange(4)[:, None] < 3, row, -1)
    run_everywhere(
        stores_kernel, (1,), out, row, np.zeros((4, 4), np.int32),
        expected={"out": np.concatenate([np.tile(row, 4), half.ravel(), np.tile(row, 4)]),
                  "masks": wide},
    )  # fmt: skip


@triton.jit
def race_kernel(out):
    tl.store(out, tl.arange(0, 8))


def test_a_block_through_one_pointer_is_refused():
    refused_everywhere(
        race_kernel, (1,), np.zeros(8, np.int32), error=CompileValueError, match="one place"
    )


def test_reshape_keeps_row_major_order():
    check_value(
        lambda x: (tl.reshape(x, (4, 6)), tl.view(x, 3, 8), tl.ravel(x)),
        [X.reshape(4, 6), X.reshape(3, 8), X.ravel()], X,
    )  # fmt: skip
    check_value(lambda x: tl.reshape(x, (8, 3), can_reorder=True), X.reshape(8, 3), X)


def test_join_stacks_split_undoes_and_interleave_is_their_union():
    a, b = X[0], X[1]
    check_value(lambda a, b: tl.join(a, b), np.stack([a, b], -1), a, b)
    check_value(lambda a, b: tl.split(tl.join(a, b)), [a, b], a, b)
    check_value(lambda a, b: tl.interleave(a, b), np.stack([a, b], -1).reshape(3, 8), a, b)


def test_cat_keeps_the_order():
    a, b = X[0], X[1]
    for reorder in (False, True):
        check_value(
            lambda a, b, r=reorder: tl.cat(a, b, can_reorder=r), np.concatenate([a, b]), a, b
        )
    check_value(lambda a, b: tl.cat(a, b, dim=1), np.hstack([a, b]), a, b)


def test_axes_are_rearranged_as_in_numpy():
    wanted = X.transpose(2, 0, 1)
    check_value(lambda x: (tl.trans(x, (2, 0, 1)), x.trans(2, 0, 1), tl.permute(x, 2, 0, 1)),
          [wanted] * 3, X)  # fmt: skip
    check_value(lambda x: tl.trans(x), X.swapaxes(1, 2), X)
    check_value(
        lambda x: (tl.expand_dims(x, 1), tl.unsqueeze(x, -1)), [X[:, None], X[..., None]], X
    )
    check_value(lambda x: tl.squeeze(x[:1], 0), X[0], X)


def test_gather_picks_along_an_axis():
    index = np.array([[2, 0, 1, 1], [0, 2, 2, 1], [1, 1, 0, 0]], np.int32)
    check_value(lambda x, i: tl.gather(x, i, 0), np.take_along_axis(X[0], index, 0), X[0], index)


@pytest.mark.parametrize("extent", [1, 3, 17, 1000])
def test_extents_may_be_any_number(extent):
    x = np.arange(extent, dtype=np.int32)
    check_value(lambda x: x * 2 + tl.arange(0, extent), x * 3, x)
    check_value(lambda x: tl.sum(x, 0), np.int32(x.sum()), x)


@pytest.mark.parametrize("index", [(0,), (-1,), (1, slice(None), 2), (Ellipsis, 3), (0, 1, 2)])
def test_constant_indices_pick(index):
    check_value(lambda x: x[index], X[index], X)


@pytest.mark.parametrize("part", [slice(1, 3), slice(0, 1), slice(2, None)])
def test_constant_ranges_keep_their_axis(part):
    check_value(lambda x: x[:, part], X[:, part], X)
