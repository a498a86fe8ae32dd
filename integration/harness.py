"""What an integration case is, what running one gives, and how tensors are compared."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

Run = Callable[[], "Mapping[str, str] | None"]
"""Runs an op and its reference; raises AssertionError where they differ. Or gives the faults of
several ops that took part, by name, empty where there is none."""

TOLERANCE = {
    torch.float64: (1e-7, 1e-7),
    torch.float32: (1e-4, 1e-4),
    torch.bfloat16: (2e-2, 2e-2),
    torch.float16: (5e-3, 5e-3),
}
"""(relative, absolute) by dtype; ints and bools are equal."""


class NoKernel(Exception):
    """The case launched no kernel, so it says nothing of this project."""


@dataclass(frozen=True)
class Case:
    """One op of a library with one kind of input."""

    op: str
    variant: str
    run: Run


@dataclass(frozen=True)
class Outcome:
    """What a case did: "ok", "wrong" (it differs from the reference), "failed" (it raised),
    "crashed" (it ended the process), "slow" (it ran out of time) or "no kernel"; seconds include
    compiling."""

    op: str
    variant: str
    status: str
    seconds: float
    detail: str = ""

    def row(self) -> dict[str, Any]:
        return asdict(self)


Cases = Iterator[Case]


def perform(case: Case) -> list[Outcome]:
    """Runs a case; one outcome, or one for each op that took part."""
    start = time.perf_counter()
    status, detail = "ok", ""
    try:
        faults = case.run()
        if faults is not None:
            seconds = (time.perf_counter() - start) / max(1, len(faults))
            variant = f"{case.op} {case.variant}"
            return [
                Outcome(op, variant, "wrong" if fault else "ok", seconds, fault)
                for op, fault in faults.items()
            ]
    except NoKernel:
        status = "no kernel"
    except AssertionError as error:
        status, detail = "wrong", _first_line(error)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        status = "failed"
        detail = f"{type(error).__name__}: {_first_line(error)} ({place.name}:{place.lineno})"
    return [Outcome(case.op, case.variant, status, time.perf_counter() - start, detail)]


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " · ".join(lines[:3])[:300]


def close(actual: Any, expected: Any, scale: float = 1.0) -> None:
    """Raises AssertionError unless tensors, or trees of them, agree within their dtype's tolerance
    times `scale`, NaN equal to NaN."""
    if isinstance(expected, torch.Tensor):
        assert isinstance(actual, torch.Tensor), f"a tensor was expected, not {type(actual)}"
        relative, absolute = TOLERANCE.get(actual.dtype, (0.0, 0.0))
        torch.testing.assert_close(
            actual,
            expected,
            rtol=relative * scale,
            atol=absolute * scale,
            equal_nan=True,
            check_dtype=False,
        )
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for left, right in zip(actual, expected):
            close(left, right, scale)
    else:
        assert actual == expected or expected is None, f"{actual!r} is not {expected!r}"


def gradients(
    function: Callable[..., Any], inputs: Sequence[torch.Tensor], seed: int = 0
) -> tuple[Any, tuple[Any, ...]]:
    """The function's outputs, and the gradients of a random weighting of them by its inputs."""
    leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    outputs = function(*leaves)
    flat = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    made = torch.Generator().manual_seed(seed)
    total = torch.zeros((), dtype=torch.float64)
    for output in flat:
        if isinstance(output, torch.Tensor) and output.requires_grad:
            weight = torch.randn(output.shape, generator=made, dtype=torch.float32)
            total = total + (output.double() * weight).sum()
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    found = torch.autograd.grad(total, wanted, allow_unused=True)
    return outputs, found


def agree(
    actual: Callable[..., Any],
    reference: Callable[..., Any],
    inputs: Sequence[torch.Tensor],
    scale: float = 1.0,
) -> None:
    """Compares two functions, forward and backward, on the same inputs; the reference computes in
    float32 of what the inputs hold."""
    ours, our_gradients = gradients(actual, inputs)
    wide = [x.float() if x.is_floating_point() else x for x in inputs]
    theirs, their_gradients = gradients(reference, wide)
    close(ours, _like(theirs, ours), scale)
    close(our_gradients, _like(their_gradients, our_gradients), scale)


def _like(expected: Any, actual: Any) -> Any:
    """The reference's results in the dtypes of the results they are compared with."""
    if isinstance(expected, torch.Tensor) and isinstance(actual, torch.Tensor):
        return expected.to(actual.dtype)
    if isinstance(expected, (tuple, list)) and isinstance(actual, (tuple, list)):
        return [_like(e, a) for e, a in zip(expected, actual)]
    return expected
