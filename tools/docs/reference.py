"""Writes docs/reference/: every public function with its signature, from the docstrings, the op
table, the launch options and the environment variables.

    python -m tools.docs.reference            writes the pages
    python -m tools.docs.reference --check    says whether they are as they would be written
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import mytriton as triton
import mytriton.language as tl
from mytriton.environment import VARIABLES
from mytriton.ir.ops import REQUIRED, TABLE, Row
from mytriton.ir.types import SCALARS, ScalarType
from mytriton.language.extra import libdevice
from mytriton.runtime.options import options_table
from mytriton.tools import cli
from tools.docs.signatures import cell, first_sentence, function, kind, prose, signature_text

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
NOTE = "<!-- Written by `python -m tools.docs.reference`; do not edit. -->\n"

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Programs and blocks": ("creation",),
    "Memory": ("memory", "block_pointers", "descriptors"),
    "Element by element": ("math",),
    "Along an axis": ("reductions",),
    "Shapes": ("shapes",),
    "Products": ("dot",),
    "Written in the language": ("library",),
    "Random numbers": ("random",),
    "Loops": ("loops",),
    "Asserts, prints and hints": ("debug",),
    "Inline assembly": ("extra.inline_asm",),
}
"""The modules of the language under the headings of the page."""


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """A page: its title, what it is, and the parts."""
    return "\n".join([f"# {title}\n", NOTE, about + "\n", *parts]).rstrip() + "\n"


def described(prefix: str, names: Mapping[str, Any]) -> Iterator[str]:
    """The sections of functions and classes, in the order given."""
    for name, value in names.items():
        if inspect.isclass(value):
            yield from kind(f"{prefix}{name}", value)
        elif callable(value):
            yield from function(f"{prefix}{name}", value)


def package() -> str:
    """`mytriton` itself."""
    names = {n: getattr(triton, n) for n in triton.__all__ if n not in ("language", "testing")}
    about = "What `import mytriton as triton` gives; `triton.testing` is at the end."
    testing = triton.testing
    measured = {name: getattr(testing, name) for name in testing.__all__}
    return page(
        "The package",
        about,
        [
            "## `triton`\n",
            *described("triton.", dict(sorted(names.items(), key=lambda item: item[0].lower()))),
            "## `triton.testing`\n",
            *described("triton.testing.", measured),
        ],
    )


def language() -> str:
    """`mytriton.language`: functions, types, constants."""
    parts: list[str] = []
    seen: set[str] = set()
    for heading, modules in GROUPS.items():
        parts.append(f"## {heading}\n")
        for name in modules:
            module = importlib.import_module(f"{tl.__name__}.{name}")
            parts += described("tl.", _public(module, seen))
    parts += ["## Types\n", *_dtypes(), *_tensor(), *_constants()]
    about = (
        "What `import mytriton.language as tl` gives. What each means, rule by rule, is in"
        " [semantics](../semantics.md); what works on which target in [the table of"
        " names](../language.md). `TensorLike` is a tensor or a number, `Const…` is known when the"
        " kernel is compiled."
    )
    return page("The language", about, parts)


def _public(module: ModuleType, seen: set[str]) -> dict[str, Any]:
    """The public functions of a module that no other has shown."""
    found = {n: getattr(tl, n, getattr(module, n)) for n in module.__all__ if n not in seen}
    if module.__name__.endswith(".math"):
        more = module.FUNCTIONS.items()
        found |= {n: f for n, f in more if getattr(tl, n, None) is f and n not in seen}
    shown = {n: f for n, f in found.items() if callable(f)}
    seen.update(shown)
    return dict(sorted(shown.items()))


def _dtypes() -> Iterator[str]:
    """The element types, one row each, and what can be asked of one, collapsed."""
    yield "### The element types\n"
    yield "| name | in the IR | bits | |\n|---|---|---|---|"
    kinds = {"b": "bool", "i": "signed int", "u": "unsigned int", "f": "float"}
    for row in SCALARS:
        public = next((n for n in sorted(vars(tl)) if getattr(tl, n) is row), row.name)
        yield f"| `tl.{public}` | `{row.ir}` | {row.bits} | {kinds[row.kind]} |"
    names = [
        name for base in ScalarType.__mro__[:-1] for name in vars(base) if not name.startswith("_")
    ]
    listed = ", ".join(f"`{name}`" for name in sorted(set(names)))
    yield f"\nWhat can be asked of each: {listed}.\n"


def _tensor() -> Iterator[str]:
    """`tl.tensor`, its methods that are functions of the language in one line."""
    names = [n for n in dir(tl.tensor) if not n.startswith("_") and callable(getattr(tl, n, None))]
    yield from kind("tl.tensor", tl.tensor, skip=names)
    listed = ", ".join(f"`x.{name}`" for name in names)
    yield f"Methods that are the functions of the same name, with the tensor first: {listed}.\n"


def _constants() -> Iterator[str]:
    yield "## Constants\n"
    yield f"`tl.TRITON_MAX_TENSOR_NUMEL` = {tl.TRITON_MAX_TENSOR_NUMEL}, the most elements of a"
    yield "block in Triton.\n"
    for member in tl.PropagateNan:
        yield f"`tl.PropagateNan.{member.name}` = {member.value:#x}\n"


def libdevice_page() -> str:
    """`tl.extra.libdevice`: a row a function."""
    rows = []
    for name in _libdevice_names():
        value = getattr(libdevice, name)
        rows.append(f"| {cell(signature_text(name, value))} | {first_sentence(value.__doc__)} |")
    about = "The functions of CUDA's libdevice, `tl.extra.libdevice`, on every target."
    return page("libdevice", about, ["| | |\n|---|---|", *rows])


def _libdevice_names() -> list[str]:
    names = (n for n in dir(libdevice) if not n.startswith("_"))
    return [
        n for n in names if inspect.isfunction(value := getattr(libdevice, n)) and value.__doc__
    ]


def ops() -> str:
    """The op table: what every target and every pass reads."""
    about = (
        "Every op of the IR, from its row in the op table (`src/mytriton/ir/`). Operands with `*`"
        " stand for any number. How to add one is in [adding an op](../adding-an-op.md)."
    )
    rows = sorted(TABLE.values(), key=lambda row: row.name)
    structural = [row for row in rows if row.element is None]
    elementwise = [row for row in rows if row.element is not None]
    return page(
        "The ops",
        about,
        [
            "## Structural\n\n| op | operands | attributes | effect | |\n|---|---|---|---|---|",
            *map(_structural, structural),
            "\n## Element-wise\n\n| op | operands | elements | |\n|---|---|---|---|",
            *map(_elementwise, elementwise),
        ],
    )


def _structural(row: Row) -> str:
    attrs = ", ".join(f"`{k}`" if v is REQUIRED else f"`{k}={v!r}`" for k, v in row.attrs.items())
    parts = [*filter(None, [attrs]), *(f"region `{name}`" for name in row.region_names)]
    effect = row.effect.name.lower()
    operands = ", ".join(f"`{name}`" for name in row.operands)
    return (
        f"| `{row.name}` | {operands} | {', '.join(parts)} | {effect} | {first_sentence(row.doc)} |"
    )


def _elementwise(row: Row) -> str:
    element = row.element
    assert element is not None
    names = ", ".join(f"`{name}`" for name in element.signature[: element.arity])
    return f"| `{row.name}` | {names} | `{element.kinds}` | {first_sentence(row.doc)} |"


def environment() -> str:
    """The environment variables and the options of a launch."""
    rows = [f"| `{v.name}` | {v.values} | {_linked(v.meaning)} | {v.read} |" for v in VARIABLES]
    about = "Everything that changes how kernels are compiled and run, beside the code itself."
    return page(
        "Environment variables and launch options",
        about,
        [
            "## Environment variables\n",
            "| variable | values | meaning | read |\n|---|---|---|---|",
            *rows,
            "\n## Options of a launch\n",
            "Keywords of `kernel[grid](…)` that are no parameters of the kernel. An option"
            " **acts**, or it is a **hint** that changes no result.\n",
            options_table(),
        ],
    )


def _linked(text: str) -> str:
    """`(docs/x.md)` as a link from this folder."""
    head, opening, rest = text.partition("(docs/")
    name, closing, tail = rest.partition(".md)")
    return f"{head}([{name}](../{name}.md)){tail}" if opening and closing else text


def commands() -> str:
    """The command line, from its parsers."""
    parts: list[str] = []
    for name, command in _subcommands(cli.parser()).items():
        parts += [f"## `mytriton {name}`\n", "| | |\n|---|---|"]
        parts += [row for action in command._actions for row in _option(action)]
        parts.append("")
    about = "`mytriton` and `python -m mytriton` are the same command; `mytriton --version`."
    return page("The command line", about, parts)


def _subcommands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _option(action: argparse.Action) -> Iterator[str]:
    """A row of the table: how an option or argument is written, and its help."""
    if isinstance(action, argparse._HelpAction):
        return
    value = str(action.metavar or action.dest).upper() if action.nargs != 0 else ""
    if action.option_strings:
        shown = f"{', '.join(action.option_strings)} {value}".strip()
    else:
        shown = str(action.metavar or action.dest)
    yield f"| `{shown}` | {prose(action.help or '').replace('|', chr(92) + '|')} |"


PAGES: Mapping[str, Callable[[], str]] = {
    "package.md": package,
    "language.md": language,
    "libdevice.md": libdevice_page,
    "commands.md": commands,
    "environment.md": environment,
    "ops.md": ops,
}
"""Every page of the folder, and what writes it."""


def stale() -> list[str]:
    """The pages that are not as they would be written."""
    return [
        name
        for name, write in PAGES.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != write()
    ]


def main() -> int:
    if "--check" in sys.argv:
        found = stale()
        print("\n".join(f"docs/reference/{name} is not fresh" for name in found))
        return bool(found)
    FOLDER.mkdir(exist_ok=True)
    for name, write in PAGES.items():
        (FOLDER / name).write_text(write(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
