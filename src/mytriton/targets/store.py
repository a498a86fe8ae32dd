"""The cache on disk: what was compiled or chosen once, for this and later processes.

One store serves every target and the autotuner. An entry is bytes under a key, and a key is a
digest of all that the bytes depend on, so an outdated entry is never found.

    key = store.key("kernel", text, machine, version)
    code = store.fetch("cpu", key, make)         # kept bytes, or those that make() returns

    <cache folder>/<kind>/<two digits>/<key>     magic, digest of key and content, content
    <cache folder>/locks/<kind>-<two digits>     whoever makes an entry holds the lock of its digits

An entry is written under another name and renamed, so it appears whole or not at all (POSIX,
`rename`). It is used only if its digest is right, its file is a plain one that this user owns, and
nobody else may write it. Whatever goes wrong with the disk is no error: the entry is made anew.
`MYTRITON_LOG=cache` tells of it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import CompileValueError
from ..log import tell
from .file_lock import file_lock, make_private

KINDS: Mapping[str, str] = {
    "cpu": "machine code of the target cpu",
    "cudasim": "shared objects of the target cudasim",
    "nvrtc": "PTX and machine code from NVRTC",
    "tuning": "choices of autotuners",
}
"""The kinds of entries, and what each is. A kind is a folder."""

MAGIC = b"mytriton cache 2\n"
DIGEST_BYTES = 32
FOLDER, SIZE, KEPT_KINDS = "MYTRITON_CACHE_DIR", "MYTRITON_CACHE_SIZE_MB", "MYTRITON_CACHE_KINDS"
SIZE_LIMIT_MB = 256
"""How much is kept where the variable does not say."""
KEPT_AFTER_EVICTION = 0.75
LOOK_AFTER_BYTES_PART = 16
"""The size is looked at again when this process has written one part in so many of the limit."""
LOOK_AFTER_WRITES = 64
LOCK_SECONDS = 60.0
"""How long a process waits for another that makes the same entry, before it makes its own."""


def cache_folder() -> Path:
    """`MYTRITON_CACHE_DIR`, or `mytriton` in the folder that the system has for caches."""
    given = os.environ.get(FOLDER)
    if given:
        return Path(given)
    import platformdirs

    return platformdirs.user_cache_path("mytriton", appauthor=False)


def size_limit() -> int:
    """Bytes that may be kept; 0: nothing is read or written. Raises CompileValueError."""
    given = os.environ.get(SIZE, "").strip()
    if not given:
        return SIZE_LIMIT_MB << 20
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise CompileValueError(f"{SIZE} must be a whole number of megabytes, got {given!r}")
    return int(given) << 20


def is_kept(kind: str) -> bool:
    """Whether entries of a kind are kept: those that `MYTRITON_CACHE_KINDS` lists, with commas, or
    all where it is not set. Raises CompileValueError."""
    given = os.environ.get(KEPT_KINDS, "").strip()
    if not given:
        return size_limit() > 0
    kinds = set(filter(None, (part.strip() for part in given.split(","))))
    if not kinds <= KINDS.keys():
        raise CompileValueError(
            f"{KEPT_KINDS} must list some of {', '.join(KINDS)}, with commas, got {given!r}"
        )
    return kind in kinds and size_limit() > 0


def key(*parts: str | bytes) -> str:
    """The key that follows from these parts, in hexadecimal. Their lengths count too, so that no
    two lists of parts run together into one."""
    return _digest(parts).hex()


def _digest(parts: Sequence[str | bytes]) -> bytes:
    total = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(len(content).to_bytes(8, "little"))
        total.update(content)
    return total.digest()


@cache
def source_digest(*patterns: str) -> str:
    """A digest of the files of this package's source that match one of these patterns; of the whole
    archive, where the package is in one."""
    package = Path(__file__).parents[1]
    archive = next((folder for folder in package.parents if folder.is_file()), None)
    if archive is not None:
        return key(archive.read_bytes())
    found = {file for pattern in patterns for file in package.glob(pattern)}
    files = sorted(file for file in found if file.suffix in (".py", ".txt"))
    names = [file.relative_to(package).as_posix() for file in files]
    return key(*names, *(file.read_bytes() for file in files))


def path_of(kind: str, key: str) -> Path:
    """The file of an entry."""
    return cache_folder() / kind / key[:2] / key


# -- reading and writing


def fetch(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The entry of a key; where there is none that can be trusted, what `make` returns, which is
    kept. While one process makes an entry, others that want it wait for it."""
    if not is_kept(kind):
        return make()
    found = get(kind, key)
    if found is not None:
        return found
    with file_lock(cache_folder() / "locks" / f"{kind}-{key[:2]}", LOCK_SECONDS) as locked:
        found = get(kind, key) if locked else None
        if found is None:
            found = make()
            put(kind, key, found)
        return found


