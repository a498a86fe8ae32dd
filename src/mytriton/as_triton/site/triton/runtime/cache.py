"""`triton.runtime.cache`: folders of files by key, for libraries that keep their own."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from pathlib import Path

import mytriton

from .. import knobs


def triton_key() -> str:
    """A name for this compiler; another version has another."""
    return f"mytriton-{mytriton.__version__}"


def _base64(key: str) -> str:
    """A hexadecimal key as a file name: base 32, without padding."""
    return base64.b32encode(bytes.fromhex(key)).decode("utf-8").rstrip("=")


class FileCacheManager:
    """The files kept under one key, in a folder of the cache directory.

    Files are written beside their place and moved there, so a reader never sees half of one.
    """

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key
        root = knobs.cache.dump_dir if dump else knobs.cache.dir
        self.cache_dir = str(Path(knobs.cache.override_dir if override else root) / key)

    def _path(self, filename: str) -> Path:
        return Path(self.cache_dir) / filename

    def has_file(self, filename: str) -> bool:
        return self._path(filename).is_file()

    def get_file(self, filename: str) -> str | None:
        """The path of a kept file, None if there is none."""
        return str(self._path(filename)) if self.has_file(filename) else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Keeps a file; its path."""
        content = data.encode() if isinstance(data, str) else data
        folder = Path(self.cache_dir)
        folder.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=folder, prefix=filename + ".")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(beside, self._path(filename))
        return str(self._path(filename))

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The paths of the files put as a group, by name; None if there is none."""
        found = self.get_file(f"__grp__{filename}")
        if found is None:
            return None
        names = json.loads(Path(found).read_text())["child_paths"]
        return {name: path for name, path in names.items() if os.path.exists(path)}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Keeps which paths belong together; the path of the list."""
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


CacheManager = FileCacheManager


def get_cache_manager(key: str) -> FileCacheManager:
    return FileCacheManager(_base64(key))


def get_dump_manager(key: str) -> FileCacheManager:
    return FileCacheManager(_base64(key), dump=True)


def get_override_manager(key: str) -> FileCacheManager:
    return FileCacheManager(_base64(key), override=True)


def make_so_cache_key(
    version_hash: str, signature: object, constants: object, ids: object, **kwargs: object
) -> str:
    """A key for what is built of these: a SHA-256 in hexadecimal."""
    parts = (version_hash, signature, constants, ids, *sorted(kwargs.items()))
    return hashlib.sha256("-".join(map(str, parts)).encode()).hexdigest()


__all__ = [
    "CacheManager",
    "FileCacheManager",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "make_so_cache_key",
    "triton_key",
]
