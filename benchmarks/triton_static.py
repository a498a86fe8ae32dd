"""What Triton makes of the same kernels, for `cuda_static`: it compiles without a GPU.

A kernel's source, with the helpers that it names, is written to a file whose `tl` is Triton's, and
compiled for an architecture.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mytriton.targets.cuda.launch.machine_code import Resources, resources


@cache
def triton() -> Any:
    """Triton's compiler; None where there is none."""
    try:
        import triton as package  # type: ignore[import-not-found,unused-ignore]
        from triton import _C  # type: ignore[import-not-found] # noqa: F401
    except ImportError:
        return None
    return package


def source_of(kernel: Callable[..., Any]) -> str:
    """The kernel's source and that of the jit functions of its module that it names."""
    module = inspect.getmodule(kernel)
    named = {name: vars(module).get(name) for name in kernel.__code__.co_names}
    helpers = [one.fn for one in named.values() if hasattr(one, "fn")]
    texts = [*map(inspect.getsource, helpers), inspect.getsource(kernel)]
    plain = (re.sub(r"\A@.*\n", "", text) for text in texts)
    head = "import triton\nimport triton.language as tl\n\n"
    return head + "\n\n".join(f"@triton.jit\n{text}" for text in plain)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where the sources are, to the end of the process."""
    return tempfile.TemporaryDirectory()


def loaded(kernel: Callable[..., Any]) -> Any:
    """The kernel as Triton's."""
    kernel = getattr(kernel, "fn", kernel)
    file = Path(_folder().name) / f"{kernel.__name__}.py"
    file.write_text(source_of(kernel))
    spec = importlib.util.spec_from_file_location(kernel.__name__, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, kernel.__name__)


def compiled(
    kernel: Callable[..., Any], arguments: Mapping[str, Any], warps: int, capability: int
) -> tuple[bytes, Resources, int]:
    """The machine code, what it takes, and the bytes of shared memory of the launch."""
    made = _compiled(loaded(kernel), arguments, warps, capability)
    code = made.asm["cubin"]
    return code, resources(code), made.metadata.shared


def _compiled(kernel: Any, arguments: Mapping[str, Any], warps: int, capability: int) -> Any:
    from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found]
    from triton.compiler import ASTSource  # type: ignore[import-not-found]

    types = {n: v if isinstance(v, str) else "constexpr" for n, v in arguments.items()}
    constants = {n: v for n, v in arguments.items() if not isinstance(v, str)}
    whole = [v not in ("fp32", "fp64", "constexpr") for v in types.values()]
    aligned = {(i,): [["tt.divisibility", 16]] for i, one in enumerate(whole) if one}
    source = ASTSource(kernel, types, constants, aligned)
    target = GPUTarget("cuda", capability, 32)
    return triton().compile(source, target=target, options={"num_warps": warps})
