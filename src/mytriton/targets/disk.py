"""Where files are kept between runs. Read by cudasim for its objects, by the autotuner for its
choices."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """`MYTRITON_CACHE_DIR`, or `mytriton` under XDG's cache folder."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("MYTRITON_CACHE_DIR") or home / "mytriton")
