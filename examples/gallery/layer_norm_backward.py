"""Layer norm's backward pass: dx, dweight and dbias from x, weight, mean, rstd and dy.

One idea: the gradients of weight and bias are sums over all rows. Programs add their row into one
of a few partial sums, each guarded by a spin lock; a second kernel adds the partial sums up.

Programs: first kernel, one program a row; program r shares lock r % GROUPS. Second kernel, one
program a block of columns.
"""

import torch
import torch.nn.functional as F

import mytriton as triton
import mytriton.language as tl

EPS = 1e-5
GROUPS = 4


@triton.jit
def row_kernel(
    x_ptr, weight_ptr, mean_ptr, rstd_ptr, dy_ptr, dx_ptr, dweight_ptr, dbias_ptr, lock_ptr,
    stride, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normed = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    scaled = dy * weight
    along_normed = tl.sum(normed * scaled, axis=0) / columns
    along_ones = tl.sum(scaled, axis=0) / columns
    dx = (scaled - normed * along_normed - along_ones) * rstd
    tl.store(dx_ptr + row * stride + cols, dx, mask=mask)

    group = row % GROUPS
    lock = lock_ptr + group
    filled = lock_ptr + GROUPS + group  # whether anything is in this group's sums yet
    dweight_ptrs = dweight_ptr + group * columns + cols
    dbias_ptrs = dbias_ptr + group * columns + cols
    dweight = dy * normed
    dbias = dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(filled) == 0:
        tl.atomic_xchg(filled, 1)
    else:
        dweight += tl.load(dweight_ptrs, mask=mask, other=0.0)
        dbias += tl.load(dbias_ptrs, mask=mask, other=0.0)
    tl.store(dweight_ptrs, dweight, mask=mask)
    tl.store(dbias_ptrs, dbias, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_groups_kernel(
    dweight_ptr, dbias_ptr, final_dweight_ptr, final_dbias_ptr, groups, columns,
    BLOCK_GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dweight = tl.zeros([BLOCK_GROUPS, BLOCK], dtype=tl.float32)
    dbias = tl.zeros([BLOCK_GROUPS, BLOCK], dtype=tl.float32)
    for start in range(0, groups, BLOCK_GROUPS):
        rows = start + tl.arange(0, BLOCK_GROUPS)
        mask = (rows[:, None] < groups) & (cols[None, :] < columns)
        offsets = rows[:, None] * columns + cols[None, :]
        dweight += tl.load(dweight_ptr + offsets, mask=mask, other=0.0)
        dbias += tl.load(dbias_ptr + offsets, mask=mask, other=0.0)
    tl.store(final_dweight_ptr + cols, tl.sum(dweight, axis=0), mask=cols < columns)
    tl.store(final_dbias_ptr + cols, tl.sum(dbias, axis=0), mask=cols < columns)


def layer_norm_backward(x, weight, bias, dy):
    """Return dx of shape (rows, columns), dweight and dbias of shape (columns,)."""
    rows, columns = x.shape
    mean = x.mean(dim=1)
    rstd = torch.rsqrt(x.var(dim=1, correction=0) + EPS)
    groups = min(rows, GROUPS)
    dx, dweight, dbias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(bias)
    partial = torch.empty(2, groups, columns)
    locks = torch.zeros(2 * groups, dtype=torch.int32)
    row_kernel[(rows,)](
        x, weight, mean, rstd, dy, dx, partial[0], partial[1], locks, x.stride(0), columns,
        GROUPS=groups, BLOCK=triton.next_power_of_2(columns),
    )  # fmt: skip
    sum_groups_kernel[(triton.cdiv(columns, 128),)](
        partial[0], partial[1], dweight, dbias, groups, columns, BLOCK_GROUPS=2, BLOCK=128
    )
    return dx, dweight, dbias


def reference(x, weight, bias, dy):
    x, weight, bias = (t.double().requires_grad_() for t in (x, weight, bias))
    y = F.layer_norm(x, (x.shape[1],), weight, bias, EPS)
    return torch.autograd.grad(y, (x, weight, bias), dy.double())


def inputs(rows: int, columns: int):
    torch.manual_seed(0)
    x, dy = torch.randn(2, rows, columns)
    return x, torch.randn(columns), torch.randn(columns), dy


def main() -> None:
    arguments = inputs(500, 777)
    pairs = zip(layer_norm_backward(*arguments), reference(*arguments))
    errors = [f"{(actual - expected).abs().max():.1e}" for actual, expected in pairs]
    print(f"layer_norm_backward of 500 x 777: largest errors of dx, dweight, dbias: {errors}")


if __name__ == "__main__":
    main()
