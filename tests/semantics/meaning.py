"""`means`: a function of blocks has this value on every target, cudasim too where the lane rule
lowers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mytriton.errors import CompileError
from mytriton.ir.types import element_of, shape_of
from mytriton.targets import cuda
from tests.properties.everywhere import DTYPES, Array, Kernel, buffer, listed, require_equal
from tests.targets.harness import missing


def means(body: Callable[..., Any], wanted: Any, *inputs: Any, rtol: float = 0.0) -> None:
    """`body` of blocks holding the inputs gives `wanted`: one array or a list of them."""
    arrays = [np.asarray(a) for a in inputs]
    kernel = Kernel(body, arrays)
    for target, got in kernel.everywhere(arrays):
        compare(target, got, listed(wanted), rtol)
    if not missing("cudasim"):
        simulated(kernel, arrays, listed(wanted), rtol)


def compare(target: str, got: list[Array], wanted: list[Any], rtol: float) -> None:
    assert len(got) == len(wanted)
    for place, (one, other) in enumerate(zip(got, wanted)):
        require_equal(one, np.asarray(other), f"{target}, result {place}", rtol)


def simulated(kernel: Kernel, arrays: list[Array], wanted: list[Any], rtol: float) -> None:
    """The same on the text of the lane rule, where there is one."""
    try:
        source = cuda.generate(kernel.function)
    except CompileError as error:
        assert "num_warps" in str(error)
        return
    made = [np.zeros(shape_of(ty), DTYPES[element_of(ty).name]) for ty in kernel.results]
    given = [buffer(a) for a in [*(a.copy() for a in arrays), *made]]
    cuda.sim.run(source, (1, 1, 1), given)
    compare("cudasim", made, wanted, rtol)


def type_of(body: Callable[..., Any], *inputs: Any) -> str:
    """The dtype's name of what a function of blocks gives."""
    return str(element_of(Kernel(body, [np.asarray(a) for a in inputs]).results[0]).name)
