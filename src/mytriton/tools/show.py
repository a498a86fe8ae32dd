"""Any stage of any kernel as text, without running it: what `mytriton show` prints.

The stages are those of the compiler itself (`runtime/compile.py`).
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ..runtime.compile import STAGES, Compilation
from ..targets import CompileOptions
from .signature import SignatureError, complete, parse_signature

__all__ = ["STAGES", "load_kernel"]


def load_kernel(place: str, signature: str, architecture: str) -> Compilation:
    """The kernel at `file.py::name`, with the types that the signature's text gives.

    Raises SignatureError where the file, the kernel or a parameter does not fit.
    """
    path, separator, name = place.partition("::")
    if not separator:
        raise SignatureError(f"say which kernel: {path}::name")
    function = jit_function(getattr(load_module(Path(path)), name, None))
    if function is None:
        raise SignatureError(f"{path} has no @jit function named {name!r}")
    given = parse_signature(signature)
    arguments = complete(function.fn, set(function.constexprs), given)
    return Compilation(function.fn, arguments, CompileOptions(arch=architecture))


def jit_function(decorated: Any) -> Any:
    """The jit function under any autotuners and heuristics; None where there is none."""
    while decorated is not None and not hasattr(decorated, "constexprs"):
        decorated = getattr(decorated, "fn", None)
    return decorated


def load_module(path: Path) -> ModuleType:
    """The module of a Python file; its folder is importable, as when the file is run."""
    if not path.is_file():
        raise SignatureError(f"there is no file {path}")
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
