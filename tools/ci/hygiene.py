"""The hygiene gate: what is committed makes sense on any machine and in any clone.

No absolute path of the machine it was written on, and no large binary: git keeps those for ever.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.ci.source import Finding

MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home)/")
BINARY_BYTES = 200 * 1024


def tracked_files(root: Path) -> list[Path]:
    """Return the files that git tracks below root and that still exist."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    return [Path(name) for name in listing.split("\0") if name and (root / name).is_file()]


def file_findings(path: Path, content: bytes) -> Iterator[Finding]:
    if b"\0" in content[:8192]:
        if len(content) > BINARY_BYTES:
            yield Finding(path, 1, f"binary of {len(content)} bytes, {BINARY_BYTES} are allowed")
        return
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        if found := MACHINE_PATH.search(line):
            yield Finding(path, number, f"absolute path of one machine: {line[found.start() :]!r}")


def check(root: Path) -> list[Finding]:
    """Return every committed path of a machine and every large binary."""
    return [
        finding
        for path in tracked_files(root)
        for finding in file_findings(path, (root / path).read_bytes())
    ]
