"""Compiles C++ texts into shared objects, kept on disk by what they were made of.

An object's name is the hash of its text, compiler and flags, so a stale one cannot be found; it is
written under another name and renamed, so a half-written one cannot be found either. One that
cannot be loaded (cut short, of another machine) is made again; where the cache cannot be written,
objects lie in a folder of this process.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from ....errors import CompileError
from ...store import cache_folder

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


def build(text: str, flags: tuple[str, ...] = PLAIN) -> ctypes.CDLL:
    """The loaded shared object of a C++ text. One on disk that cannot be loaded is made again."""
    try:
        return _load(object_file(text, flags))
    except OSError:
        object_file(text, flags).unlink(missing_ok=True)
        object_file.cache_clear()
        return _load(object_file(text, flags))


@cache
def _load(file: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(file))


def folder_of_objects() -> Path:
    """Where objects are kept: the cache, or a folder of this process where that cannot be
    written."""
    folder = cache_folder() / "cudasim"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return _folder_of_this_process()


@cache
def _folder_of_this_process() -> Path:
    kept = tempfile.TemporaryDirectory(prefix="mytriton-cudasim-")
    atexit.register(kept.cleanup)
    return Path(kept.name)


@cache
def object_file(text: str, flags: tuple[str, ...] = PLAIN) -> Path:
    """The object compiled from a text: found on disk, or made."""
    path, version = compiler()
    key = hashlib.sha256("\0".join([text, path, version, *FLAGS, *flags]).encode()).hexdigest()
    file = folder_of_objects() / f"{key}.so"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            made = Path(folder) / "kernel.so"
            _compile(path, text, flags, made)
            os.replace(made, file)
    return file


def _compile(path: str, text: str, flags: tuple[str, ...], made: Path) -> None:
    """Compiles and links, in two steps: a sanitizer's flag would link its library."""
    source, unlinked = made.with_suffix(".cpp"), made.with_suffix(".o")
    source.write_text(text)
    for command in (
        [path, *FLAGS, *flags, "-c", "-o", str(unlinked), str(source)],
        [path, "-shared", "-o", str(made), str(unlinked)],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        numbered = "\n".join(f"{n:4} {line}" for n, line in enumerate(text.splitlines(), 1))
        assert done.returncode == 0, f"{path} refused the text:\n{done.stderr}\n{numbered}"
