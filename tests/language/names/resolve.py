"""From a line of `tools/triton_language_names.txt` to the object, and to its key in the table.

triton.language sum                      sum
triton.language tensor.sum               tensor.sum, or sum: a method is the function
triton.language.math exp                 math.exp, or exp
triton.language.extra.libdevice add_rd   libdevice.add_rd
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

NAMES = Path(__file__).parents[3] / "tools" / "triton_language_names.txt"


@cache
def public_names() -> tuple[tuple[str, str], ...]:
    """(module, name) of every public name of Triton's language."""
    lines = NAMES.read_text(encoding="utf-8").splitlines()
    return tuple((line.split()[0], line.split()[1]) for line in lines)


def key_of(module: str, name: str) -> str:
    """How the tables and docs/language.md call it."""
    last = module.rpartition(".")[2]
    return name if last == "language" else f"{last}.{name}"


def keys_of(key: str) -> list[str]:
    """Where its entry may stand: under its own key, else under that of the function it is."""
    own, _, name = key.rpartition(".")
    shared = own in ("tensor", "math", "standard", "random")
    return [key, name] if shared else [key]


@cache
def resolve(key: str) -> Any:
    """The object of a key. Raises AttributeError where there is none."""
    modules = {
        "math": "language.math",
        "standard": "language.standard",
        "random": "language.random",
        "target_info": "language.target_info",
        "libdevice": "language.extra.libdevice",
        "cuda": "language.extra.cuda",
    }
    first, _, rest = key.partition(".")
    inside = first in modules and rest
    found: Any = importlib.import_module(f"mytriton.{modules[first] if inside else 'language'}")
    for part in (rest if inside else key).split("."):
        found = getattr(found, part)
    return found
