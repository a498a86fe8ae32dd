"""Prints docs/language.md: every public name of Triton's language, and what it does on each target.

One idea: a name is said to work because `tests/language/test_every_name.py` runs it on interpret
and cpu; this script reads the same entries, lowers each kernel in them to CUDA, and asks the op
table about what each row is. `python -m tools.language_table > docs/language.md`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mytriton.ir.ops import TABLE

ROOT = Path(__file__).parents[1]
EXCEPTIONS = ROOT / "tools" / "language_exceptions.txt"
TEST = "tests/language/test_every_name.py"

HEAD = """# The language, name by name

<!-- Written by `python -m tools.language_table`; do not edit. -->

Every public name of Triton's language (the modules `triton.language`, `.math`, `.standard`,
`.random`, `.target_info`, `.extra.libdevice`, `.extra.cuda`, with the methods of tensors,
descriptors and dtypes) and what it does here.

- **works**: means what Triton's documentation and [semantics.md](semantics.md) say;
- **hint**: accepted, and changes no result;
- **refused**: an error that says what to do instead;
- **num_warps** (CUDA only): beyond the lane rule of one thread an element, whose own limits refuse
  the kernel; `num_warps=` lowers it.

`interpret` and `cpu` are what the entry of that name in [test_every_name.py](../{test}) was run on,
with the right value from NumPy, mpmath or exact arithmetic; the test of a name is
`{test}::test_name[NAME]`. The column `cuda` is what a launch without `num_warps` does with the
kernel of that entry.
"""

OPTIONS = """## Options that are hints

Accepted with their Triton spellings, checked, and without effect on any result.

| option | of |
|---|---|
| `cache_modifier`, `eviction_policy` | `load`, `store` |
| `sem`, `scope` | atomics: on `cpu` and `interpret` each is ordered as `acq_rel`, for all |
| `num_stages`, `loop_unroll_factor`, `disallow_acc_multi_buffer` | `range` |
| `flatten`, `warp_specialize`, `disable_licm` | `range` |
| `disable_licm` | `condition` |
| `max_num_imprecise_acc` | `dot`: sums are always in full precision |
| `fast_math` | `dot_scaled` |
| `can_reorder` | `reshape`, `ravel`, `cat`: the order is kept |
| `sanitize_overflow` | `add`, `sub`, `mul`: ints wrap |
| `approx` | `fdiv`: division is correctly rounded |
| `order` | `make_block_ptr` |
| `timeout_ns` | `atomic_poll`: a wait without end is reported as a deadlock |
"""


@dataclass(frozen=True)
class Line:
    """One name of the table."""

    key: str
    module: str
    interpret: str
    cuda: str
    what: str


@cache
def exceptions() -> dict[str, tuple[str, str]]:
    """By name: `hint` or `refused`, and what happens instead."""
    found = {}
    for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            key, status, instead = (part.strip() for part in line.split("|"))
            found[key] = (status, instead)
    return found


def entries(module: str) -> Any:
    """A module of the tests that shows every name."""
    return importlib.import_module(f"tests.language.names.{module}")


def what_it_is(key: str) -> str:
    """A row of the op table, or the first sentence of the documentation."""
    resolve = entries("resolve").resolve
    name = key.rpartition(".")[2]
    row = TABLE.get(name)
    if row is not None and row.element is not None and "type" not in key:
        return f"op `{name}`"
    try:
        text = str(resolve(key).__doc__ or "")
    except AttributeError:
        return ""
    return "" if "type" in key else text.split("\n\n")[0].split(". ")[0].replace("\n", " ").strip()


def lines() -> Iterator[Line]:
    """The table in the order of the list of names."""
    names, row = entries("resolve"), entries("shown").Row
    for module, name in names.public_names():
        key = names.key_of(module, name)
        status = exceptions().get(key, ("", ""))[0]
        entry = entries("table").shown(key)
        assert entry is not None, f"{key} has no entry"
        function = names.resolve(key) if isinstance(entry, row) else None
        cuda = status or entry.lane_rule(function)
        yield Line(key, module, status or "works", cuda, what_it_is(key))


def page() -> str:
    """The whole of docs/language.md."""
    with contextlib.redirect_stdout(io.StringIO()):  # one of the kernels prints when compiled
        table = list(lines())
    works = sum(line.interpret == "works" for line in table)
    lowered = sum(line.cuda == "works" for line in table)
    parts = [HEAD.format(test=TEST)]
    parts.append(
        f"Of {len(table)} names {works} ({100 * works / len(table):.1f} %) work on `interpret` and"
        f" `cpu`, and {lowered} on `cuda`.\n"
    )
    parts.append(
        "## What makes no sense off a GPU\n\n| name | | what happens instead |\n|---|---|---|"
    )
    parts += [f"| `{key}` | {status} | {text} |" for key, (status, text) in exceptions().items()]
    parts.append("\n" + OPTIONS)
    modules = list(dict.fromkeys(line.module for line in table))
    for module in modules:
        parts.append(f"## {module}\n\n| name | interpret | cpu | cuda | |\n|---|---|---|---|---|")
        parts += [
            f"| `{line.key}` | {line.interpret} | {line.interpret} | {line.cuda} | {line.what} |"
            for line in table
            if line.module == module
        ]
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.stdout.write(page())
