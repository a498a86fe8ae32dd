"""Any stage of any kernel as text, without running it: what `mytriton show` prints.

The stages are those of the compiler itself (`runtime/compile.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..runtime.compile import STAGES, Compilation
from ..targets import CompileOptions
from .kernel_file import KernelFile, load
from .signature import SignatureError, complete, parse_signature, ready_made

__all__ = ["STAGES", "Compilation", "choose", "command", "compilation", "listing", "load_kernel"]


def load_kernel(place: str, signature: str, architecture: str) -> Compilation:
    """The kernel at `file.py::name` (the name may be left out where the file has one kernel), with
    the types that the signature's text gives.

    Raises SignatureError where the file, the kernel or a parameter does not fit.
    """
    file, name = choose(place)
    if name is None:
        raise SignatureError(f"say which kernel:\n{listing(file)}")
    return compilation(file, name, signature, architecture)


def choose(place: str) -> tuple[KernelFile, str | None]:
    """The file of `file.py::name` or `file.py`, and the kernel's name: None if there are several.

    Says on stderr where the file stopped. Raises SignatureError where there is no such kernel.
    """
    path, _, name = place.partition("::")
    file = load(Path(path))
    if file.stopped:
        print(f"mytriton: {path} was loaded up to {file.stopped}", file=sys.stderr)
    names = file.kernels
    if not name and not names:
        raise SignatureError(f"{path} has no @jit function")
    if not name:
        return file, names[0] if len(names) == 1 else None
    file.kernel(name)
    return file, name


def compilation(file: KernelFile, name: str, signature: str, architecture: str) -> Compilation:
    """The compilation of a kernel of the file for the types that the signature's text gives."""
    function: Any = file.kernel(name)
    given = parse_signature(signature)
    arguments = complete(function.fn, set(function.constexprs), given)
    return Compilation(function.fn, arguments, CompileOptions(arch=architecture))


def listing(file: KernelFile, verb: str = "show") -> str:
    """The kernels of a file, one line each, as the command of mytriton that takes it."""
    return "\n".join(command(file, name, verb) for name in file.kernels)


def command(file: KernelFile, name: str, verb: str = "show") -> str:
    """The command of mytriton that takes a kernel, with a signature to be edited."""
    function: Any = file.kernel(name)
    signature = ready_made(function.fn, set(function.constexprs))
    return f"mytriton {verb} {file.path}::{name} --sig '{signature}'"
