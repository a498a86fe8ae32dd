"""The C++ program that cudasim compiles of a CUDA text.

The kernel's lines stay as they are printed, each behind a call that tells the simulator its number:

    v6[r] = ((float*)scratch)[thread];      cudasim::at(12); v6[r] = ((float*)scratch)[thread];

Shared memory is a part of the running block's, by reference, with a gap behind each variable, so
that an access past its end is seen. What a host compiler does not know (`#pragma unroll`, `#line`)
is left out. Around it stand what CUDA has and C++ lacks, and the host twins of device functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..prelude import host_text
from ..source import CudaSource

FOLDER = files(__package__)


def _read(*names: str) -> str:
    return "\n".join(FOLDER.joinpath(name).read_text() for name in names)


BUILTINS = _read("builtins.h")
"""CUDA's functions that C lacks: all that a row of the op table needs."""
DEVICE = _read("api.h", "device.h", "prints.h")
"""What a kernel calls that other threads notice."""
RUNTIME = _read(
    "api.h",
    "runtime/threads.h",
    "runtime/reports.h",
    "runtime/trace.h",
    "runtime/memory.h",
    "runtime/scheduler.h",
)
"""The simulator itself, an object of its own."""
GAP = 64
"""Bytes between two variables of shared memory."""
DECLARATION = re.compile(
    r"^(\s*)(?:extern\s+)?__shared__\s+(?:__align__\((\d+)\)\s+)?(.+?)\s*\b(\w+)(?:\[(\d*)\])?;$"
)
"""How a kernel declares shared memory; without an extent, the launch gives it."""


@dataclass(frozen=True)
class Variable:
    """A variable of shared memory: where it lies among all of them, and its size, in bytes."""

    name: str
    offset: int
    bytes: int


SIZES = {"char": 1, "bool": 1, "short": 2, "int": 4, "float": 4, "double": 8}


def size_of(c_type: str) -> int:
    """Bytes of an element of a C type."""
    if c_type.endswith("*") or "long long" in c_type:
        return 8
    last = c_type.split()[-1]
    return SIZES.get(last, 1 if last.startswith("f8") else 2)


def variables(source: CudaSource) -> tuple[Variable, ...]:
    """The shared memory that the kernel declares."""
    found: list[Variable] = []
    place = 0
    for line in source.kernel.splitlines():
        if match := DECLARATION.match(line):
            _, alignment, c_type, name, extent = match.groups()
            given = {None: 1, "": source.shared_bytes}.get(extent)
            count = int(extent) if given is None else given
            size = count * (1 if extent == "" else size_of(c_type))
            step = max(16, int(alignment or 16))
            place = -(-(place + GAP) // step) * step
            found.append(Variable(name, place, size))
            place += size
    return tuple(found)


def marked(source: CudaSource) -> Iterator[str]:
    """The kernel's lines, each statement behind a call that says its line."""
    offsets = {variable.name: variable.offset for variable in variables(source)}
    depth, begins = 0, False
    for number, line in enumerate(source.kernel.splitlines(), 1):
        code = OUTSIDE_CODE.sub("", line).strip()
        if match := DECLARATION.match(line):
            yield _reference(offsets, *match.groups())
        elif code.startswith(("#pragma", "#line")):
            yield ""
            continue
        else:
            is_statement = begins and depth > 0 and code and code[0] != "}"
            yield f"cudasim::at({number}); {line}" if is_statement else line
        depth += code.count("{") - code.count("}")
        begins = code.endswith((";", "{", "}")) if code else begins


OUTSIDE_CODE = re.compile(r"//.*|\"(\\.|[^\"\\])*\"")
"""Comments and the contents of strings."""


def _reference(
    offsets: Mapping[str, int], indent: str, alignment: str, c_type: str, name: str, extent: str
) -> str:
    """A variable of shared memory as a reference to a part of the running block's."""
    at = f"cudasim::shared({offsets[name]})"
    if extent is None:
        return f"{indent}{c_type}& {name} = *({c_type}*){at};"
    return f"{indent}{c_type}* const {name} = ({c_type}*){at};"


@cache
def host_program(source: CudaSource) -> str:
    """The C++ program of a kernel: `mytriton_kernel` unpacks its arguments and calls it,
    `mytriton_connect` takes the simulator's table.

    The kernel is renamed, since a shared object's own `read` would lose to the C library's.
    """
    given = (f"*({p.c_type}*)given[{place}]" for place, p in enumerate(source.parameters))
    name = f"kernel_{source.name}"
    kernel = "\n".join(marked(source))
    return f"""{BUILTINS}
{DEVICE}
{host_text(source.kernel)}

#define {source.name} {name}
#define printf cudasim::print
#line 1 "kernel"
{kernel}
#undef printf
#undef {source.name}

#define EXPORTED extern "C" __attribute__((visibility("default"))) UNCHECKED
EXPORTED void mytriton_kernel(void** given) {{
    {name}({", ".join(given)});
}}
EXPORTED uint3* mytriton_connect(const cudasim::api* table) {{
    cudasim::simulator = table;
    return cudasim::indices;
}}
EXPORTED const char* mytriton_printed() {{
    return cudasim::take_printed();
}}
"""
