"""Layer normalisation for training: a forward and a backward kernel, and sums under a lock.

python -m mytriton run examples/tutorials/layer_norm.py
"""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def forward_kernel(
    x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + offsets, mask=mask)
    b = tl.load(b_ptr + offsets, mask=mask)
    tl.store(y_ptr + row * stride + offsets, centred * rstd * w + b, mask=mask)


@triton.jit
def backward_kernel(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + offsets, mask=mask).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normed = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    scaled = tl.where(mask, w * dy, 0.0)
    along = tl.sum(normed * scaled, axis=0) / columns
    across = tl.sum(scaled, axis=0) / columns
    dx = (scaled - (normed * along + across)) * rstd
    tl.store(dx_ptr + row * stride + offsets, dx, mask=mask)

    # Rows of one group add to one partial sum, one after another: a lock and a count for each.
    group = row % GROUPS
    lock, count = lock_ptr + group, lock_ptr + GROUPS + group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    dw, db = dy * normed, dy
    dw_ptrs = dw_ptr + group * columns + offsets
    db_ptrs = db_ptr + group * columns + offsets
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        dw += tl.load(dw_ptrs, mask=mask)
        db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, dw, mask=mask)
    tl.store(db_ptrs, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_kernel(part_ptr, out_ptr, groups, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    columns_of = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, groups, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < groups) & (columns_of[None, :] < columns)
        offsets = rows[:, None] * columns + columns_of[None, :]
        total += tl.load(part_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + columns_of, tl.sum(total, axis=0), mask=columns_of < columns)


class LayerNorm(torch.autograd.Function):
    """y = (x − mean) / √(variance + eps) · weight + bias, over the last axis of (rows, columns)."""

    @staticmethod
    def forward(context, x, weight, bias, eps):
        y = torch.empty_like(x)
        rows, columns = x.shape
        mean, rstd = torch.empty(2, rows, device=x.device)
        block = triton.next_power_of_2(columns)
        forward_kernel[(rows,)](
            x, y, weight, bias, mean, rstd, x.stride(0), columns, eps, BLOCK=block, num_warps=4
        )
        context.save_for_backward(x, weight, mean, rstd)
        context.block = block
        return y

    @staticmethod
    def backward(context, dy):
        x, weight, mean, rstd = context.saved_tensors
        rows, columns = x.shape
        groups = 64
        locks = torch.zeros(2 * groups, dtype=torch.int32, device=x.device)
        dw_parts, db_parts = torch.zeros(2, groups, columns, device=x.device)
        dx = torch.empty_like(dy)
        backward_kernel[(rows,)](
            dx, dy, dw_parts, db_parts, x, weight, mean, rstd, locks, x.stride(0), columns,
            GROUPS=groups, BLOCK=context.block,
        )  # fmt: skip
        dw, db = torch.empty_like(weight), torch.empty_like(weight)
        for parts, total in ((dw_parts, dw), (db_parts, db)):
            sum_kernel[lambda meta: (triton.cdiv(columns, meta["BLOCK_N"]),)](
                parts, total, groups, columns, BLOCK_M=32, BLOCK_N=128
            )
        return dx, dw, db, None


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(1151, 500, device=DEVICE, requires_grad=True)
    weight = torch.rand(500, device=DEVICE, requires_grad=True)
    bias = torch.rand(500, device=DEVICE, requires_grad=True)
    dy = torch.randn_like(x)
    ours = LayerNorm.apply(x, weight, bias, 1e-5)
    theirs = torch.nn.functional.layer_norm(x, (500,), weight, bias, 1e-5)
    torch.testing.assert_close(ours, theirs)
    inputs = (x, weight, bias)
    for left, right in zip(
        torch.autograd.grad(ours, inputs, dy), torch.autograd.grad(theirs, inputs, dy)
    ):
        torch.testing.assert_close(left, right, atol=1e-4, rtol=1e-4)
    print(f"layer norm of {tuple(x.shape)} on {DEVICE}: agrees with torch, and its gradients")


if __name__ == "__main__":
    main()
