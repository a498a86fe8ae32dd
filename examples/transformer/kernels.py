"""The kernels of a transformer's training step: product, norm, attention and loss."""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    a_row, a_column, b_row, b_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """c = a @ b for (M, K) and (K, N) of any strides; c is (M, N) by rows."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + rows[:, None] * a_row + inner[None, :] * a_column,
            mask=(rows[:, None] < M) & (inner[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + inner[:, None] * b_row + columns[None, :] * b_column,
            mask=(inner[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=inside)


@triton.jit
def rms_norm_kernel(x_ptr, w_ptr, y_ptr, scale_ptr, columns, eps, BLOCK: tl.constexpr):
    """y = x · w / √(mean of x² + eps), a row a program."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    w = tl.load(w_ptr + offsets, mask=mask, other=0.0)
    tl.store(scale_ptr + row, scale)
    tl.store(y_ptr + row * columns + offsets, x * scale * w, mask=mask)


@triton.jit
def rms_norm_backward_kernel(
    x_ptr, w_ptr, dy_ptr, scale_ptr, dx_ptr, dw_ptr, rows, columns, BLOCK: tl.constexpr
):
    """dx of every row; each program leaves the sum of dw over its rows in a row of dw_ptr."""
    program = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    w = tl.load(w_ptr + offsets, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * columns + offsets, mask=mask, other=0.0)
        scale = tl.load(scale_ptr + row)
        normed = x * scale
        along = tl.sum(normed * dy * w, axis=0) / columns
        tl.store(dx_ptr + row * columns + offsets, scale * (dy * w - normed * along), mask=mask)
        dw += dy * normed
    tl.store(dw_ptr + program * columns + offsets, dw, mask=mask)


@triton.jit
def cross_entropy_kernel(
    logits_ptr, target_ptr, loss_ptr, gradient_ptr, columns, BLOCK: tl.constexpr
):
    """The loss of a row, log Σ exp(logits) − logits[target], and its gradient."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    logits = tl.load(logits_ptr + row * columns + offsets, mask=mask, other=-float("inf"))
    target = tl.load(target_ptr + row)
    highest = tl.max(logits, axis=0)
    powers = tl.exp(logits - highest)
    total = tl.sum(powers, axis=0)
    right = tl.load(logits_ptr + row * columns + target)
    tl.store(loss_ptr + row, tl.log(total) + highest - right)
    gradient = powers / total - tl.where(offsets == target, 1.0, 0.0)
    tl.store(gradient_ptr + row * columns + offsets, gradient, mask=mask)


@triton.jit
def rows_of(pointer, base, rows, length, SIZE: tl.constexpr):
    """Rows of one head, as (rows, SIZE); those outside are 0."""
    within = tl.arange(0, SIZE)[None, :]
    return tl.load(
        pointer + base + rows[:, None] * SIZE + within, mask=rows[:, None] < length, other=0.0
    )


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, log_ptr, length, scale,
    SIZE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Causal attention of (heads, length, SIZE), and log Σ exp of each row of scores."""
    head = tl.program_id(1).to(tl.int64)
    base = head * length * SIZE
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    q = rows_of(q_ptr, base, rows, length, SIZE)
    total = tl.zeros((BLOCK_M, SIZE), dtype=tl.float32)
    weight = tl.zeros((BLOCK_M,), dtype=tl.float32)
    highest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BLOCK_M, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        k = rows_of(k_ptr, base, columns, length, SIZE)
        v = rows_of(v_ptr, base, columns, length, SIZE)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        p = tl.exp(scores - higher[:, None])
        shrink = tl.exp(highest - higher)
        weight = weight * shrink + tl.sum(p, 1)
        total = tl.dot(p, v, total * shrink[:, None], input_precision="ieee")
        highest = higher
    inside = rows < length
    tl.store(log_ptr + head * length + rows, highest + tl.log(weight), mask=inside)
    out = base + rows[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(out_ptr + out, total / weight[:, None], mask=inside[:, None])


@triton.jit
def weights_and_gradient(q, k, v, do, rows, columns, log_ptr, delta_ptr, head, length, scale):
    """The softmax's weights p of a block of scores, and the gradient of the scores."""
    log = tl.load(log_ptr + head * length + rows, mask=rows < length, other=0.0)
    delta = tl.load(delta_ptr + head * length + rows, mask=rows < length, other=0.0)
    seen = (rows[:, None] >= columns[None, :]) & (rows[:, None] < length)
    scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    p = tl.where(seen, tl.exp(scores - log[:, None]), 0.0)
    dp = tl.dot(do, tl.trans(v), input_precision="ieee")
    return p, p * (dp - delta[:, None]) * scale


@triton.jit
def attention_backward_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, log_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, length, scale,
    SIZE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A program has one block of rows: their dq over the keys, and, as keys, their dk and dv."""
    head = tl.program_id(1).to(tl.int64)
    base = head * length * SIZE
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = rows_of(q_ptr, base, mine, length, SIZE)
    k = rows_of(k_ptr, base, mine, length, SIZE)
    v = rows_of(v_ptr, base, mine, length, SIZE)
    do = rows_of(do_ptr, base, mine, length, SIZE)
    dq = tl.zeros((BLOCK, SIZE), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BLOCK, BLOCK):
        others = start + tl.arange(0, BLOCK)
        keys = rows_of(k_ptr, base, others, length, SIZE)
        values = rows_of(v_ptr, base, others, length, SIZE)
        _, ds = weights_and_gradient(
            q, keys, values, do, mine, others, log_ptr, delta_ptr, head, length, scale
        )
        dq = tl.dot(ds, keys, dq, input_precision="ieee")
    dk = tl.zeros((BLOCK, SIZE), dtype=tl.float32)
    dv = tl.zeros((BLOCK, SIZE), dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK, length, BLOCK):
        others = start + tl.arange(0, BLOCK)
        queries = rows_of(q_ptr, base, others, length, SIZE)
        outs = rows_of(do_ptr, base, others, length, SIZE)
        p, ds = weights_and_gradient(
            queries, k, v, outs, others, mine, log_ptr, delta_ptr, head, length, scale
        )
        dk = tl.dot(tl.trans(ds), queries, dk, input_precision="ieee")
        dv = tl.dot(tl.trans(p), outs, dv, input_precision="ieee")
    places = base + mine[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    inside = mine[:, None] < length
    tl.store(dq_ptr + places, dq, mask=inside)
    tl.store(dk_ptr + places, dk, mask=inside)
    tl.store(dv_ptr + places, dv, mask=inside)
