"""Object code on disk: what was compiled once is loaded, by this process or another.

A file's name is a digest of all that its content depends on: the text that was compiled, the
machine it was compiled for, LLVM's version and this package's own source. The content is checked
before it is used: a file that is damaged, or that another user owns or may write, is as good as
none. Nothing is unpickled, and no path or line of the kernel is part of either.

    cpu/<two digits>/<digest>    magic, digest of what follows, length of the header, header, object
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ....errors import CompileValueError
from ...disk import cache_folder
from ..host import Host
from .machine_code import object_code

MAGIC = b"mytriton object 1\n"
DIGEST_BYTES = 32
VARIABLE = "MYTRITON_CACHE_SIZE_MB"
SIZE_LIMIT_MB = 256
"""How much is kept where the variable does not say; the oldest files go first."""
KEPT_AFTER_EVICTION = 0.75
WRITES_BETWEEN_EVICTIONS = 64
SOURCES = ("ir", "passes", "elementary", "targets/cpu", "targets/*.py")
"""The parts of this package that decide what code a function becomes."""

Header = dict[str, Any]
"""What is known of an object besides its code; JSON."""


def size_limit() -> int:
    """Bytes that may be kept; 0: nothing is read or written. Raises CompileValueError."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return SIZE_LIMIT_MB << 20
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise CompileValueError(f"{VARIABLE} must be a whole number of megabytes, got {given!r}")
    return int(given) << 20


def digest(parts: Iterable[bytes]) -> bytes:
    """A digest of a list of byte strings, of their lengths too."""
    total = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.digest()


@cache
def source_digest() -> bytes:
    """A digest of the source that decides what code a function becomes."""
    package = Path(__file__).parents[3]
    archive = next((folder for folder in package.parents if folder.is_file()), None)
    if archive is not None:  # the package is in a zip file
        return digest([archive.read_bytes()])
    files = [
        file
        for part in SOURCES
        for found in package.glob(part)
        for file in ([found] if found.is_file() else found.rglob("*"))
        if file.suffix in (".py", ".txt")
    ]
    names = {file.relative_to(package).as_posix(): file for file in files}
    return digest(part for name in sorted(names) for part in (name.encode(), _bytes(names[name])))


def _bytes(file: Path) -> bytes:
    return file.read_bytes()


def key(kind: str, text: str, here: Host) -> str:
    """The name under which what a text becomes on a machine is kept."""
    versions = f"{llvmlite.__version__} {llvm.llvm_version_info} {llvm.get_process_triple()}"
    parts = (kind, repr(here), versions, text)
    return digest([source_digest(), *(part.encode() for part in parts)]).hex()


def path_of(name: str) -> Path:
    return cache_folder() / "cpu" / name[:2] / name


def read(name: str) -> tuple[Header, bytes] | None:
    """What is kept under a name; None where there is nothing, or nothing that can be trusted."""
    try:
        content = _own_file(path_of(name))
    except OSError:
        return None
    start = len(MAGIC) + DIGEST_BYTES
    if not content.startswith(MAGIC) or content[len(MAGIC) : start] != digest([content[start:]]):
        return None
    length = int.from_bytes(content[start : start + 4], "little")
    header: Header = json.loads(content[start + 4 : start + 4 + length])
    return header, content[start + 4 + length :]


def _own_file(path: Path) -> bytes:
    """The content of a plain file that this user owns and nobody else may write. Raises OSError."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        if hasattr(os, "getuid"):
            status = os.fstat(file.fileno())
            others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or others_write:
                raise PermissionError(f"{path} is not this user's own file")
        return file.read()


def write(name: str, header: Header, code: bytes) -> None:
    """Keeps an object, whole or not at all; a folder that cannot be written is no error."""
    text = json.dumps(header).encode()
    body = len(text).to_bytes(4, "little") + text + code
    path = path_of(name)
    try:
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        with open(handle, "wb") as file:
            file.write(MAGIC + digest([body]) + body)
        os.replace(temporary, path)
        Writes.count += 1
        if Writes.count % WRITES_BETWEEN_EVICTIONS == 1:
            evict(size_limit())
    except OSError:
        return


class Writes:
    """How many objects this process has written."""

    count = 0


def evict(limit: int) -> None:
    """Deletes the files that were used longest ago, where all together are larger than the
    limit."""
    files = []
    for path in (cache_folder() / "cpu").glob("*/*"):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        files.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in files)
    if total <= limit:
        return
    for _, size, path in sorted(files):
        path.unlink(missing_ok=True)
        total -= size
        if total <= limit * KEPT_AFTER_EVICTION:
            return


def kept(
    kind: str, text: str, here: Host, make: Callable[[], tuple[Header, bytes]]
) -> tuple[Header, bytes]:
    """What a text becomes: from disk, or made and put there."""
    if not size_limit():
        return make()
    name = key(kind, text, here)
    found = read(name)
    if found is not None:
        _touch(path_of(name))
        return found
    made = make()
    write(name, *made)
    return made


def _touch(path: Path) -> None:
    """Notes the use of a file, for eviction."""
    try:
        os.utime(path)
    except OSError:
        return


def cached_object(text: str, here: Host) -> bytes:
    """The object of an LLVM module."""
    return kept("llvm", text, here, lambda: ({}, object_code(text, here)))[1]
