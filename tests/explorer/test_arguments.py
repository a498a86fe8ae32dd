"""Every kind of argument that a launch takes can be explained."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.explorer import Explanation
from mytriton.explorer.document import schema
from mytriton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def checked(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.device_assert(value >= 0.0, "negative")
    tl.store(out + i, value, mask=i < n)


@triton.jit
def pair(xs, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(xs[0] + i) + tl.load(xs[1] + i) * xs[2])


@triton.jit
def window(source, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i[:, None] * BLOCK + i[None, :], source.load([0, 0]))


class Holder:
    @triton.jit
    def method(self, x):
        tl.store(x, 1.0)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % 2 == 0})
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def sanitized() -> Explanation:
    with triton.sanitize():
        made: Explanation = checked.explain(ones(9), ones(9), 9, grid=1, BLOCK=16)
        return made


CALLS: dict[str, Callable[[], Explanation]] = {
    "numpy": lambda: checked.explain(ones(9), ones(9), 9, grid=(1,), BLOCK=16),
    "torch": lambda: checked.explain(torch.ones(9), torch.ones(9), 9, grid=(1,), BLOCK=16),
    "debug": lambda: checked.explain(ones(9), ones(9), 9, grid=1, BLOCK=16, debug=True),
    "sanitized": sanitized,
    "tuple": lambda: pair.explain((ones(64), ones(64), 2.0), ones(64), grid=(1,), BLOCK=64),
    "descriptor": lambda: window.explain(
        TensorDescriptor.from_tensor(ones(32, 32), [16, 16]), ones(16, 16), grid=(1,), BLOCK=16
    ),
    "method": lambda: Holder().method.explain(ones(1), grid=1),
    "tuned": lambda: tuned.explain(ones(100), 100, grid=lambda m: (triton.cdiv(100, m["BLOCK"]),)),
    "no elements": lambda: checked.explain(ones(0), ones(0), 0, grid=(1,), BLOCK=16),
    "no programs": lambda: checked.explain(ones(9), ones(9), 9, grid=(0,), BLOCK=16),
    "no grid": lambda: checked.explain(ones(9), ones(9), 9, BLOCK=16),
}


@pytest.mark.parametrize("name", CALLS)
def test_explained(name: str) -> None:
    explained = CALLS[name]()
    document = explained.document
    jsonschema.validate(json.loads(explained.json), schema())
    assert [column.name for column in document.columns if column.error] == []
    assert (document.run is None) == (name == "no grid")
    assert explained.html.startswith("<!doctype html>")
