"""`mytriton export`: a kernel as a C header with an object file, or with a cubin.

    mytriton export examples/vector_add.py::add_kernel --sig 'x=*fp32, y=*fp32, out=*fp32, n=i32'

The header has a function that launches the kernel over a grid, and needs nothing of this package.
What the object file expects in memory is the launch record (`targets/cpu/launch/record.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ctypes import c_int32, c_int64, c_void_p
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..frontend.signature import Constexpr
from ..ir.types import PointerType, ScalarType, Type, element_of
from ..runtime.compile import Compilation
from ..targets.cpu.launch.record import LaunchRecord

C_TYPES = {
    "bool": "bool",
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "f32": "float",
    "f64": "double",
}
"""C's types by the IR's. Smaller floats are passed as `float`; in memory they are their bits."""
KEYWORDS = """
auto bool break case char class const continue default delete do double else enum extern float for
friend goto if inline int long namespace new operator private protected public register restrict
return short signed sizeof static struct switch template this throw try typedef typename union
unsigned using virtual void volatile while
arena arguments i kernel memory nx ny nz record started stream threads worker workers
"""
"""Names that a parameter cannot have: C's and C++'s keywords, and what the headers call theirs."""


@dataclass(frozen=True)
class CParameter:
    """A parameter in C: its name, its type, and the bytes that its address must be a multiple of; 0
    for a number."""

    name: str
    type: str
    alignment: int


@dataclass(frozen=True)
class Exported:
    """What an export has written."""

    header: Path
    code: Path


def export(compilation: Compilation, target: str, folder: Path, restrict: bool) -> Exported:
    """Writes the header and the code of a kernel into a folder, which is made if it is missing.

    target: "cpu" or "cuda". restrict: arrays that the kernel stores to share no memory with others.
    Raises CompileError for a kernel that the target, or a C program, cannot launch.
    """
    name = identifier(compilation.name)
    suffix, code, text = {"cpu": _cpu, "cuda": _cuda}[target](compilation, name, not restrict)
    folder.mkdir(parents=True, exist_ok=True)
    made = Exported(folder / f"{name}.h", folder / f"{name}.{suffix}")
    made.code.write_bytes(code)
    made.header.write_text(text, encoding="utf-8")
    return made


def identifier(name: str) -> str:
    """A name that C takes."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"{found}_" if found in KEYWORDS.split() or found[:1].isdigit() else found


def parameters(compilation: Compilation) -> list[CParameter]:
    """The run-time parameters in C."""
    return [c_parameter(param.name, param.ty) for param in compilation.function.params]


def c_parameter(name: str, ty: Type) -> CParameter:
    """A parameter of the kernel in C."""
    if isinstance(ty, PointerType):
        element = ty.element
        held = f"uint{8 * element.itemsize}_t"
        return CParameter(identifier(name), f"{C_TYPES.get(element.ir, held)} *", element.itemsize)
    return CParameter(identifier(name), f"{C_TYPES.get(element_of(ty).ir, 'float')} ", 0)


RUN_TIME = (ScalarType, PointerType, tuple)


def unwrapped(value: Any) -> Any:
    """The value of a constexpr."""
    return value.value if isinstance(value, Constexpr) else value


def _about(compilation: Compilation) -> str:
    known = ", ".join(
        f"{name}: {value}" if isinstance(value, RUN_TIME) else f"{name}={unwrapped(value)!r}"
        for name, value in compilation.arguments.items()
    )
    return f"{compilation.name}({known})".replace("*/", "* /")


# -- the target cpu


def _cpu(compilation: Compilation, name: str, overlap: bool) -> tuple[str, bytes, str]:
    from ..targets.cpu.launch.export import exported

    made = exported(compilation["ssa"], overlap, f"{name}_run")
    given = parameters(compilation)
    known = {
        "about": _about(compilation),
        "name": name,
        "guard": f"{name.upper()}_H",
        "fields": "\n".join(_fields()),
        "slots": "\n".join(
            f"    union {{ int64_t slot; {p.type}value; }} {p.name};" for p in given
        ),
        "arena": str(made.arena_bytes),
        "parameters": "".join(f", {_declared(p, not overlap)}" for p in given),
        "aligned": _aligned(given),
        "given": "\n".join(f"    record.{p.name}.value = {p.name};" for p in given),
        "messages": "\n".join(_messages(made.messages)),
        "sharing": SHARING[overlap],
    }
    return "o", made.code, filled("cpu.h", known)


SHARING = {
    True: "Arrays may share memory.",
    False: "Arrays that the kernel stores to must share no memory with others.",
}


def filled(template: str, values: dict[str, str]) -> str:
    """A template of the folder `headers`, with `@name@` replaced by values."""
    text = files(__package__).joinpath("headers", template).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)


def _fields() -> Iterator[str]:
    """The launch record in C."""
    names: dict[Any, str] = {c_int64: "int64_t", c_int32: "int32_t", c_void_p: "void *"}
    for field in LaunchRecord._fields_:
        kind: Any = field[1]
        length = getattr(kind, "_length_", 0)
        extent = f"[{length}]" if length else ""
        yield f"    {names[kind._type_ if length else kind]} {field[0]}{extent};"


def _slot(parameter: CParameter) -> str:
    """An argument in the record, which takes eight bytes."""
    return f"    union {{ int64_t slot; {parameter.type}value; }} {parameter.name};"


def _declared(parameter: CParameter, restrict: bool) -> str:
    qualifier = "__restrict " if restrict and parameter.alignment else ""
    return f"{parameter.type}{qualifier}{parameter.name}"


def _aligned(given: Sequence[CParameter]) -> str:
    wrong = [f"(uintptr_t){p.name} % {p.alignment}" for p in given if p.alignment > 1]
    return f"    if ({' || '.join(wrong)}) return -3;\n" if wrong else ""


def _messages(messages: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(messages, 1):
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'    case {number}: return "{quoted}";'


# -- the target cuda


def _cuda(compilation: Compilation, name: str, overlap: bool) -> tuple[str, bytes, str]:
    from ..targets.cuda import compile_nvrtc
    from ..targets.cuda.specialise import Variants

    variants = Variants(compilation["cuda"], overlap)
    source = variants.of_facts((0,) * len(variants.places), wraps=True)
    arch = compilation.options.arch
    given = parameters(compilation)
    declared = (f"CUdeviceptr {p.name}" if p.alignment else f"{p.type}{p.name}" for p in given)
    known = {
        "about": _about(compilation),
        "name": name,
        "guard": f"{name.upper()}_H",
        "arch": arch,
        "symbol": source.name,
        "shared": str(source.shared_bytes),
        "threads": str(source.threads_per_block),
        "parameters": "".join(f", {one}" for one in declared),
        "given": ", ".join([*(f"&{p.name}" for p in given), "NULL"]),
        "sharing": SHARING[overlap],
    }
    return "cubin", compile_nvrtc(source.text, arch).cubin, filled("cuda.h", known)
