"""Object code on disk: what was compiled once is loaded, by this process or another.

An object's key is a digest of all that it depends on: the text that was compiled, the machine it
was compiled for, LLVM's version and this package's own source. Nothing is unpickled, and no path or
line of the kernel is part of either.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ... import store
from ..host import Host
from .machine_code import object_code

SOURCES = ("ir/**/*", "passes/**/*", "elementary/**/*", "targets/cpu/**/*", "targets/*")
"""The parts of this package that decide what code a function becomes."""

Header = dict[str, Any]
"""What is known of an object besides its code; JSON."""


def key(kind: str, text: str, here: Host) -> str:
    """The key of what a text becomes on a machine."""
    versions = f"{llvmlite.__version__} {llvm.llvm_version_info} {llvm.get_process_triple()}"
    return store.key(store.source_digest(*SOURCES), kind, repr(here), versions, text)


def kept(
    kind: str, text: str, here: Host, make: Callable[[], tuple[Header, bytes]]
) -> tuple[Header, bytes]:
    """What a text becomes: from disk, or made and put there."""
    if not store.is_kept("cpu"):
        return make()
    return unpacked(store.fetch("cpu", key(kind, text, here), lambda: packed(*make())))


def packed(header: Header, code: bytes) -> bytes:
    """One string of bytes: the header's length, the header, the code."""
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + code


def unpacked(content: bytes) -> tuple[Header, bytes]:
    end = 4 + int.from_bytes(content[:4], "little")
    header: Header = json.loads(content[4:end])
    return header, content[end:]


def cached_object(text: str, here: Host) -> bytes:
    """The object of an LLVM module."""
    return kept("llvm", text, here, lambda: ({}, object_code(text, here)))[1]
