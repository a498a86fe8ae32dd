"""One kernel, every backend, one expectation.

`run_everywhere` launches a kernel on fresh copies of its arrays under each backend that this
machine has, and compares what was written with NumPy's answer. All backends that are wrong are
named in one failure, so that one sees at once whether the kernel or a backend is at fault.

    run_everywhere(add, (4,), x, y, out, n, BLOCK=256, expected={"out": x + y})

MYTRITON_TEST_TARGETS=interpret,cpu chooses targets.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from mytriton.errors import CompileError
from mytriton.targets import TARGETS

from .compare import differences
from .guarded import guarded_copies

Array = np.ndarray[Any, Any]
BACKENDS = ("traced", "interpret", "eager", "cpu", "cudasim")
"""The targets that run here; `eager`, the interpreter that runs the kernel's Python; and `traced`,
the IR before any pass, interpreted."""


@cache
def missing(target: str) -> str:
    """Return why a target cannot run here, or ''."""
    chosen = os.environ.get("MYTRITON_TEST_TARGETS", "")
    if chosen and target not in chosen.split(","):
        return "not in MYTRITON_TEST_TARGETS"
    if target == "cudasim":
        if not any(map(shutil.which, ("c++", "g++", "clang++"))):
            return "no C++ compiler"
        try:
            importlib.import_module("mytriton.targets.cuda.sim")
        except ImportError as error:
            return str(error)
    if target == "cpu" and not hasattr(importlib.import_module("mytriton.targets.cpu"), "compile"):
        return "the cpu target is not there yet"
    return ""


LIMITS = {"cudasim": "num_warps="}
"""What a target says, by name, of a kernel that it documents it cannot lower; no failure here."""


def beyond(target: str, error: Exception) -> bool:
    """Whether a target refused a kernel that is beyond its documented limits."""
    return isinstance(error, CompileError) and LIMITS.get(target, "\0") in str(error)


def available(skip: Sequence[str] = ()) -> list[str]:
    """The targets to run on."""
    return [target for target in BACKENDS if target not in skip and not missing(target)]


TRACED = replace(TARGETS["interpret"], name="traced", stage="traced")
"""The interpreter on the function as it was traced."""


def launch(target: str, kernel: Any, grid: Any, *arguments: Any, **constexprs: Any) -> None:
    """`kernel[grid](…, target=target)` for every target here, `traced` included."""
    with patch.dict(TARGETS, traced=TRACED):
        kernel[grid](*arguments, target=target, **constexprs)


def run_on(
    target: str, kernel: Any, grid: Any, *arguments: Any, **constexprs: Any
) -> dict[str, Array]:
    """The arrays by parameter name as a target leaves them, of guarded copies of those given."""
    with guarded_copies(arguments) as passed:
        launch(target, kernel, grid, *passed, **constexprs)
    names = kernel.arg_names
    return {name: a for name, a in zip(names, passed) if isinstance(a, np.ndarray)}


def run_everywhere(
    kernel: Any,
    grid: Any,
    *arguments: Any,
    expected: Mapping[str, Any],
    rtol: float = 0,
    atol: float = 0,
    signs: bool = False,
    skip: Sequence[str] = (),
    **constexprs: Any,
) -> None:
    """Every backend leaves the arrays named in `expected` as they are there, and the others alone.

    skip: backends whose documented limits the kernel is beyond. signs: -0.0 is not 0.0.
    """
    given = {n: a for n, a in zip(kernel.arg_names, arguments) if isinstance(a, np.ndarray)}
    wrong = []
    for target in available(skip):
        try:
            results = run_on(target, kernel, grid, *arguments, **constexprs)
        except Exception as error:
            if beyond(target, error):
                continue
            wrong.append(f"{target}: raises {type(error).__name__}: {error}")
            continue
        for name, got in results.items():
            exact = name not in expected
            want = given[name] if exact else expected[name]
            limits = (0.0, 0.0) if exact else (rtol, atol)
            if text := differences(got, want, *limits, signs):
                wrong.append(f"{target}, `{name}`: {text}")
    assert not wrong, "\n\n".join(wrong)


def outcomes(
    kernel: Any, grid: Any, *arguments: Any, skip: Sequence[str] = (), **constexprs: Any
) -> Iterator[tuple[str, dict[str, Array]]]:
    """Each target and what `run_on` gives there: where more than one answer is right."""
    for target in available(skip):
        try:
            yield target, run_on(target, kernel, grid, *arguments, **constexprs)
        except CompileError as error:
            if not beyond(target, error):
                raise


def refused_everywhere(
    kernel: Any,
    grid: Any,
    *arguments: Any,
    error: type[Exception],
    match: str,
    skip: Sequence[str] = (),
    **constexprs: Any,
) -> None:
    """Every target raises this error, with this in its text."""
    for target in available(skip):
        with pytest.raises(error, match=match):
            run_on(target, kernel, grid, *arguments, **constexprs)


def blocks(n: int, size: int) -> tuple[int]:
    """The grid of as many programs as n elements need."""
    return (max(1, -(-n // size)),)
