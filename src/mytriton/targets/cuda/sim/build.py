"""Compiles C++ texts into shared objects, kept on disk by what they were made of (`store.py`).

An object's key is the digest of its text, compiler and flags. The loader reads files, so the bytes
of an object lie in one of this process while they are loaded.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from ....errors import CompileError
from ... import store

COMPILERS = ("c++", "g++", "clang++")
FLAGS = (
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-ffp-contract=off",
    "-U_FORTIFY_SOURCE",
    "-w",
)
CHECKED = ("-O1", "-fsanitize=thread")
"""How a kernel is compiled: a call before each access to memory, see device.h."""
PLAIN = ("-O2",)
"""How the simulator is compiled, and the rows of the op table."""


@cache
def compiler() -> tuple[str, str]:
    """The host's C++ compiler and its version. Raises CompileError, with what to do, where there is
    none."""
    named = os.environ.get("CXX", "").split()
    path = next(filter(None, map(shutil.which, (*named[:1], *COMPILERS))), None)
    if path is None:
        raise CompileError(
            "target cudasim needs a C++ compiler on the PATH (c++, g++ or clang++) or in CXX: "
            "install one, or use target cpu or interpret, which need none",
            where=(),
        )
    version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    return path, version.splitlines()[0] if version else ""


@cache
def build(text: str, flags: tuple[str, ...] = PLAIN) -> ctypes.CDLL:
    """The loaded shared object of a C++ text: found on disk, or made."""
    path, version = compiler()
    key = store.key(text, path, version, *FLAGS, *flags)
    content = store.fetch("cudasim", key, lambda: _compile(path, text, flags))
    with tempfile.TemporaryDirectory(prefix="mytriton-cudasim-") as folder:
        file = Path(folder) / "kernel.so"
        file.write_bytes(content)
        return ctypes.CDLL(str(file))


def _compile(path: str, text: str, flags: tuple[str, ...]) -> bytes:
    """Compiles and links, in two steps: a sanitizer's flag would link its library."""
    with tempfile.TemporaryDirectory(prefix="mytriton-cudasim-") as folder:
        source, unlinked, made = (Path(folder) / f"kernel.{end}" for end in ("cpp", "o", "so"))
        source.write_text(text)
        for command in (
            [path, *FLAGS, *flags, "-c", "-o", str(unlinked), str(source)],
            [path, "-shared", "-o", str(made), str(unlinked)],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            numbered = "\n".join(f"{n:4} {line}" for n, line in enumerate(text.splitlines(), 1))
            assert done.returncode == 0, f"{path} refused the text:\n{done.stderr}\n{numbered}"
        return made.read_bytes()
