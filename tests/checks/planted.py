"""Faults planted into kernels by a script: each changes one expression of a kernel's source and
leaves every line where it is, so the line that a check must name is known.

    for fault in planted(path): fault.kind, fault.lines, fault.source
    with module_of(fault, folder) as module: …
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ACCESSES = ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg")


@dataclass(frozen=True)
class Fault:
    """One change of a source text. lines: the first and last line of what was changed."""

    kind: str
    path: Path
    lines: tuple[int, int]
    source: str

    @property
    def name(self) -> str:
        return f"{self.path.stem}:{self.lines[0]} {self.kind}"

    def is_at(self, line: int) -> bool:
        return self.lines[0] <= line <= self.lines[1]


Change = Callable[[ast.Call], ast.expr | None]
"""What becomes of a call; None where the kind of fault does not apply."""


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((k for k in call.keywords if k.arg == name), None)


def without(call: ast.Call, name: str) -> ast.Call | None:
    """The call without a keyword."""
    if keyword(call, name) is None:
        return None
    made = copy.copy(call)
    made.keywords = [k for k in call.keywords if k.arg != name]
    return made


def mask_dropped(call: ast.Call) -> ast.expr | None:
    made = without(call, "mask")
    return made and (without(made, "other") or made)


def shifted(call: ast.Call, by: int) -> ast.expr | None:
    """The access `by` elements further."""
    if not call.args:
        return None
    made = copy.copy(call)
    offset = ast.BinOp(call.args[0], ast.Add(), ast.Constant(by))
    made.args = [offset, *call.args[1:]]
    return made


class _Swap(ast.NodeTransformer):
    """Exchanges two names."""

    def __init__(self, left: str, right: str) -> None:
        self.names = {left: right, right: left}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)


def strides_swapped(call: ast.Call) -> ast.expr | None:
    """The factors of two products in the address exchanged."""
    if not call.args:
        return None
    products = [
        node.right.id
        for node in ast.walk(call.args[0])
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and isinstance(node.right, ast.Name)
    ]
    if len(set(products)) < 2:
        return None
    made = copy.copy(call)
    first = copy.deepcopy(call.args[0])
    made.args = [_Swap(products[0], products[-1]).visit(first), *call.args[1:]]
    return made


BOUNDS: dict[str, Change] = {
    "mask dropped": mask_dropped,
    "offset shifted up": lambda call: shifted(call, 1 << 14),
    "offset shifted by one": lambda call: shifted(call, 1),
    "offset shifted down": lambda call: shifted(call, -1),
    "strides swapped": strides_swapped,
}
"""The kinds of faults that lead out of an array, if the arrays are small enough."""


def planted(path: Path, kinds: dict[str, Change]) -> Iterator[Fault]:
    """Every fault of these kinds in the kernels of a file."""
    source = path.read_text()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and is_kernel(function):
            calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
            for call in filter(is_access, calls):
                for kind, change in kinds.items():
                    made = change(call)
                    if made is not None:
                        lines = (call.lineno, call.end_lineno or call.lineno)
                        yield Fault(kind, path, lines, replaced(source, call, made))


def is_kernel(function: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in function.decorator_list)


def is_access(call: ast.Call) -> bool:
    return ast.unparse(call.func) in {f"tl.{name}" for name in ACCESSES}


def replaced(source: str, old: ast.expr, new: ast.expr) -> str:
    """The source with another expression in the place of one, every other line where it was."""
    assert old.end_lineno is not None
    assert old.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    before = b"".join(lines[: old.lineno - 1]) + lines[old.lineno - 1][: old.col_offset]
    after = lines[old.end_lineno - 1][old.end_col_offset :] + b"".join(lines[old.end_lineno :])
    text = f"({ast.unparse(new)}{chr(10) * (old.end_lineno - old.lineno)})"
    return (before + text.encode() + after).decode()


@contextmanager
def module_of(fault: Fault, folder: Path) -> Iterator[ModuleType]:
    """The module of a changed source, imported from a file of the same name."""
    file = folder / fault.path.name
    file.write_text(fault.source)
    name = f"planted_{fault.path.stem}_{abs(hash((fault.kind, fault.lines)))}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]
