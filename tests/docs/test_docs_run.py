"""Every code block of README.md and docs/ does what the page says; see tools/ci/documents.py.

The commands run from the repository's root, with this environment's programs first on PATH and
without settings that would change what they print.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.ci import documents
from tools.ci.documents import Block, Command
from tools.ci.source import ROOT

PAGES = sorted([*ROOT.glob("README.md"), *ROOT.glob("docs/**/*.md")])
BLOCKS = [
    block
    for page in PAGES
    for block in documents.blocks(page.relative_to(ROOT), page.read_text(encoding="utf-8"))
]
# Of these a page's command is only looked up in the Makefile: they would run this test again, take
# long, or remove what the tests stand on.
LOOKED_UP = {"test", "fuzz", "bench", "lint", "types", "gates", "format", "clean", "integration"}
SECONDS = 300


def environment() -> dict[str, str]:
    """Return the environment a reader's commands run in: plain output of a fixed width."""
    dropped = ("MYTRITON_", "MAKE", "MFLAGS", "PYTEST", "FORCE_COLOR", "UPDATE")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return kept | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=SECONDS,
    )


def require(place: str, expected: str, actual: str) -> None:
    if not documents.matches(expected, actual):
        pytest.fail(f"{place}: expected\n{expected}\n--- but it printed\n{actual}", pytrace=False)


def of(language: str, path: Path | None = None) -> list[Block]:
    return [
        block
        for block in BLOCKS
        if block.language == language and not block.not_run and path in (None, block.path)
    ]


def place(block: Block) -> str:
    return f"{block.path}:{block.line}"


@pytest.mark.parametrize("path", sorted({block.path for block in of("python")}), ids=str)
def test_python_blocks(path: Path, tmp_path: Path) -> None:
    page = of("python", path)
    script = tmp_path / path.name  # the page's name is what tracebacks show
    script.write_text(documents.program(page), encoding="utf-8")
    done = run([sys.executable, str(script)])
    assert done.returncode == 0, f"{path} (the lines are the page's):\n{done.stdout}"
    printed = documents.outputs(page, done.stdout)
    for block in of("output", path):
        before = [line for line in printed if line < block.line]
        assert before, f"{place(block)}: no python block comes before this output"
        require(place(block), block.text, printed[before[-1]])


@pytest.mark.parametrize("block", of("console"), ids=place)
def test_console_block(block: Block) -> None:
    for command in documents.commands(block):
        if not is_looked_up(command):
            done = run(["bash", "-c", command.text])
            where = f"{block.path}:{command.line}"
            assert done.returncode == command.status, f"{where}:\n{done.stdout}"
            require(where, command.expected, done.stdout)


def is_looked_up(command: Command) -> bool:
    """Say whether a command is a make target that is not run here; such a target must exist."""
    program, *targets = re.sub(r"#.*", "", command.text).split()
    if program != "make" or not LOOKED_UP.intersection(targets):
        return False
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in (word for word in targets if re.fullmatch(r"[a-z]+", word)):
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), f"no target {name} in the Makefile"
    return True


def test_no_block_escapes() -> None:
    """A block that looks runnable has a language that is run, or says why it is not run."""
    escaped = [
        place(block)
        for block in BLOCKS
        if block.language in documents.REFUSED and not block.not_run
    ]
    assert not escaped, f"use python, console, text or <!-- not run: reason -->: {escaped}"
