"""The documentation builds to a site without a warning, its links lead somewhere, and its
reference is what the docstrings say now."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mytriton.environment import VARIABLES
from tools.ci.source import ROOT
from tools.docs import pictures

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"(?<!`)\[[^]\[]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2`*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    titles = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = CODE.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))
    broken = []
    for link in LINK.findall(text):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs"]
    done = subprocess.run(
        [*command, str(tmp_path / "site"), "-d", str(tmp_path / "doctrees")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    index = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert "mytriton" in index and "It crashed" in index
    for page in (ROOT / "docs").glob("**/*.md"):
        built = tmp_path / "site" / page.relative_to(ROOT / "docs").with_suffix(".html")
        assert built.exists(), f"{page.name} is not in the site"


def test_the_reference_is_fresh() -> None:
    command = [sys.executable, "-m", "tools.docs.reference", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}: python -m tools.docs.reference"


def test_the_pictures_are_fresh() -> None:
    assert pictures.stale() == [], "python -m tools.docs.pictures"


def test_the_chart_has_every_measurement() -> None:
    table = pictures.RESULTS.read_text(encoding="utf-8")
    drawn = str(pictures.benchmarks())
    measured = [row for row in pictures.rows(table) if row.ratio is not None]
    assert len(measured) == table.count("x (best peer)") + len(re.findall(r"\dx \|", table))
    assert drawn.count(" ×</text>") == len(measured) + 1  # and one of the axis
    assert all(row.benchmark in drawn for row in measured)


def test_every_environment_variable_is_in_the_table() -> None:
    files = [file for file in (ROOT / "src/mytriton").rglob("*.py") if "/site/" not in str(file)]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    outside = "\n".join(f.read_text("utf-8") for f in files if f.name != "environment.py")
    named = set(re.findall(r"\bMYTRITON_[A-Z_]+\b", text))
    read = set(re.findall(r"environ(?:\.get)?[([]\"(\w+)\"", outside)) - {"PYTHONPATH"}
    table = {variable.name for variable in VARIABLES}
    assert named | {name for name in read if "TRITON" in name} <= table
    assert [name for name in sorted(table) if name not in outside] == []
