"""FlagGems' kernels in place of PyTorch's operators, on PyTorch's own sample inputs.

Every operator of PyTorch's test database runs with all of FlagGems' kernels registered for the CPU,
and again without; the kernels that were called are what a case is about. Where the results
differ, each of them is tried alone, so that the one at fault is named.

FlagGems ships settings for a CPU (the vendor "arm") that nothing selects; `boot` selects them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from itertools import islice
from typing import Any

import torch

from integration.harness import Case, close

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool)
SAMPLES = 3
RANDOM = {"rand", "randn", "bernoulli", "dropout", "normal", "uniform", "exponential", "randint",
          "randperm", "multinomial", "empty", "geometric", "cauchy", "log_normal"}  # fmt: skip
"""Operators whose results are random or undefined."""


def boot() -> Any:
    """Imports FlagGems for the CPU."""
    os.environ["GEMS_VENDOR"] = "arm"
    found = importlib.util.find_spec("flag_gems")
    assert found is not None and found.submodule_search_locations is not None
    path = os.path.join(found.submodule_search_locations[0], "runtime", "common.py")
    spec = importlib.util.spec_from_file_location("flag_gems.runtime.common", path)
    assert spec is not None and spec.loader is not None
    common = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(common)
    members = {row.name: row.value for row in common.vendors}
    extended: Any = Enum("vendors", {**members, "ARM": len(members)})
    extended.get_all_vendors = classmethod(lambda cls: {row.name.lower(): row for row in cls})
    common.vendors = extended
    sys.modules["flag_gems.runtime.common"] = common
    cpu: Any = torch.cpu
    cpu.current_device = lambda: 0
    cpu.device = lambda index=0: contextlib.nullcontext()
    cpu.default_generators = (torch.default_generator,)
    cpu.set_device = lambda index: None
    return importlib.import_module("flag_gems")


def general(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The library's kernel for every vendor, where the vendor "arm" has one of its own: those take
    operands of one shape only."""
    if "_arm" not in kernel.__module__:
        return kernel
    name = kernel.__name__
    module = importlib.import_module(f"flag_gems.ops.{name}")
    found: Callable[..., Any] = getattr(sys.modules[module.__name__], name, kernel)
    return found


class Recorder:
    """FlagGems' kernels by operator, each remembering that it was called."""

    def __init__(self, gems: Any) -> None:
        self.called: list[str] = []
        self.entries = {
            row[0]: self._recorded(row[0], general(row[1]))
            for row in gems._FULL_CONFIG
            if len(row) < 3 or row[2]()
        }

    def _recorded(self, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if name not in self.called:
                self.called.append(name)
            return kernel(*args, **kwargs)

        return call

    @contextlib.contextmanager
    def registered(self, names: Any = None) -> Iterator[None]:
        """Registers the kernels for the CPU for the extent of a `with`."""
        self.called.clear()
        library = torch.library.Library("aten", "IMPL")
        with contextlib.ExitStack() as stack:
            stack.callback(library._destroy)
            for name in self.entries if names is None else names:
                # An operator that this PyTorch does not have is none of the library's.
                with contextlib.suppress(RuntimeError, AttributeError):
                    library.impl(name, self.entries[name], "CPU", allow_override=True)
            yield


def cases() -> Iterator[Case]:
    from torch.testing._internal.common_methods_invocations import op_db

    recorder = Recorder(boot())
    for op in op_db:
        if any(word in op.name for word in RANDOM) or op.name.startswith(("_refs", "to_sparse")):
            continue
        for dtype in DTYPES:
            if dtype in op.supported_dtypes("cpu"):
                name = f"{op.formatted_name}"
                yield Case(
                    name, str(dtype).removeprefix("torch."), partial(run, recorder, op, dtype)
                )


def run(recorder: Recorder, op: Any, dtype: torch.dtype) -> dict[str, str]:
    """Compares a few samples; the faults of the kernels that were called, by operator."""
    faults: dict[str, str] = {}
    for sample in islice(op.sample_inputs("cpu", dtype, requires_grad=False), SAMPLES):
        expected = evaluate(op, sample)
        if isinstance(expected, Exception):
            continue
        with recorder.registered():
            actual = evaluate(op, sample)
            called = list(recorder.called)
        for name in called:
            faults.setdefault(name, "")
        if called and differs(actual, expected):
            faults.update(guilty(recorder, op, sample, expected, called))
    return faults


def guilty(
    recorder: Recorder, op: Any, sample: Any, expected: Any, called: list[str]
) -> dict[str, str]:
    """Of the kernels that were called, those that alone give another result, and how it differs;
    all of them where it takes several."""
    found = {}
    for name in called:
        with recorder.registered([name]):
            if fault := differs(evaluate(op, sample), expected):
                found[name] = fault
    return found or dict.fromkeys(called, f"only together: {', '.join(called)}")


def differs(actual: Any, expected: Any) -> str:
    """How a result differs; empty if it does not."""
    if isinstance(actual, Exception):
        return f"{type(actual).__name__}: {' '.join(str(actual).split())[:160]}"
    try:
        close(actual, expected, scale=4)
    except AssertionError as error:
        return " ".join(str(error).split())[:120]
    return ""


def evaluate(op: Any, sample: Any) -> Any:
    """The operator's result on a copy of the sample, or the exception it raised."""

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, (tuple, list)):
            return type(value)(map(copied, value))
        return value

    try:
        named = {key: copied(value) for key, value in sample.kwargs.items()}
        return op(copied(sample.input), *map(copied, sample.args), **named)
    except Exception as error:
        return error
