"""The words that races keep beside arrays are not accessed outside them, whatever a kernel does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelMemoryError
from mytriton.runtime import checked
from tests.support.guarded import Guarded


@triton.jit
def locked_kernel(x, y, out, lock, N: tl.constexpr, BLOCK: tl.constexpr):
    """Adds up the rows of y and one number of x under a lock; y is read without a mask."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(y + row * N + i) + tl.load(x + row)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    inside = i < N
    tl.store(out + i, tl.load(out + i, mask=inside) + value, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.fixture
def words_at_page_ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything that a checked launch provides ends at a protected page."""

    class GuardedNumPy:
        def zeros(self, count: int, dtype: Any) -> Any:
            return Guarded(np.zeros(count, dtype), at_end=True).array

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    monkeypatch.setattr(checked, "np", GuardedNumPy())
    yield


@pytest.mark.usefixtures("words_at_page_ends")
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_a_load_outside_reads_no_words_outside(target: str) -> None:
    x, y = torch.ones(2, 12, 100)  # parts of one storage: words are kept for both
    for _ in range(4):
        out, lock = torch.zeros(100), torch.zeros(1, dtype=torch.int32)
        with triton.sanitize("bounds", "races"), pytest.raises(KernelMemoryError, match="lane 100"):
            locked_kernel[(12,)](x, y, out, lock, N=100, BLOCK=128, target=target)