def get(kind: str, key: str) -> bytes | None:
    """What is kept under a key; None where there is nothing, or nothing that can be trusted."""
    if not is_kept(kind):
        return None
    path = path_of(kind, key)
    try:
        content = _own_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        tell("cache", f"{path} is not used: {error}")
        return None
    start = len(MAGIC) + DIGEST_BYTES
    head = MAGIC + _digest([kind, key, content[start:]])
    if content[:start] != head:
        tell("cache", f"{path} is damaged, and not used")
        return None
    try:
        os.utime(path)  # notes the use, for eviction
    except OSError as error:
        tell("cache", f"the use of {path} cannot be noted: {error}")
    tell("cache", f"{kind} {key[:12]} was found")
    return content[start:]


def _own_file(path: Path) -> bytes:
    """The content of a plain file that this user owns and nobody else may write. Raises OSError."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # nor wait for a pipe's other end
        flags |= getattr(os, name, 0)
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError("it is no plain file")
        if hasattr(os, "getuid"):
            if status.st_uid != os.getuid():
                raise PermissionError("another user owns it")
            if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise PermissionError("others may write it")
        return file.read()


def put(kind: str, key: str, content: bytes) -> None:
    """Keeps an entry, whole or not at all; a disk that does not take it is no error."""
    if not is_kept(kind):
        return
    path = path_of(kind, key)
    data = MAGIC + _digest([kind, key, content]) + content
    temporary: str | None = None
    try:
        make_private(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        tell("cache", f"{path} cannot be written: {error}")
        if temporary is not None:
            _remove(Path(temporary))
        return
    tell("cache", f"{kind} {key[:12]} was made and written")
    _Written.note(len(data))


def _remove(path: Path) -> bool:
    """Whether the file could be removed."""
    try:
        path.unlink()
        return True
    except OSError:
        return False


# -- size


class _Written:
    """What this process has written since it last looked at the size of the cache."""

    files = nbytes = 0
    looked = False

    @classmethod
    def note(cls, nbytes: int) -> None:
        """Counts a file, and evicts when it is time to look."""
        cls.files, cls.nbytes = cls.files + 1, cls.nbytes + nbytes
        limit = size_limit()
        much = cls.nbytes > limit // LOOK_AFTER_BYTES_PART
        if cls.looked and not much and cls.files < LOOK_AFTER_WRITES:
            return
        cls.files, cls.nbytes, cls.looked = 0, 0, True
        evict(limit)


@dataclass(frozen=True, order=True)
class Entry:
    """One file of the cache: when it was last used, in nanoseconds, and its size in bytes."""

    used: int
    nbytes: int
    path: Path


def entries(kind: str) -> Iterator[Entry]:
    """The files of a kind, those included that a killed process has left half-written."""
    for folder, _, names in os.walk(cache_folder() / kind):
        for name in names:
            path = Path(folder, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            yield Entry(status.st_mtime_ns, status.st_size, path)


def evict(limit: int) -> None:
    """Where all files together are larger than the limit, deletes those that were used longest ago
    until three quarters of it are left. One process at a time does."""
    with file_lock(cache_folder() / "locks" / "evict", 0.0) as locked:
        if not locked:
            return
        files = sorted(entry for kind in KINDS for entry in entries(kind))
        total = sum(entry.nbytes for entry in files)
        if total <= limit:
            return
        for entry in files:
            if _remove(entry.path):
                total -= entry.nbytes
            if total <= limit * KEPT_AFTER_EVICTION:
                break
        tell("cache", f"evicted down to {total} bytes")


def clear(kinds: Sequence[str] = tuple(KINDS)) -> int:
    """Deletes every entry of these kinds; how many there were."""
    return sum(_remove(entry.path) for kind in kinds for entry in list(entries(kind)))
