"""The device functions that printed kernels may call, found by name and printed only when called.

One idea: `prelude.cuh` is one readable file of sections, `// --- name`; a kernel's text is searched
for the names, a section's own text likewise, and what is found is printed in the file's order. A
section with inline PTX has a twin of plain C++ in `sim/` (`twins.h`, …); any other is its own twin,
over the CUDA built-ins that `sim/builtins.h` and `sim/device.h` give a host compiler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

from ...ir.types import SCALARS, ScalarType

FOLDER = files(__package__)


def read_sections(text: str) -> dict[str, str]:
    """The sections of a file by name; `// --- a b` is one section found by either name."""
    sections: dict[str, str] = {}
    for part in re.split(r"^// --- ", text, flags=re.MULTILINE)[1:]:
        names, _, body = part.partition("\n")
        sections.update(dict.fromkeys(names.split(), body.strip("\n")))
    return sections


def _format(row: ScalarType) -> str:
    """A float format as an instance of the prelude's template, from its row."""
    word = "unsigned char" if row.bits == 8 else "unsigned short"
    facts = f"{word}, {row.exponent}, {row.mantissa}, {row.bias}, {row.special.upper()}"
    return f"typedef small_float<{facts}> {row.ir};"


FORMATS = {row.ir: _format(row) for row in SCALARS if row.kind == "f" and row.bits < 32}
SECTIONS: Mapping[str, str] = {
    **read_sections((FOLDER / "prelude.cuh").read_text()),
    **{name: text for name, text in FORMATS.items() if name not in ("f16", "bf16")},
}
TWINS: Mapping[str, str] = {
    **read_sections((FOLDER / "sim" / "twins.h").read_text()),
    **read_sections((FOLDER / "sim" / "async_copies.h").read_text()),
    "f16": FORMATS["f16"],
}
ORDER = {name: place for place, name in enumerate(SECTIONS)}


def _words(text: str) -> set[str]:
    """The identifiers of a C++ text, outside strings and comments."""
    code = re.sub(r'"(\\.|[^"\\])*"|//[^\n]*', " ", text)
    return set(re.findall(r"[A-Za-z_]\w*", code))


def needed(text: str, twins: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The names of the sections that a text calls, and those that these call, dependencies
    first."""
    found: set[str] = set()
    open_words = _words(text)
    while open_words:
        new = (open_words & SECTIONS.keys()) - found
        found |= new
        open_words = {
            word for name in new for word in _words((twins or {}).get(name, SECTIONS[name]))
        }
        open_words -= found
    return _in_order(found, twins or {})


def _in_order(found: set[str], twins: Mapping[str, str]) -> tuple[str, ...]:
    """Each section once, after all that it calls; otherwise in the file's order."""
    done: list[str] = []

    def visit(name: str) -> None:
        for word in sorted(_words(body(name)) & found - {name}, key=ORDER.__getitem__):
            if body(word) != body(name) and word not in done:
                visit(word)
        if name not in done:
            done.append(name)

    def body(name: str) -> str:
        return twins.get(name, SECTIONS[name])

    for name in sorted(found, key=ORDER.__getitem__):
        visit(name)
    return tuple(done)


def device_text(names: tuple[str, ...]) -> str:
    """The sections as CUDA C++, a blank line between two."""
    return "\n\n".join(dict.fromkeys(SECTIONS[name] for name in names))


def host_text(text: str) -> str:
    """What a text calls, as C++ for a host compiler that has included `sim/builtins.h` and
    `sim/device.h`."""
    names = needed(text, TWINS)
    return "\n\n".join(dict.fromkeys(TWINS.get(name, SECTIONS[name]) for name in names))
