"""An autotuner's choice on disk, for `cache_results=True`.

One idea: a file's name is the hash of all that the choice depends on (the kernel's source, the key,
the configurations), so a stale choice cannot be found; what cannot be read is chosen anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from ..targets.disk import cache_folder


def choice_file(kernel: str, facts: Iterable[str]) -> Path:
    """The file for the choice that follows from these facts."""
    digest = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]
    return cache_folder() / f"{kernel}.{digest}.autotune.json"


def read_choice(file: Path) -> int | None:
    """The index of the configuration chosen before; None where there is none."""
    try:
        return int(json.loads(file.read_text())["best"])
    except (OSError, ValueError, KeyError):
        return None


def write_choice(file: Path, best: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"best": best}))
