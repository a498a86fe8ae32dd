"""torchao's kernels of quantised products, against PyTorch on the dequantised numbers, and against
the library's own functions in PyTorch where it has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torchao.kernel import blockwise_quantization
from torchao.prototype.blockwise_fp8_training import kernels as fp8
from torchao.prototype.hqq import mixed_mm
from torchao.prototype.quantized_training import int8_mm

from integration.harness import Case, close

E4M3 = torch.float8_e4m3fn


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def integers(*shape: int, seed: int = 0) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randint(-128, 128, shape, generator=made).to(torch.int8)


def tiles(scales: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Each scale over the (rows, columns) of numbers that it belongs to."""
    return scales.repeat_interleave(rows, 0).repeat_interleave(columns, 1)


def scaled_int8_mm(dtype: torch.dtype) -> None:
    a, b = integers(64, 96), integers(96, 48, seed=1)
    rows, columns = normal(64, seed=2).to(dtype), normal(48, seed=3).to(dtype)
    expected = (a.int() @ b.int()).float() * rows.float()[:, None] * columns.float()
    close(int8_mm.scaled_int8_mm_cuda(a, b, rows, columns), expected.to(dtype))


def act_quant() -> None:
    x = 9 * normal(40, 256)
    quantised, scales = blockwise_quantization.fp8_blockwise_act_quant(x)
    close(scales, x.view(40, 2, 128).abs().amax(-1) / 448)
    close(quantised.float() * tiles(scales, 1, 128), x, 1300)


def weight_quant() -> None:
    x = 9 * normal(256, 384)
    quantised, scales = blockwise_quantization.fp8_blockwise_weight_quant(x)
    close(scales, x.view(2, 128, 3, 128).abs().amax((1, 3)) / 448)
    back = blockwise_quantization.fp8_blockwise_weight_dequant(quantised, scales)
    close(back, quantised.float() * tiles(scales, 128, 128))


def blockwise_gemm() -> None:
    a, a_scales = blockwise_quantization.fp8_blockwise_act_quant(normal(40, 256))
    b, b_scales = blockwise_quantization.fp8_blockwise_weight_quant(normal(384, 256, seed=1))
    expected = (a.float() * tiles(a_scales, 1, 128)) @ (b.float() * tiles(b_scales, 128, 128)).T
    result = blockwise_quantization.blockwise_fp8_gemm(a, a_scales, b, b_scales)
    close(result, expected.to(result.dtype), 2)


def same_bits(actual: torch.Tensor, expected: torch.Tensor) -> None:
    close(actual.contiguous().float(), expected.contiguous().float())


def training_act_quant_lhs() -> None:
    x = normal(64, 256).bfloat16()
    quantised, scales = fp8.triton_fp8_blockwise_act_quant_lhs(x)
    expected, expected_scales = fp8.torch_blockwise_scale_act_quant_lhs(x)
    close(scales, expected_scales)
    same_bits(quantised, expected)


def training_act_quant_rhs() -> None:
    x = normal(256, 128).bfloat16()
    quantised, scales = fp8.triton_fp8_blockwise_act_quant_rhs(x)
    expected, expected_scales = fp8.torch_blockwise_scale_act_quant_rhs(x)
    close(scales, expected_scales)
    same_bits(quantised, expected)


def training_act_quant_transposed_lhs() -> None:
    x = normal(128, 256).bfloat16()
    quantised, scales = fp8.triton_fp8_blockwise_act_quant_transposed_lhs(x)
    expected, expected_scales = fp8.torch_blockwise_scale_act_quant_lhs(x.T.contiguous())
    close(scales, expected_scales)
    same_bits(quantised, expected)


def training_weight_quant() -> None:
    x = normal(256, 384).bfloat16()
    expected, expected_scales = fp8.torch_blockwise_scale_weight_quant(x)
    quantised, scales = fp8.triton_fp8_blockwise_weight_quant_rhs(x)
    close(scales, expected_scales)
    same_bits(quantised, expected)
    quantised, scales = fp8.triton_fp8_blockwise_weight_quant_transposed_rhs(x)
    close(scales, expected_scales.T)
    same_bits(quantised, expected.T)


def training_gemm() -> None:
    a, a_scales = fp8.triton_fp8_blockwise_act_quant_lhs(normal(64, 256).bfloat16())
    weight = normal(384, 256, seed=1).bfloat16()
    b, b_scales = fp8.triton_fp8_blockwise_weight_quant_transposed_rhs(weight)
    expected = (a.float() * tiles(a_scales, 1, 128)) @ (b.float() * tiles(b_scales, 128, 128))
    close(fp8.triton_fp8_gemm_1x128_128x128(a, b, a_scales, b_scales), expected, 2)


def hqq_mixed_mm(dtype: torch.dtype) -> None:
    """Weights of four bits, two a byte along K, a scale and a zero for each 64 of them."""
    group, k, n = 64, 128, 64
    made = torch.Generator().manual_seed(0)
    weights = torch.randint(0, 16, (k, n), generator=made, dtype=torch.uint8)
    scales, zeros = (normal(n, k // group, seed=s).to(dtype).abs() for s in (1, 2))
    # The library dequantises in the dtype.
    whole = (weights.to(dtype) - _along_k(zeros, group)) * _along_k(scales, group)
    x = normal(32, k, seed=3).to(dtype)
    packed = mixed_mm.pack_2xint4(weights)
    result = mixed_mm.triton_mixed_mm(x, packed, scales.T, zeros.T, group)
    close(result, (x.float() @ whole.float()).to(dtype), 6)


def _along_k(values: torch.Tensor, group: int) -> torch.Tensor:
    return values.T.repeat_interleave(group, 0)


PLAIN = (
    act_quant, weight_quant, blockwise_gemm, training_act_quant_lhs,
    training_act_quant_rhs, training_act_quant_transposed_lhs, training_weight_quant, training_gemm,
)  # fmt: skip


def cases() -> Iterator[Case]:
    for run in PLAIN:
        yield Case(run.__name__, "", run)
    for dtype in (torch.float32, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        yield Case("scaled_int8_mm", name, partial(scaled_int8_mm, dtype))
    for dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        yield Case("hqq_mixed_mm", name, partial(hqq_mixed_mm, dtype))
