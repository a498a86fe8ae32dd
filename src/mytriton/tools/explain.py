"""A kernel of a file explained: what `mytriton explain` does."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from ..explorer import Explanation, explain
from ..explorer.calls import explain_captured
from ..explorer.gpus import gpu_named
from ..explorer.launch import captured
from ..runtime.target import set_target
from . import stand_in
from .kernel_file import KernelFile
from .show import choose, compilation, listing
from .signature import SignatureError


def explain_place(
    place: str, signature: str = "", run: str = "", gpu: str = "", num_warps: int | None = None
) -> Explanation:
    """The kernel at `file.py::name` explained: for the types that a signature's text gives, or for
    its first launch while the expression `run`, in the file's names, is evaluated.

    Raises SignatureError where the file, the kernel, a parameter or the expression does not fit.
    """
    file, name = choose(place)
    if name is None:
        raise SignatureError(f"say which kernel:\n{listing(file, 'explain')}")
    if run:
        if signature:
            raise SignatureError("--sig or --run: a launch says the types itself")
        return _launched(file, name, run, gpu)
    made = compilation(file, name, signature, gpu_named(gpu).arch)
    made.options = replace(made.options, num_warps=num_warps)
    return explain(made, None, gpu)


def _launched(file: KernelFile, name: str, expression: str, gpu: str) -> Explanation:
    kernel, names = file.kernel(name), _names(file)
    try:
        code = compile(expression, "<--run>", "eval")
    except SyntaxError as error:
        raise SignatureError(f"--run {expression!r} is no expression: {error.msg}") from None
    set_target("cpu")
    try:
        with stand_in.active(), captured(kernel, gpu) as found:
            eval(code, names)
    finally:
        set_target(None)
    if not found.count:
        raise SignatureError(f"--run {expression!r} did not launch {name}")
    return explain_captured(found, gpu)


def _names(file: KernelFile) -> dict[str, Any]:
    """The file's module, and what its own kernels' code sees."""
    module = sys.modules.get(file.path.stem)
    return {} if module is None else vars(module)
