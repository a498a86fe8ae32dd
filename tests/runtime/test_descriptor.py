"""Tensor descriptors made on the host are launch arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileValueError
from mytriton.ir.text import print_function
from mytriton.tools.tensor_descriptor import TensorDescriptor

TARGETS = ("interpret", "eager", "cpu")


@triton.jit
def double_kernel(source, out, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    out.store([row, column], 2 * source.load([row, column]))


def double(x: Any, out: Any, block: tuple[int, int], target: str, padding: str = "zero") -> None:
    grid = tuple(triton.cdiv(extent, part) for extent, part in zip(x.shape, block, strict=True))
    source = TensorDescriptor.from_tensor(x, list(block), padding)
    result = TensorDescriptor.from_tensor(out, list(block))
    double_kernel[grid](source, result, M=block[0], N=block[1], target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_ragged_arrays_of_numpy_and_torch(target: str) -> None:
    x = np.random.default_rng(0).standard_normal((19, 37)).astype(np.float32)
    out = np.zeros_like(x)
    double(x, out, (8, 16), target)
    np.testing.assert_array_equal(out, 2 * x)
    wide = torch.randn(19, 50)
    part = torch.zeros(19, 50)
    double(wide[:, 3:40], part[:, 3:40], (4, 32), target)
    assert torch.equal(part[:, 3:40], 2 * wide[:, 3:40])
    assert part[:, :3].count_nonzero() == 0
    assert part[:, 40:].count_nonzero() == 0


@pytest.mark.parametrize("target", TARGETS)
def test_padding_and_a_block_shape_set_before_the_launch(target: str) -> None:
    @triton.jit
    def kernel(source, out, M: tl.constexpr, N: tl.constexpr):
        value = source.load([0, 0])
        tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], value)

    x, out = np.ones((2, 3), np.float32), np.zeros((4, 4), np.float32)
    source = TensorDescriptor.from_tensor(x, [2, 2], "nan")
    source.block_shape = [4, 4]
    kernel[(1,)](source, out, M=4, N=4, target=target)
    expected = np.full((4, 4), np.nan, np.float32)
    expected[:2, :3] = 1
    np.testing.assert_array_equal(out, expected)


def test_the_block_shape_is_part_of_the_compilation() -> None:
    x = np.zeros((16, 16), np.float32)

    def text(block: int) -> str:
        source = TensorDescriptor.from_tensor(x, [block, 16])
        launch = double_kernel.warmup(source, source, M=block, N=16, target="cpu")
        return print_function(launch.function)

    double_kernel.clear_cache()
    four, eight = text(4), text(8)
    assert four == text(4) != eight
    assert len(double_kernel.compilations) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([4, 4], [4, 1], [2]), "of one rank"),
        (([4, 4], [1, 4], [2, 2]), "last stride"),
        (([4, 4], [4, 1], [2, 2], "one"), "padding"),
    ],
)
def test_wrong_descriptors_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(CompileValueError, match=message):
        TensorDescriptor(np.zeros((4, 4), np.float32), *arguments)
