"""The layering gate: a module imports from its own layer and those before it, never upward.

The order is the architecture: whoever reads `passes` needs to know `ir`, but not `runtime`. An
import counts wherever it stands: at the top, under TYPE_CHECKING, in a function, in import_module.

    ir/text.py:       from mytriton.errors import CompileError     fine, errors comes before ir
    passes/facts.py:  from ..runtime import launch                 a finding
    targets/cpu/x.py: from mytriton.targets.cuda import prelude    a finding, targets are siblings
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.ci.source import Finding, python_files

PACKAGE = "mytriton"
LAYERS = (
    "log",
    "fork",
    "errors",
    "strict",
    "ir",
    "elementary",
    "language",
    "frontend",
    "passes",
    "layouts",
    "targets",
    "runtime",
    "explorer",
    "tools",
    "as_triton",
)
# `mytriton` itself offers everything; only what is built on the whole may import it back.
MAY_IMPORT_ROOT = ("explorer", "tools", "as_triton")
# Targets that know nothing of each other. cuda/sim is a part of cuda.
SIBLINGS = ("interpret", "cpu", "cuda")
# (importing module, imported module): an upward import inside a function that cannot be avoided.
# Each entry is a debt, with its reason beside it.
LAZY_UPWARD: frozenset[tuple[str, str]] = frozenset(
    {
        # A row of the op table names its formula, and a formula is written in rows: whichever of
        # the two layers came first would have to import the other.
        ("mytriton.ir.elementwise", "mytriton.elementary"),
        # `kernel.explain(…)` is a method, and what explains reads all that the runtime has made.
        ("mytriton.runtime.jit", "mytriton.explorer.calls"),
    }
)


@dataclass(frozen=True)
class Import:
    """One module imported by another, both by their dotted names."""

    importer: str
    imported: str
    line: int
    lazy: bool  # inside a function


def module_name(file: Path, source: Path) -> str:
    parts = file.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def base_of(node: ast.ImportFrom, file: Path, importer: str) -> str:
    """Return the absolute name of the module after `from`."""
    if not node.level:
        return node.module or ""
    package = importer.split(".")
    drop = node.level - (1 if file.name == "__init__.py" else 0)
    kept = package[: len(package) - drop]
    return ".".join([*kept, *([node.module] if node.module else [])])


def called_import(node: ast.Call) -> str | None:
    """Return the module a call of import_module or __import__ with a literal name imports."""
    name = getattr(node.func, "attr", getattr(node.func, "id", None))
    if name not in ("import_module", "__import__"):
        return None
    match node.args:
        case [ast.Constant(value=str(imported)), *_]:
            return imported
    return None


def imported_names(node: ast.AST, file: Path, importer: str, modules: set[str]) -> Iterator[str]:
    """Yield the modules that this one node imports; `from a import b` is a.b where that exists."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(names=names):
            base = base_of(node, file, importer)
            for alias in names:
                full = f"{base}.{alias.name}"
                yield full if full in modules else base
        case ast.Call():
            if (name := called_import(node)) is not None:
                yield name


def imports_of(file: Path, importer: str, modules: set[str]) -> Iterator[Import]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    lazy = {id(n) for f in ast.walk(tree) if isinstance(f, functions) for n in ast.walk(f)}
    for node in ast.walk(tree):
        for name in imported_names(node, file, importer, modules):
            if name == PACKAGE or name.startswith(PACKAGE + "."):
                yield Import(importer, name, getattr(node, "lineno", 1), id(node) in lazy)


def layer(module: str) -> str:
    """Return the layer of a module of the package; the package's own files are layer ''."""
    parts = module.split(".")
    return "" if len(parts) == 1 or parts[1] == "__main__" else parts[1]


def target(module: str) -> str | None:
    parts = module.split(".")
    is_sibling = len(parts) > 2 and parts[1] == "targets" and parts[2] in SIBLINGS
    return parts[2] if is_sibling else None


def fault(found: Import) -> str | None:
    """Return what is wrong with an import, or None."""
    above, below = layer(found.importer), layer(found.imported)
    for name in (above, below):
        if name and name not in LAYERS:
            return f"`{PACKAGE}.{name}` is in no layer: {', '.join(LAYERS)}"
    if not above:
        return None
    if not below:
        allowed = above in MAY_IMPORT_ROOT
        return None if allowed else f"{above} imports `{PACKAGE}` itself, which imports all layers"
    if LAYERS.index(below) > LAYERS.index(above):
        return f"{above} imports {below}, which comes after it ({found.imported})"
    ours, theirs = target(found.importer), target(found.imported)
    if ours and theirs and ours != theirs:
        return f"target {ours} imports target {theirs} ({found.imported})"
    return None


def all_imports(root: Path) -> Iterator[tuple[Path, Import]]:
    source = root / "src"
    files = {file: module_name(file, source) for file in python_files(root, f"src/{PACKAGE}")}
    modules = set(files.values())
    for file, name in files.items():
        for found in imports_of(file, name, modules):
            yield file.relative_to(root), found


def check(root: Path) -> list[Finding]:
    """Return every import that goes against the order, and every permission nobody uses."""
    findings, used = [], set()
    for path, found in all_imports(root):
        message = fault(found)
        key = (found.importer, found.imported)
        if message and found.lazy and key in LAZY_UPWARD:
            used.add(key)
        elif message:
            findings.append(Finding(path, found.line, message))
    gate = Path(__file__).relative_to(Path(__file__).parents[2])
    stale = sorted(LAZY_UPWARD - used)
    return findings + [Finding(gate, 1, f"LAZY_UPWARD entry is not used: {key}") for key in stale]
