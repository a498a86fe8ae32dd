"""What a cubin says of its kernel: registers, shared memory, spills, and its instructions as text.

A cubin is an ELF file. The section `.nv.info` has an attribute with the number of registers a
thread; `.nv.shared.NAME` is as long as the shared memory that the kernel declares and the system
adds. The disassembler is NVIDIA's `nvdisasm`, from the CUDA toolkit or from the wheel
`nvidia-cuda-nvdisasm`.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ....errors import CompileValueError


@dataclass(frozen=True)
class Resources:
    """registers: of a thread. shared: bytes that the kernel declares. local: bytes a thread that
    registers spill to, or that arrays take."""

    registers: int
    shared: int
    local: int = 0


def resources(cubin: bytes) -> Resources:
    """What a kernel takes of a multiprocessor; zeros where the file does not say."""
    sections = _sections(cubin)
    info = sections.get(".nv.info", b"")
    at = info.find(REGISTER_COUNT)
    registers = struct.unpack_from("<I", info, at + 8)[0] if at >= 0 else 0
    frame = info.find(FRAME_SIZE)
    local = struct.unpack_from("<I", info, frame + 8)[0] if frame >= 0 else 0
    shared = sum(len(s) for name, s in sections.items() if name.startswith(".nv.shared."))
    return Resources(registers, shared, local)


REGISTER_COUNT = b"\x04\x2f\x08\x00"
"""An attribute with a value of 8 bytes: the function's symbol, and its registers."""
FRAME_SIZE = b"\x04\x11\x08\x00"
"""The same with the bytes of its stack frame."""
NOBITS = 8
"""The type of a section that takes space when it is loaded, and none in the file."""


def _sections(file: bytes) -> dict[str, bytes]:
    """The content of each section of a 64-bit ELF file, by name."""
    (offset,) = struct.unpack_from("<Q", file, 0x28)
    size, count, names = struct.unpack_from("<HHH", file, 0x3A)
    headers = [struct.unpack_from("<IIQQQQII", file, offset + i * size) for i in range(count)]
    start = headers[names][4]
    found = {}
    for name, kind, _, _, begin, length, *_ in headers:
        at = start + name
        content = bytes(length) if kind == NOBITS else file[begin : begin + length]
        found[file[at : file.index(b"\0", at)].decode()] = content
    return found


@cache
def nvdisasm() -> str:
    """The disassembler. Raises CompileValueError, with what to install, where there is none."""
    found = shutil.which("nvdisasm")
    folders = (Path(entry) / "nvidia" for entry in sys.path if entry)
    wheels = (file for folder in folders for file in folder.glob("*/bin/nvdisasm"))
    path = found or next(map(str, wheels), None)
    if path is None:
        raise CompileValueError(
            "sass needs nvdisasm: pip install nvidia-cuda-nvdisasm, or the CUDA toolkit",
            where=(),
        )
    return path


def sass(cubin: bytes, lines: bool = False) -> str:
    """The machine code as text. lines: with comments that name the lines that it came from."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [nvdisasm(), *(["-gi"] if lines else []), "--print-code", file.name]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)")


def instructions(text: str) -> Counter[str]:
    """How often each instruction stands in disassembled code; memory accesses of 64 and 128 bits a
    thread apart (`LDG.128`), padding left out."""
    counts: Counter[str] = Counter()
    for name in INSTRUCTION.findall(text):
        first, *modifiers = name.split(".")
        width = next((f".{m}" for m in modifiers if m in ("64", "128")), "")
        if first != "NOP":
            counts[first + (width if first[:2] in ("LD", "ST") else "")] += 1
    return counts
