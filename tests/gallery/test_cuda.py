"""Every kernel of the examples as CUDA: over 1, 4 and 8 warps and in every order of the threads it
agrees with its reference, without a report of the simulator's checks, and NVRTC takes its text for
every architecture."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import mytriton as triton
from mytriton.runtime.jit import JITFunction
from mytriton.targets.cuda import sim
from tests.support.backends import missing

from .test_every_stage import CALLS
from .test_gallery import EXAMPLES, numbers, require_close

WARPS = (1, 4, 8)
ORDERS = ("forward", "reverse", "shuffle:5")
pytestmark = pytest.mark.skipif(bool(missing("cudasim")), reason=missing("cudasim"))


@pytest.fixture(params=WARPS)
def warps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Every launch is tiled over so many warps where it does not say."""
    run, number = JITFunction.run, int(request.param)

    def tiled(kernel: JITFunction, *args: Any, **kwargs: Any) -> Any:
        return run(kernel, *args, **{"num_warps": number, **kwargs})

    monkeypatch.setattr(JITFunction, "run", tiled)
    return number


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[str]]:
    """The orders of threads, each chosen while it is the iterator's."""

    def each() -> Iterator[str]:
        for order in ORDERS:
            monkeypatch.setenv(sim.ORDER, order)
            yield order

    with triton.target("cudasim"):
        yield each()


@pytest.mark.parametrize("name", EXAMPLES)
def test_agrees_with_reference(name: str, warps: int, orders: Iterator[str]) -> None:
    module = import_module(f"examples.gallery.{name}")
    arguments = module.inputs(*EXAMPLES[name].tiny[-1])
    expected = numbers(module.reference(*arguments))
    for _ in orders:
        actual = numbers(getattr(module, name)(*module.inputs(*EXAMPLES[name].tiny[-1])))
        for one, other in zip(actual, expected, strict=True):
            require_close(one, other, EXAMPLES[name].tolerance)


@pytest.mark.parametrize("name", CALLS)
def test_examples_give_what_the_interpreter_does(
    name: str, warps: int, orders: Iterator[str]
) -> None:
    function, arguments = CALLS[name]
    run = getattr(import_module(f"examples.{name}"), function)
    with triton.target("interpret"):
        expected = run(*arguments)
    for _ in orders:
        np.testing.assert_allclose(run(*arguments), expected, rtol=1e-5, atol=1e-5)
