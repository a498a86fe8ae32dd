"""conch-triton-kernels: activations, norms, quantisation, attention and vision, each against the
library's own reference or PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from integration.harness import Case, close

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def ops(module: str) -> Any:
    return importlib.import_module(f"conch.ops.{module}")


def reference(module: str) -> Any:
    return importlib.import_module(f"conch.reference.{module}")


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=made).to(dtype)


def silu_and_mul(dtype: torch.dtype) -> None:
    x = normal(7, 2 * 100, dtype=dtype)
    left, right = x.float().chunk(2, -1)
    close(ops("activation.silu_and_mul").silu_and_mul(x), (F.silu(left) * right).to(dtype), 2)


def gelu_tanh_and_mul(dtype: torch.dtype) -> None:
    x = normal(7, 2 * 100, dtype=dtype)
    left, right = x.float().chunk(2, -1)
    result = ops("activation.gelu_tanh_and_mul").gelu_tanh_and_mul(x)
    close(result, (F.gelu(left, approximate="tanh") * right).to(dtype), 2)


def rms_norm(dtype: torch.dtype) -> None:
    x, weight = normal(9, 130, dtype=dtype), normal(130, dtype=dtype, seed=1)
    expected = F.rms_norm(x.float(), (130,), weight.float(), 1e-5).to(dtype)
    close(ops("normalization.rms_norm").rms_norm(x, weight, 1e-5), expected, 2)


def fused_add_rms_norm(dtype: torch.dtype) -> None:
    x, residual = normal(9, 130, dtype=dtype), normal(9, 130, dtype=dtype, seed=2)
    weight = normal(130, dtype=dtype, seed=1)
    expected = reference("normalization.rms_norm").fused_add_rms_norm(x, residual, weight, 1e-5)
    given = (x.clone(), residual.clone(), weight, 1e-5)
    close(ops("normalization.rms_norm").fused_add_rms_norm(*given), expected, 2)


def gemma_rms_norm(dtype: torch.dtype) -> None:
    x, weight = normal(9, 130, dtype=dtype), normal(130, dtype=dtype, seed=1)
    residual = normal(9, 130, dtype=dtype, seed=2)
    ours = ops("normalization.gemma_rms_norm").gemma_rms_norm
    theirs = reference("normalization.gemma_rms_norm").gemma_rms_norm
    close(ours(x.clone(), weight, 1e-5), theirs(x, weight, 1e-5), 2)
    # Of the pair that a residual gives only the first: the library normalises the second too.
    expected, _ = theirs(x, weight, 1e-5, residual)
    close(ours(x.clone(), weight, 1e-5, residual.clone())[0], expected, 2)


def fp8_quantisation(dtype: torch.dtype) -> None:
    x, scale = 30 * normal(7, 65, dtype=dtype), torch.tensor([0.7])
    result, _ = ops("quantization.fp8").scaled_fp8_quant(x, scale)
    close(result.float(), reference("quantization.fp8").scaled_fp8_quant(x, scale).float())


def int8_quantisation(dtype: torch.dtype) -> None:
    x, scale = 60 * normal(7, 65, dtype=dtype), torch.tensor([0.5])
    result, _ = ops("quantization.int8").scaled_int8_quant(x, scale)
    close(result, reference("quantization.int8").scaled_int8_quant(x.float(), scale))


def scaled_gemm(dtype: torch.dtype) -> None:
    made = torch.Generator().manual_seed(0)
    a = torch.randint(-128, 128, (33, 64), generator=made).to(torch.int8)
    b = torch.randint(-128, 128, (64, 48), generator=made).to(torch.int8)
    scales = normal(33, 1).abs() / 100, normal(48, 1, seed=1).abs() / 100
    bias = normal(48, dtype=dtype, seed=2)
    expected = reference("quantization.scaled_gemm").scaled_gemm(a, b, *scales, dtype, bias)
    close(ops("quantization.gemm").scaled_gemm(a, b, *scales, dtype, bias), expected, 3)


def mixed_precision_gemm(bits: int, dtype: torch.dtype) -> None:
    """Weights of 4 or 8 bits, packed along K into int32, one scale for 64 of them."""
    group, k, n = 64, 256, 128
    made = torch.Generator().manual_seed(0)
    weights = torch.randint(0, 2**bits, (k, n), generator=made)
    each = 32 // bits
    shifts = bits * torch.arange(each)[None, :, None]
    packed = (weights.view(k // each, each, n) << shifts).sum(1)
    packed = torch.where(packed >= 2**31, packed - 2**32, packed).to(torch.int32)
    scales = normal(k // group, n, dtype=dtype, seed=1).abs() / 16
    x, bias = normal(17, k, dtype=dtype, seed=2), 2 ** (bits - 1)
    whole = (weights - bias) * scales.float().repeat_interleave(group, 0)
    result = ops("quantization.gemm").mixed_precision_gemm(
        x, packed, scales, None, bits, bias, group
    )
    # The library multiplies by the scales in their dtype.
    close(result, (x.float() @ whole.to(dtype).float()).to(dtype), 4)


def four_bits(kind: str, dtype: torch.dtype) -> None:
    functional = ops("quantization.bitsandbytes.functional")
    x = normal(512, dtype=dtype)
    packed, state = functional.quantize_4bit(x, quant_type=kind)
    folder = "quantization.bitsandbytes"
    expected = torch.empty_like(packed), torch.empty(8, dtype=torch.float32)
    quantise = reference(f"{folder}.quantize_blockwise").quantize_blockwise_launcher
    bits = torch.empty(x.numel() // 2, dtype=torch.uint8)
    quantise(x.flatten(), expected[1], bits, None, 64, x.numel(), kind)
    close(packed.flatten(), bits)
    result = functional.dequantize_4bit(packed, state, quant_type=kind)
    dequantise = reference(f"{folder}.dequantize_blockwise").dequantize_blockwise_launcher
    whole = torch.empty(x.numel(), dtype=dtype)
    dequantise(bits, expected[1], whole, None, 64, x.numel(), kind)
    close(result.flatten(), whole)


def rotary_embedding(dtype: torch.dtype) -> None:
    module, size = reference("embedding.rotary_embedding"), 32
    cache = module.compute_cos_sin_cache(10000.0, size, 64).to(dtype)
    positions = torch.randint(0, 64, (11,), generator=torch.Generator().manual_seed(0))
    query, key = normal(11, 4 * size, dtype=dtype), normal(11, 2 * size, dtype=dtype, seed=1)
    expected = module.rotary_embedding(
        positions, query.clone(), key.clone(), cache, size, size, is_neox_style=True
    )
    ours = ops("embedding.rotary_embedding").rotary_embedding
    result = ours(positions, query.clone(), key.clone(), size, cache)
    close([x.flatten() for x in result], [x.flatten() for x in expected], 2)


def paged_attention(dtype: torch.dtype) -> None:
    """One query a sequence; keys and values in blocks of 16 that a table names."""
    batch, heads, groups, size, block = 3, 4, 2, 32, 16
    lengths = torch.tensor([5, 40, 64], dtype=torch.int32)
    table = torch.randperm(12, generator=torch.Generator().manual_seed(0)).to(torch.int32)
    table = table.view(batch, 4)
    keys, values = (normal(12, block, groups, size, dtype=dtype, seed=s) for s in (1, 2))
    query = normal(batch, heads, size, dtype=dtype)
    result = ops("attention.paged_attention").paged_attention(
        query, keys, values, table, lengths, scale=size**-0.5
    )
    for row in range(batch):
        k, v = (c[table[row].long()].flatten(0, 1)[: lengths[row]].float() for c in (keys, values))
        k, v = (x.repeat_interleave(heads // groups, 1).transpose(0, 1) for x in (k, v))
        expected = F.scaled_dot_product_attention(query[row].float()[:, None], k, v)
        close(result[row], expected[:, 0].to(dtype), 3)


def varlen_attention(causal: bool, dtype: torch.dtype) -> None:
    """Sequences of several queries, one after another; keys and values in blocks of 16."""
    heads, groups, size, block = 4, 2, 32, 16
    queries, lengths = [3, 20, 1], torch.tensor([5, 40, 64], dtype=torch.int32)
    starts = torch.tensor([0, 3, 23, 24], dtype=torch.int32)
    table = torch.randperm(12, generator=torch.Generator().manual_seed(0)).to(torch.int32)
    table = table.view(3, 4)
    keys, values = (normal(12, block, groups, size, dtype=dtype, seed=s) for s in (1, 2))
    query = normal(24, heads, size, dtype=dtype)
    result = ops("attention.varlen_attention").varlen_attention(
        query, keys, values, starts, 20, lengths, 64, table, causal=causal, scale=size**-0.5
    )
    for row, count in enumerate(queries):
        length = int(lengths[row])
        k, v = (c[table[row].long()].flatten(0, 1)[:length].float() for c in (keys, values))
        k, v = (x.repeat_interleave(heads // groups, 1).transpose(0, 1) for x in (k, v))
        mine = slice(int(starts[row]), int(starts[row + 1]))
        seen = torch.ones(count, length, dtype=torch.bool)
        # The library counts a query's place from its sequence's first; a single one sees all.
        seen = seen.tril() if causal and count > 1 else seen
        q = query[mine].float().transpose(0, 1)
        expected = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        close(result[mine], expected.transpose(0, 1).to(dtype), 3)


def copy_blocks(dtype: torch.dtype) -> None:
    keys, values = ([normal(6, 64, dtype=dtype, seed=s + i) for i in range(2)] for s in (0, 9))
    pairs = [(0, 3), (1, 5)]
    expected = [x.clone() for x in keys], [x.clone() for x in values]
    reference("vllm.copy_blocks").copy_blocks(*expected, pairs)
    ops("vllm.copy_blocks").copy_blocks(keys, values, torch.tensor(pairs))
    close((keys, values), expected)


def reshape_and_cache(dtype: torch.dtype) -> None:
    key, value = normal(5, 2, 32, dtype=dtype), normal(5, 2, 32, dtype=dtype, seed=1)
    caches = [torch.zeros(4, 16, 2, 32, dtype=dtype) for _ in range(4)]
    slots, one = torch.tensor([3, 17, 60, 5, 31]), torch.ones(1)
    ops("vllm.reshape_and_cache").reshape_and_cache(key, value, *caches[:2], slots)
    reference("vllm.reshape_and_cache").reshape_and_cache(
        key, value, *caches[2:], slots, "auto", one, one
    )
    close(caches[:2], caches[2:])


def nms(dtype: torch.dtype) -> None:
    made = torch.Generator().manual_seed(0)
    corners = 50 * torch.rand(40, 2, generator=made)
    boxes = torch.cat([corners, corners + 5 + 20 * torch.rand(40, 2, generator=made)], 1)
    scores = torch.rand(40, generator=made)
    kept = ops("vision.nms").nms(boxes.to(dtype), scores.to(dtype), 0.4)
    close(kept, _nms(boxes, scores, 0.4))


def _nms(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> torch.Tensor:
    """The boxes, best first, that overlap no better one that is kept."""
    kept: list[int] = []
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    for box in scores.argsort(descending=True).tolist():
        low = torch.maximum(boxes[kept, :2], boxes[box, :2])
        high = torch.minimum(boxes[kept, 2:], boxes[box, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        if not (shared / (areas[kept] + areas[box] - shared) > threshold).any():
            kept.append(box)
    return torch.tensor(kept)


def bev_pool(dtype: torch.dtype) -> None:
    features, counts = normal(60, 20, dtype=dtype), torch.tensor([7, 1, 30, 22], dtype=torch.int32)
    starts = torch.tensor([0, 7, 8, 38], dtype=torch.int32)
    cells = torch.tensor([[0, 1, 0, 0], [2, 3, 0, 0], [1, 0, 0, 1], [3, 2, 0, 1]])
    places = cells.repeat_interleave(counts, 0).to(torch.int32)
    given = (features, places, starts, counts, 2, 1, 4, 4)
    module, theirs = ops("vision.bev_pool"), reference("vision.bev_pool")
    expected = theirs.bev_pool_pytorch(*given)
    close(module.bev_pool(*given), expected, 2)
    gradient = torch.randn(expected.shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    expected = theirs.bev_pool_backward_pytorch(gradient, *given[1:4])
    close(module.bev_pool_backward(gradient, *given[1:4]), expected, 2)


def voxelisation(dtype: torch.dtype) -> None:
    module = ops("vision.voxelization")
    ranges = (0.0, 0.0, 0.0), (4.0, 4.0, 2.0), (1.0, 1.0, 1.0)
    points = torch.rand(100, 4, generator=torch.Generator().manual_seed(0)) * 5 - 0.5
    filled, _, _, counts = module.generate_voxels(
        points.to(dtype), module.VoxelizationParameter(*ranges, 64)
    )
    inside = points[((points[:, :3] >= 0) & (points[:, :3] < torch.tensor(ranges[1]))).all(1)]
    found = inside[:, :3].floor().int()
    expected = {tuple(cell.tolist()): int((found == cell).all(1).sum()) for cell in found}
    assert filled.item() == len(expected), f"{filled.item()} voxels, not {len(expected)}"
    assert sorted(counts[: len(expected)].tolist()) == sorted(expected.values())


TYPED: tuple[Callable[[torch.dtype], None], ...] = (
    silu_and_mul, gelu_tanh_and_mul, rms_norm, fused_add_rms_norm, gemma_rms_norm,
    rotary_embedding, fp8_quantisation, int8_quantisation, paged_attention,
    copy_blocks, reshape_and_cache,
)  # fmt: skip
SINGLE: tuple[Callable[[torch.dtype], None], ...] = (nms, bev_pool, voxelisation)


def cases() -> Iterator[Case]:
    for run in TYPED:
        for dtype in FLOATS:
            yield Case(run.__name__, _name(dtype), partial(run, dtype))
    for run in SINGLE:
        yield Case(run.__name__, "float32", partial(run, torch.float32))
    for dtype in FLOATS:
        yield Case("scaled_gemm", _name(dtype), partial(scaled_gemm, dtype))
        for causal in (False, True):
            name = f"{'causal ' * causal}{_name(dtype)}"
            yield Case("varlen_attention", name, partial(varlen_attention, causal, dtype))
        for kind in ("fp4", "nf4"):
            yield Case(f"{kind} blocks", _name(dtype), partial(four_bits, kind, dtype))
    for bits in (4, 8):
        for dtype in FLOATS[1:]:
            run_bits = partial(mixed_precision_gemm, bits, dtype)
            yield Case("mixed_precision_gemm", f"{bits} bits {_name(dtype)}", run_bits)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
