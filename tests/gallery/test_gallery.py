"""Every kernel of examples/gallery agrees with its reference, small on every target, and larger.

One idea: each example offers `inputs(*sizes)`, a function of its own name that takes them, and
`reference` in higher precision; so a row of the table is its tolerance and some sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import mytriton as triton

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


@dataclass(frozen=True)
class Example:
    """tolerance: relative, and absolute, of every float result; integers must be equal.

    tiny: sizes that the interpreter can do too, among them extents of 1; ragged: for the CPU.
    """

    tolerance: float
    tiny: tuple[tuple[Any, ...], ...]
    ragged: tuple[tuple[Any, ...], ...]


HALF = 1e-2  # results are rounded to float16 or bfloat16
FLOAT = 1e-4
EXACT = 0.0

EXAMPLES = {
    "adam": Example(FLOAT, ((1, 1), (37, 2)), ((3000, 2),)),
    "batched_gemm": Example(FLOAT, ((1, 1, 1, 1), (9, 3, 2, 5)), ((77, 9, 17, 12),)),
    "bilinear_resize": Example(
        FLOAT, ((1, 1, (1, 1), (3, 2)), (1, 2, (4, 5), (7, 3))), ((2, 3, (31, 17), (40, 9)),)
    ),
    "conv2d": Example(
        FLOAT,
        ((1, (1, 1), (1, 1), (1, 1), 1, 0), (2, (3, 2), (5, 4), (3, 3), 1, 1)),
        ((2, (20, 6), (19, 23), (3, 5), 2, 2),),
    ),
    "cross_entropy": Example(FLOAT, ((1, 1), (5, 7)), ((9, 2500),)),
    "depthwise_conv1d": Example(FLOAT, ((1, 1, 1, 1), (1, 5, 3, 4)), ((2, 75, 70, 3),)),
    "dropout": Example(FLOAT, ((1, 1, 0.5, 7), (5, 7, 0.1, -3)), ((30, 77, 0.3, 2**35 + 1),)),
    "fft": Example(FLOAT, ((1, 1), (3, 2), (2, 16)), ((5, 1024),)),
    "flash_attention": Example(HALF, ((1, 1, 1, 1), (1, 2, 40, 5)), ((2, 2, 100, 20),)),
    "game_of_life": Example(EXACT, ((1, 1, 2), (5, 7, 3)), ((45, 75, 20),)),
    "grouped_gemm": Example(
        HALF, (((1, 1, 1),), ((3, 5, 7), (40, 2, 33))), (((100, 65, 70), (1, 300, 5), (33, 33, 1)),)
    ),
    "histogram": Example(EXACT, ((1, 1), (100, 10)), ((20_001, 100),)),
    "int8_matmul": Example(FLOAT, ((1, 1, 1), (5, 7, 64)), ((50, 70, 130), (33, 31, 128))),
    "kmeans": Example(FLOAT, ((1, 1, 1), (20, 3, 2)), ((500, 11, 13),)),
    "layer_norm_backward": Example(1e-3, ((1, 1), (6, 5)), ((77, 300),)),
    "mandelbrot": Example(EXACT, ((1, 1, 5), (9, 11, 12)), ((50, 70, 60),)),
    "moe_permute": Example(FLOAT, ((1, 1, 1, 1), (7, 5, 4, 2)), ((150, 200, 12, 3),)),
    "paged_attention": Example(
        HALF, (([1], 1, 1, 1, 1), ([1, 9], 4, 2, 5, 4)), (([5, 100, 64], 12, 4, 20, 16),)
    ),
    "philox_noise": Example(FLOAT, ((1, 1.0, 0), (100, 0.5, -1)), ((5001, 2.0, 2**40 + 7),)),
    "radix_sort": Example(EXACT, ((1, 5), (100, 50)), ((3001, 2**31 - 1), (1000, 3))),
    "rms_norm": Example(1e-3, ((1, 1), (10, 5)), ((77, 300),)),
    "rnn_scan": Example(FLOAT, ((1, 1, 1), (1, 18, 3)), ((2, 77, 40),)),
    "rope": Example(HALF, ((1, 1, 1, 2), (2, 3, 3, 6)), ((2, 33, 5, 40),)),
    "segmented_scan": Example(1e-3, ((1, 1), (2, 300)), ((7, 1001),)),
    "sparse_csr": Example(FLOAT, ((1, 1, 0.5), (5, 20, 0.3)), ((200, 101, 0.1),)),
    "split_k": Example(1e-3, ((1, 1, 1), (5, 3, 70)), ((50, 33, 700),)),
    "stream_k": Example(1e-3, ((1, 1, 1), (5, 40, 70)), ((100, 70, 333), (10, 10, 500))),
    "swiglu": Example(HALF, ((1, 1), (3, 7)), ((30, 111),)),
    "topk_routing": Example(FLOAT, ((1, 1, 1), (5, 6, 3)), ((100, 60, 5),)),
    "tridiagonal": Example(FLOAT, ((1, 1), (4, 3)), ((30, 150),)),
}

CASES = [
    pytest.param(name, target, sizes, id=f"{name}-{target}-{sizes}")
    for name, example in EXAMPLES.items()
    for target, cases in (
        ("interpret", example.tiny),
        ("cpu", example.tiny + example.ragged),
    )
    for sizes in cases
]


def numbers(result: Any) -> list[torch.Tensor]:
    """The arrays of a result in order, as real tensors."""
    if isinstance(result, (tuple, list)):
        return [tensor for part in result for tensor in numbers(part)]
    tensor = torch.from_numpy(result) if isinstance(result, np.ndarray) else result
    return [torch.view_as_real(tensor) if tensor.is_complex() else tensor]


def require_close(actual: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    assert actual.shape == expected.shape
    if not actual.is_floating_point():
        assert torch.equal(actual, expected)
    else:
        torch.testing.assert_close(
            actual.double(), expected.double(), rtol=tolerance, atol=tolerance
        )


def test_every_example_is_in_the_table() -> None:
    assert sorted(path.stem for path in GALLERY.glob("*.py")) == sorted(EXAMPLES)


@pytest.mark.parametrize(("name", "target", "sizes"), CASES)
def test_agrees_with_reference(name: str, target: str, sizes: tuple[Any, ...]) -> None:
    module = import_module(f"examples.gallery.{name}")
    arguments = module.inputs(*sizes)
    with triton.target(target):
        actual = numbers(getattr(module, name)(*arguments))
    expected = numbers(module.reference(*arguments))
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected):
        require_close(one, other, EXAMPLES[name].tolerance)


@pytest.mark.parametrize("name", EXAMPLES)
def test_main_reports(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    import_module(f"examples.gallery.{name}").main()
    printed = capsys.readouterr().out
    assert name in printed
    assert "False" not in printed and "nan" not in printed
