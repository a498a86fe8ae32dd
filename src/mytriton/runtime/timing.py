"""How long a call takes: for autotuning and for benchmarks.

A call is warmed up, then timed many times one by one; the caller chooses the statistic. Where a GPU
is in use the time ends when its work has ended.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

MODES: dict[str, Callable[[Sequence[float]], Any]] = {
    "min": min,
    "max": max,
    "mean": lambda times: sum(times) / len(times),
    "median": lambda times: _quantile(times, 0.5),
    "all": list,
}


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """The run time of `fn()` in milliseconds.

    warmup, rep: how long to run it before and while timing, in milliseconds (at least once).
    grad_to_none: tensors whose `.grad` is cleared before each call.
    Returns the quantiles asked for (a list; one number for one), else what `return_mode` says:
    "min", "max", "mean", "median" or "all". Raises ValueError for another mode.
    """
    if return_mode not in MODES:
        raise ValueError(f"return_mode must be one of {', '.join(MODES)}, got {return_mode!r}")
    _timed(fn)
    spent = 0.0
    while spent < warmup:
        spent += _timed(fn)
    times: list[float] = []
    spent = 0.0
    while not times or spent < rep:
        for tensor in grad_to_none or ():
            tensor.grad = None
        times.append(_timed(fn))
        spent += times[-1]
    if quantiles is None:
        return MODES[return_mode](times)
    found = [_quantile(times, part) for part in quantiles]
    return found[0] if len(found) == 1 else found


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """As `do_bench`, with the work recorded once as a CUDA graph and replayed, so that what a
    launch costs on the host does not count. Where no GPU is in use it is `do_bench`.

    fn: launches on torch's or CuPy's current stream. rep: milliseconds.
    """
    cupy = sys.modules.get("cupy")
    if cupy is None or not hasattr(cupy, "cuda"):
        return do_bench(fn, 0, rep, grad_to_none, quantiles, return_mode)
    _timed(fn)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        fn()
        graph = stream.end_capture()
        return do_bench(graph.launch, 5, rep, grad_to_none, quantiles, return_mode)


def _quantile(times: Sequence[float], part: float) -> float:
    """The value below which this part (0 to 1) of the times lies, between neighbours."""
    ordered = sorted(times)
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _timed(fn: Callable[[], Any]) -> float:
    """Milliseconds of one call, the GPU's work included where CuPy is in use."""
    _wait()
    start = time.perf_counter()
    fn()
    _wait()
    return (time.perf_counter() - start) * 1e3


def _wait() -> None:
    cupy = sys.modules.get("cupy")
    if cupy is not None and hasattr(cupy, "cuda"):
        cupy.cuda.runtime.deviceSynchronize()
