"""The layouts of the document are those that the CUDA text was printed with."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.explorer.document import Document
from mytriton.layouts.linear import Layout
from mytriton.layouts.picture import holders_of


@triton.jit
def product(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    at = i * N + j
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@pytest.fixture(scope="module")
def document() -> Document:
    a, c = np.ones((32, 32), np.float16), np.empty((32, 32), np.float32)
    made: Document = product.explain(a, a.copy(), c, N=32, num_warps=4).document
    return made


def test_every_layout_holds_every_element(document: Document) -> None:
    assert document.layouts
    for view in document.layouts:
        layout = Layout(view.shape, view.register, view.lane, view.warp)
        assert len(holders_of(layout)) == np.prod(view.shape)
        assert view.picture.startswith(str(layout))


def test_the_loads_are_in_a_layout_of_their_own(document: Document) -> None:
    held = {value.name: view for view in document.layouts for value in view.values}
    loads = [value for view in document.layouts for value in view.values if "= load" in value.text]
    assert len(loads) == 2
    for load in loads:
        assert held[load.name].register[:3] == (1, 2, 4), "16 bytes a thread"
        assert document.places[load.place][0].function == "product"


def test_operands_move_through_shared_memory_without_conflicts(document: Document) -> None:
    shared = [move for move in document.moves if move.kind == "shared"]
    assert len(shared) >= 2
    for move in shared:
        assert move.conflicts == (1, 1)
        size = int(np.prod(document.layouts[move.source].shape))
        offsets = {xor(move.offsets, index) for index in range(size)}
        assert offsets == set(range(size)), "a bijection"


def xor(bases: tuple[int, ...], number: int) -> int:
    total = 0
    for bit, base in enumerate(bases):
        total ^= base if number >> bit & 1 else 0
    return total


def test_a_kernel_of_scalars_has_no_layouts() -> None:
    @triton.jit
    def scalar(x):
        tl.store(x, tl.load(x) + 1.0)

    assert scalar.explain(np.ones(1, np.float32)).document.layouts == ()
