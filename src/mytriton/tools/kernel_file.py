"""The kernels of a Python file, found by loading it without launching anything.

`mytriton show` and its like need a kernel's function, not what its file does with it. So the file
is loaded with launches that do nothing, and what it prints goes to stderr. It may still fail, for
instance where it checks results that nothing computed; what was defined before that counts.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import did_you_mean
from ..runtime.interface import KernelInterface
from ..runtime.jit import JITFunction
from . import stand_in
from .signature import SignatureError


class NoLaunch(tuple[None, None, None]):
    """What a launch gives while a file is only loaded: three results, all None."""


@contextmanager
def without_launches() -> Iterator[None]:
    """For the extent of a `with`, `kernel[grid](…)` does nothing, whatever wraps the kernel."""

    def nothing(kernel: KernelInterface, grid: Any) -> Any:
        return lambda *args, **kwargs: NoLaunch((None, None, None))

    kinds = [KernelInterface, *_descendants(KernelInterface)]
    kept = [(kind, vars(kind)["__getitem__"]) for kind in kinds if "__getitem__" in vars(kind)]
    for kind, _ in kept:
        setattr(kind, "__getitem__", nothing)  # noqa: B010 - the checker allows no assignment
    try:
        yield
    finally:
        for kind, method in kept:
            setattr(kind, "__getitem__", method)  # noqa: B010


def standing_in() -> AbstractContextManager[None]:
    """The stand-in for the extent of a `with`; nothing where another Triton is imported already."""
    other = "triton" in sys.modules and not stand_in.is_active()
    return nullcontext() if other else stand_in.active()


def _descendants(kind: type) -> Iterator[type]:
    below: type
    for below in kind.__subclasses__():
        yield below
        yield from _descendants(below)


@dataclass(frozen=True)
class KernelFile:
    """A loaded file: its jit functions by name, in the file's order, with what wraps them.

    stopped: why the file did not run to its end, or "".
    """

    path: Path
    functions: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""

    @property
    def kernels(self) -> list[str]:
        """The names of the file's own jit functions that no other of them calls; all, if that
        leaves none."""
        own = {
            name: kernel
            for name, kernel in self.functions.items()
            if Path(kernel.fn.__code__.co_filename).resolve() == self.path.resolve()
        }
        called = {
            name
            for caller, kernel in own.items()
            for name in kernel.fn.__code__.co_names
            if name != caller
        }
        return [name for name in own if name not in called] or list(own or self.functions)

    def kernel(self, name: str) -> JITFunction:
        """The jit function of that name. Raises SignatureError with the names there are."""
        if name in self.functions:
            found: JITFunction = self.functions[name]
            return found
        known = self.kernels
        end = did_you_mean(name, self.functions) or f"; there are {', '.join(known) or 'none'}"
        raise SignatureError(f"{self.path} has no @jit function named {name!r}{end}")


def jit_function(decorated: Any) -> Any:
    """The jit function under any autotuners and heuristics; None where there is none."""
    while decorated is not None and not isinstance(decorated, JITFunction):
        decorated = getattr(decorated, "fn", None)
    return decorated


def load(path: Path) -> KernelFile:
    """Loads a Python file without launching its kernels; its folder is importable and `triton` is
    the stand-in, as when the file is run.

    Raises SignatureError where there is no such file, or where it fails before it defines a kernel.
    """
    if not path.is_file():
        raise SignatureError(f"there is no file {path}")
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SignatureError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    stopped = ""
    try:
        with standing_in(), without_launches(), redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        stopped = _place(error, path)
    functions = _functions(module)
    if stopped and not functions:
        raise SignatureError(f"{path} cannot be loaded: {stopped}")
    return KernelFile(path, functions, stopped)


def _functions(module: ModuleType) -> dict[str, JITFunction]:
    found = {
        name: kernel
        for name, value in vars(module).items()
        if isinstance(value, KernelInterface) and (kernel := jit_function(value)) is not None
    }
    own = module.__file__

    def place(item: tuple[str, JITFunction]) -> tuple[bool, int]:
        code = item[1].fn.__code__
        return code.co_filename != own, code.co_firstlineno

    return dict(sorted(found.items(), key=place))


def _place(error: BaseException, path: Path) -> str:
    """The error in a line, with the line of the file that it came from."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    text = str(error).strip().split("\n")[0]
    where = f" at line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"
