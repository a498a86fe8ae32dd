"""The small kernel that `mytriton doctor` runs on each target."""

from __future__ import annotations

from typing import Any

from .. import language as tl
from ..runtime.jit import jit


@jit
def double_kernel(x: Any, out: Any, n: Any, BLOCK: tl.constexpr) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)
