"""A step of AdamW with gradient clipping: parameters, both moments, in one pass over memory.

One idea: an optimiser step is bound by memory, so everything happens to an element while it is in a
register. The clipping factor is read from memory: it comes from another kernel (the sum of the
gradient's squares, by atomics), and the host never waits for it.

Programs: program p handles elements p * BLOCK to (p + 1) * BLOCK, in both kernels.
"""

import torch

import mytriton as triton
import mytriton.language as tl

RATE, BETA1, BETA2, EPS, DECAY, LONGEST = 1e-2, 0.9, 0.999, 1e-8, 0.1, 1.0


@triton.jit
def squares_kernel(gradient_ptr, total_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gradient = tl.load(gradient_ptr + offsets, mask=offsets < size, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(gradient * gradient, axis=0))


@triton.jit
def adam_kernel(
    parameter_ptr, gradient_ptr, mean_ptr, square_ptr, total_ptr, size, step,
    rate, beta1, beta2, eps, decay, longest, BLOCK: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    parameter = tl.load(parameter_ptr + offsets, mask=mask)
    gradient = tl.load(gradient_ptr + offsets, mask=mask)
    mean = tl.load(mean_ptr + offsets, mask=mask)
    square = tl.load(square_ptr + offsets, mask=mask)

    length = tl.sqrt(tl.load(total_ptr))
    gradient *= tl.minimum(1.0, longest / (length + 1e-6))
    mean = beta1 * mean + (1 - beta1) * gradient
    square = beta2 * square + (1 - beta2) * gradient * gradient
    correction1 = 1 - tl.exp(tl.log(beta1) * step)  # 1 - beta1 ** step
    correction2 = 1 - tl.exp(tl.log(beta2) * step)
    update = (mean / correction1) / (tl.sqrt(square / correction2) + eps)
    parameter -= rate * (update + decay * parameter)

    tl.store(parameter_ptr + offsets, parameter, mask=mask)
    tl.store(mean_ptr + offsets, mean, mask=mask)
    tl.store(square_ptr + offsets, square, mask=mask)


def adam(parameter: torch.Tensor, gradients: list[torch.Tensor]):
    """Return the parameter and both moments after one step for each gradient in turn."""
    parameter = parameter.clone()
    mean, square = torch.zeros_like(parameter), torch.zeros_like(parameter)
    size = parameter.numel()
    grid = (triton.cdiv(size, 1024),)
    settings = (RATE, BETA1, BETA2, EPS, DECAY, LONGEST)
    for step, gradient in enumerate(gradients, start=1):
        total = torch.zeros(1)
        squares_kernel[grid](gradient, total, size, BLOCK=1024)
        adam_kernel[grid](
            parameter, gradient, mean, square, total, size, step, *settings, BLOCK=1024
        )
    return parameter, mean, square


def reference(parameter: torch.Tensor, gradients: list[torch.Tensor]):
    parameter = parameter.double().requires_grad_()
    optimiser = torch.optim.AdamW(
        [parameter], lr=RATE, betas=(BETA1, BETA2), eps=EPS, weight_decay=DECAY
    )
    for gradient in gradients:
        parameter.grad = gradient.double()
        torch.nn.utils.clip_grad_norm_([parameter], LONGEST)
        optimiser.step()
    state = optimiser.state[parameter]
    return parameter.detach(), state["exp_avg"], state["exp_avg_sq"]


def inputs(size: int, steps: int):
    torch.manual_seed(0)
    return torch.randn(size), [torch.randn(size) for _ in range(steps)]


def main() -> None:
    arguments = inputs(100_001, 3)
    pairs = zip(adam(*arguments), reference(*arguments))
    errors = [f"{(actual - expected).abs().max():.1e}" for actual, expected in pairs]
    print(f"adam, 3 steps of 100,001 parameters: largest errors {', '.join(errors)}")


if __name__ == "__main__":
    main()
