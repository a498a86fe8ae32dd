"""Running a Python program whose kernels go to a target: what `mytriton run` does."""

from __future__ import annotations

import ast
import faulthandler
import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..runtime import checks
from ..runtime.target import check_target, set_target
from ..targets import TARGETS
from . import stand_in
from .signature import SignatureError


def run_file(file: Path, arguments: Sequence[str], target: str | None, debug: bool = False) -> None:
    """Runs a file as a program, with `sys.argv` and `sys.path` as Python would set them, and with
    the stand-in as `triton`.

    target: where its kernels run; None for MYTRITON_TARGET, else the CPU. debug: its launches check
    every access of memory. Raises SignatureError
    where there is no such file, and what the program raises.
    """
    if not file.is_file():
        raise SignatureError(f"there is no file {file}")
    chosen = check_target(target or os.environ.get("MYTRITON_TARGET") or "cpu")
    if chosen and target:
        for note in overriding(file, chosen):
            print(f"mytriton: {note}", file=sys.stderr)
    argv, path, before = sys.argv, list(sys.path), checks.debugging()
    sys.argv = [str(file), *arguments]
    sys.path.insert(0, str(file.parent.resolve()))
    try:
        set_target(chosen)
        checks.set_debug(debug or before)
        with stand_in.active(), crashes_shown():
            runpy.run_path(str(file), run_name="__main__")
    finally:
        set_target(None)
        checks.set_debug(before)
        sys.argv, sys.path = argv, path


class crashes_shown:
    """For the extent of a `with` a crash of native code prints where Python stood."""

    def __enter__(self) -> None:
        self.before = faulthandler.is_enabled()
        try:
            faulthandler.enable()
        except (OSError, ValueError, AttributeError):
            self.before = True  # stderr is no file here, as in a notebook

    def __exit__(self, *error: object) -> None:
        if not self.before:
            faulthandler.disable()


def overriding(file: Path, chosen: str) -> Iterator[str]:
    """A note for each line of the source that names another target than the chosen one, since what
    the source says at a launch or around it comes first."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
        return
    for node in ast.walk(tree):
        name = _named_target(node) if isinstance(node, ast.Call) else None
        if name in TARGETS and name != chosen:
            line = getattr(node, "lineno", 0)
            yield f"{file}:{line} chooses target {name!r} itself; {chosen!r} does not hold there"


def _named_target(call: ast.Call) -> str | None:
    """The target that `target("…")`, `set_target("…")` or `kernel[grid](…, target="…")` names."""
    function = call.func
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    values = [keyword.value for keyword in call.keywords if keyword.arg == "target"]
    if called in ("target", "set_target"):
        values += call.args[:1]
    elif not isinstance(function, ast.Subscript):
        return None
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return None
