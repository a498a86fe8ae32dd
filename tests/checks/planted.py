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
    """One change of a source text. lines: the first and last line of what was changed. function:
    those of the kernel."""

    kind: str
    path: Path
    lines: tuple[int, int]
    source: str
    function: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        return f"{self.path.stem}:{self.lines[0]} {self.kind}"

    def is_at(self, line: int) -> bool:
        return self.lines[0] <= line <= self.lines[1]


Change = Callable[[ast.expr], ast.expr | None]
"""What becomes of an expression; None where the kind of fault does not apply."""


def of_accesses(change: Callable[[ast.Call], ast.expr | None]) -> Change:
    """A change of calls that access memory."""

    def changed(node: ast.expr) -> ast.expr | None:
        return change(node) if isinstance(node, ast.Call) and is_access(node) else None

    return changed


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
    "mask dropped": of_accesses(mask_dropped),
    "offset shifted up": of_accesses(lambda call: shifted(call, 1 << 14)),
    "offset shifted by one": of_accesses(lambda call: shifted(call, 1)),
    "offset shifted down": of_accesses(lambda call: shifted(call, -1)),
    "strides swapped": of_accesses(strides_swapped),
}
"""The kinds of faults that lead out of an array, if the arrays are small enough."""


def other_removed(call: ast.Call) -> ast.expr | None:
    return without(call, "other") if keyword(call, "mask") else None


def other_changed(call: ast.Call, value: int) -> ast.Call | None:
    """A load with another `other`: what an undefined lane might hold."""
    if not (keyword(call, "other") and keyword(call, "mask")):
        return None
    made = copy.copy(call)
    rest = [k for k in call.keywords if k.arg != "other"]
    made.keywords = [*rest, ast.keyword("other", ast.Constant(value))]
    return made


def called(node: ast.expr, name: str) -> ast.Call | None:
    """The node, if it is a call of `tl.<name>`."""
    found = isinstance(node, ast.Call) and ast.unparse(node.func) == f"tl.{name}"
    return node if isinstance(node, ast.Call) and found else None


def atomic_removed(node: ast.expr) -> ast.expr | None:
    """A load, an addition and a store instead of an atomic addition."""
    call = called(node, "atomic_add")
    if call is None or len(call.args) < 2 or ast.unparse(call.args[1]) == "0":
        return None
    pointer, value = call.args[:2]
    masks = [k for k in call.keywords if k.arg == "mask"]
    load = ast.Call(ast.parse("tl.load", mode="eval").body, [pointer], masks)
    total = ast.BinOp(load, ast.Add(), value)
    return ast.Call(ast.parse("tl.store", mode="eval").body, [pointer, total], masks)


def atomic_weakened(node: ast.expr) -> ast.expr | None:
    """An exchange that no longer releases."""
    call = called(node, "atomic_xchg")
    if call is None:
        return None
    made = copy.copy(call)
    rest = [k for k in call.keywords if k.arg != "sem"]
    made.keywords = [*rest, ast.keyword("sem", ast.Constant("relaxed"))]
    return made


def barrier_removed(node: ast.expr) -> ast.expr | None:
    return ast.Constant(None) if called(node, "debug_barrier") else None


def cast_narrowed(node: ast.expr) -> ast.expr | None:
    """8 bits instead of 64, so that small arrays show it."""
    if not isinstance(node, ast.Call) or not ast.unparse(node).endswith(".to(tl.int64)"):
        return None
    return ast.Call(node.func, [ast.parse("tl.int8", mode="eval").body], [])


def offset_narrowed(call: ast.Call) -> ast.expr | None:
    """The offset of an access cut to 8 bits."""
    pointer = call.args[0] if call.args else None
    if not (isinstance(pointer, ast.BinOp) and isinstance(pointer.op, ast.Add)):
        return None
    made = copy.copy(call)
    cut = ast.Call(ast.Attribute(pointer.right, "to"), [ast.parse("tl.int8", mode="eval").body], [])
    made.args = [ast.BinOp(pointer.left, ast.Add(), cut), *call.args[1:]]
    return made


def divided_by_zero(node: ast.expr) -> ast.expr | None:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return None
    zero = ast.BinOp(node.right, ast.Sub(), node.right)
    return ast.BinOp(node.left, ast.Div(), zero)


def product_divided(node: ast.expr) -> ast.expr | None:
    """A stored value over zero."""
    call = called(node, "store")
    if call is None or len(call.args) < 2:
        return None
    made, value = copy.copy(call), call.args[1]
    zero = ast.BinOp(value, ast.Sub(), value)
    made.args = [call.args[0], ast.BinOp(value, ast.Div(), zero), *call.args[2:]]
    return made


def planted(path: Path, kinds: dict[str, Change]) -> Iterator[Fault]:
    """Every fault of these kinds in the kernels of a file."""
    source = path.read_text()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and is_kernel(function):
            for node in ast.walk(function):
                for kind, change in kinds.items():
                    made = change(node) if isinstance(node, ast.expr) else None
                    if made is not None:
                        assert isinstance(node, ast.expr)
                        lines = (node.lineno, node.end_lineno or node.lineno)
                        around = (function.lineno, function.end_lineno or function.lineno)
                        changed = replaced(source, node, made)
                        yield Fault(kind, path, lines, changed, around)


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
