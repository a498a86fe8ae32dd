"""An autotuner's choices on disk, for `cache_results=True`.

A file's name is the hash of everything the choice depends on: the sources of the kernel and of the
functions it calls, the tuning key (target included), the configurations, this machine and the
versions. So a choice made for something else is not found; a file that cannot be read is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path

from ..targets.disk import cache_folder

FORMAT = "1"
"""Raised when what a file holds, or what goes into its name, changes."""


def choice_file(kernel: str, facts: Iterable[str]) -> Path:
    """The file for the choice that follows from these facts."""
    machine = (FORMAT, platform.machine(), platform.processor(), str(os.cpu_count()))
    digest = hashlib.sha256("\0".join([*machine, *facts]).encode()).hexdigest()[:32]
    return cache_folder() / f"{kernel}.{digest}.autotune.json"


def read_choice(file: Path) -> int | None:
    """The index of the configuration chosen before; None where there is none."""
    try:
        return int(json.loads(file.read_text())["best"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_choice(file: Path, best: int) -> None:
    """Keeps a choice. The file appears whole or not at all; a folder that cannot be written is no
    error."""
    scratch = file.with_suffix(f".{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps({"best": best}))
        scratch.replace(file)
    except OSError:
        scratch.unlink(missing_ok=True)
