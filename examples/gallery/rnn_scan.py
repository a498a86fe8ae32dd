"""A gated linear recurrence h[t] = a[t] * h[t - 1] + b[t] over time, and its gradients.

One idea: steps (a, b) compose: (a, b) then (c, d) is (a * c, b * c + d). So a chunk of time is one
associative scan, and only the last state of a chunk is carried to the next. The gradient obeys the
same recurrence from the end: g[t] = dh[t] + a[t + 1] * g[t + 1], a reverse scan.

Programs: axis 0 is a block of channels, axis 1 the sequence; a program walks time chunk by chunk.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def forward_kernel(
    a_ptr, b_ptr, h_ptr, length, channels, CHUNK: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sequence = tl.program_id(1) * length * channels
    times = tl.arange(0, CHUNK)
    state = tl.zeros([BLOCK], tl.float32)
    for start in range(0, length, CHUNK):
        rows = start + times
        mask = (rows[:, None] < length) & (cols[None, :] < channels)
        offsets = sequence + rows[:, None] * channels + cols[None, :]
        a = tl.load(a_ptr + offsets, mask=mask, other=1.0)
        b = tl.load(b_ptr + offsets, mask=mask, other=0.0)
        decay, h = tl.associative_scan((a, b), 0, compose)
        h += decay * state[None, :]
        tl.store(h_ptr + offsets, h, mask=mask)
        state = tl.sum(tl.where(times[:, None] == CHUNK - 1, h, 0.0), axis=0)


@triton.jit
def backward_kernel(
    a_ptr, h_ptr, dh_ptr, da_ptr, db_ptr, length, channels,
    CHUNK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sequence = tl.program_id(1) * length * channels
    times = tl.arange(0, CHUNK)
    state = tl.zeros([BLOCK], tl.float32)
    for start in range((tl.cdiv(length, CHUNK) - 1) * CHUNK, -1, -CHUNK):
        rows = start + times
        live = cols[None, :] < channels
        mask = (rows[:, None] < length) & live
        offsets = sequence + rows[:, None] * channels + cols[None, :]
        following = (rows[:, None] + 1 < length) & live
        a = tl.load(a_ptr + offsets + channels, mask=following, other=1.0)
        dh = tl.load(dh_ptr + offsets, mask=mask, other=0.0)
        decay, gradient = tl.associative_scan((a, dh), 0, compose, reverse=True)
        gradient += decay * state[None, :]
        before = tl.load(h_ptr + offsets - channels, mask=mask & (rows[:, None] > 0), other=0.0)
        tl.store(da_ptr + offsets, gradient * before, mask=mask)
        tl.store(db_ptr + offsets, gradient, mask=mask)
        state = tl.sum(tl.where(times[:, None] == 0, gradient, 0.0), axis=0)


def rnn_scan(a: torch.Tensor, b: torch.Tensor, dh: torch.Tensor):
    """Return h and, for its gradient dh, da and db, all of shape (batch, length, channels)."""
    batch, length, channels = a.shape
    h, da, db = (torch.empty_like(a) for _ in range(3))
    grid = (triton.cdiv(channels, 32), batch)
    forward_kernel[grid](a, b, h, length, channels, CHUNK=16, BLOCK=32)
    backward_kernel[grid](a, h, dh, da, db, length, channels, CHUNK=16, BLOCK=32)
    return h, da, db


def reference(a: torch.Tensor, b: torch.Tensor, dh: torch.Tensor):
    a, b = (t.double().requires_grad_() for t in (a, b))
    states = [b[:, 0]]
    for t in range(1, a.shape[1]):
        states.append(a[:, t] * states[-1] + b[:, t])
    h = torch.stack(states, dim=1)
    gradients = torch.autograd.grad(h, (a, b), dh.double(), materialize_grads=True)
    return h.detach(), *gradients


def inputs(batch: int, length: int, channels: int):
    torch.manual_seed(0)
    b, dh = torch.randn(2, batch, length, channels)
    return torch.rand(batch, length, channels), b, dh


def main() -> None:
    arguments = inputs(3, 200, 100)
    pairs = zip(rnn_scan(*arguments), reference(*arguments))
    errors = [f"{(actual - expected).abs().max():.1e}" for actual, expected in pairs]
    print(f"rnn_scan of 3 x 200 x 100: largest errors of h, da, db: {', '.join(errors)}")


if __name__ == "__main__":
    main()
