"""Every kernel of examples/gallery as CUDA: over 1, 4 and 8 warps, its threads in three orders, it
agrees with its reference, and NVRTC takes its text for every architecture."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import pytest

import mytriton as triton
from mytriton.runtime.jit import JITFunction
from mytriton.targets.cuda import sim
from tests.support.backends import missing

from .test_gallery import EXAMPLES, numbers, require_close

WARPS_AND_ORDERS = ((1, "shuffle"), (4, "forward"), (8, "reverse"))


@pytest.mark.skipif(bool(missing("cudasim")), reason=missing("cudasim"))
@pytest.mark.parametrize(("warps", "order"), WARPS_AND_ORDERS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_agrees_with_reference(
    name: str, warps: int, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = JITFunction.run

    def tiled(kernel: JITFunction, *args: Any, **kwargs: Any) -> Any:
        return run(kernel, *args, **{"num_warps": warps, **kwargs})

    monkeypatch.setattr(JITFunction, "run", tiled)
    monkeypatch.setattr(sim, "run", partial(sim.run, order=order, seed=5))
    module = import_module(f"examples.gallery.{name}")
    arguments = module.inputs(*EXAMPLES[name].tiny[-1])
    with triton.target("cudasim"):
        actual = numbers(getattr(module, name)(*arguments))
    for one, other in zip(actual, numbers(module.reference(*arguments)), strict=True):
        require_close(one, other, EXAMPLES[name].tolerance)
