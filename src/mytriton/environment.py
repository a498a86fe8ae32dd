"""The environment variables that this package reads, as a table.

`docs/reference/environment.md` is written from it, and a test holds it to the variables that the
source names. Triton's own variables are in `as_triton/site/triton/knobs.py`.
"""

from __future__ import annotations

import os
from typing import NamedTuple


class Variable(NamedTuple):
    """One variable: its values, what they do, and when it is read."""

    name: str
    values: str
    meaning: str
    read: str = "when the process starts"


VARIABLES = (
    Variable(
        "MYTRITON_TARGET",
        "cpu, interpret, eager, cudasim, cuda",
        "where kernels run that no launch and no `with triton.target(…)` sends elsewhere",
    ),
    Variable(
        "MYTRITON_STRICT",
        "1",
        "refuses what Triton refuses, with the portable form (docs/strict.md)",
    ),
    Variable(
        "MYTRITON_DEBUG",
        "1",
        "checks every access against the arrays of the launch, as `debug=True` (docs/sanitizer.md)",
    ),
    Variable(
        "MYTRITON_SANITIZE",
        "1, or kinds with commas",
        "looks for faults in every launch, as `triton.sanitize(…)` (docs/sanitizer.md)",
    ),
    Variable(
        "MYTRITON_THREADS",
        "1 to 1024",
        "the threads of target cpu; default: the processors that the process may use",
        "at the first launch on cpu",
    ),
    Variable(
        "MYTRITON_F32_DOT",
        "ieee, tf32, tf32x3, bf16x3, bf16x6",
        "the input precision of f32 products that say none",
        "at each launch",
    ),
    Variable(
        "MYTRITON_CUDASIM",
        "checks with commas, all, none",
        "what target cudasim looks for (docs/cuda.md)",
        "at each launch",
    ),
    Variable(
        "MYTRITON_CUDASIM_ORDER",
        "forward, reverse, shuffle",
        "in which order target cudasim gives blocks and threads their turns",
        "at each launch",
    ),
    Variable(
        "MYTRITON_AUTOTUNE_SECONDS",
        "seconds; 0 for no limit",
        "how long one choice of an autotuner may take",
        "when a tuning begins",
    ),
    Variable(
        "MYTRITON_CACHE_DIR",
        "a folder",
        "where compiled code and an autotuner's choices are kept; default: `mytriton` in the user's"
        " folder for caches",
        "at each use",
    ),
    Variable(
        "MYTRITON_CACHE_SIZE_MB",
        "megabytes",
        "the limit of what is kept, 256 by default; 0 keeps nothing",
        "at each use",
    ),
    Variable(
        "MYTRITON_CACHE_KINDS",
        "cpu, cudasim, nvrtc, tuning, with commas",
        "what is kept; default: all",
        "at each use",
    ),
    Variable(
        "MYTRITON_LOG",
        "recompiles, cache, with commas",
        "tells on stderr why a kernel is compiled again; what the cache reads and writes",
        "at each use",
    ),
    Variable(
        "MYTRITON_FULL_TRACEBACK",
        "1",
        "tracebacks of faults keep this package's own frames",
        "at each fault",
    ),
    Variable(
        "MYTRITON_CHECK",
        "1",
        "verifies the IR after every pass, the CPU target's plans, and the LLVM text; for work on"
        " this package",
        "at each compilation",
    ),
    Variable("TRITON_DEBUG", "1", "as `@triton.jit(debug=True)` on every kernel", "at each `@jit`"),
    Variable(
        "TRITON_PRINT_AUTOTUNING", "1", "tells on stdout what an autotuner chose", "at each tuning"
    ),
    Variable("CXX", "a command", "the C++ compiler of target cudasim", "at its first launch"),
)
"""Every variable, in the order of the page."""


def given() -> dict[str, str]:
    """The variables of the table that this process has, with their values."""
    return {v.name: os.environ[v.name] for v in VARIABLES if v.name in os.environ}
