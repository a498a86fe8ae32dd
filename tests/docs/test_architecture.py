"""docs/architecture.md names files that there are, and leaves out none of the CPU target's."""

from __future__ import annotations

import re

from tools.ci.source import ROOT

SOURCE = ROOT / "src/mytriton"
NAMED = set(re.findall(r"`([\w/]+\.py)`", (ROOT / "docs/architecture.md").read_text()))


def test_every_file_named_exists() -> None:
    files = [f"/{file.relative_to(SOURCE)}" for file in SOURCE.rglob("*.py")]
    assert [name for name in NAMED if not any(f.endswith(f"/{name}") for f in files)] == []


def test_the_cpu_target_has_a_word_on_each_of_its_files() -> None:
    files = {file.name for file in (SOURCE / "targets/cpu").glob("[!_]*.py")}
    assert files - NAMED == set()
