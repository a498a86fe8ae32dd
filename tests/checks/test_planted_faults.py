"""Faults of every kind, planted by a script, are found at their line; the programs as they are have
none. `study.py` says what counts as a fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mytriton.tools import stand_in

from .planted import Fault, module_of
from .study import GALLERY, Program, outcome, programs, run

SAMPLE, ALL = 8, 400


@pytest.fixture(autouse=True)
def standing_in() -> Iterator[None]:
    with stand_in.active():
        yield


def check_faults(count: int, chosen: list[Program], folder: Path, least: float) -> None:
    tried = list(run(count, chosen, folder))
    missed = [fault.name for fault, found in tried if not found]
    assert len(tried) == count
    assert len(missed) <= (1 - least) * count, missed


def test_a_sample_of_planted_faults_is_found(tmp_path: Path) -> None:
    """One of most kinds, in the gallery."""
    chosen = [program for program in programs() if program.path.parent == GALLERY]
    check_faults(SAMPLE, chosen, tmp_path, 1.0)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_98_of_100_planted_faults_are_found(tmp_path: Path) -> None:
    check_faults(ALL, list(programs()), tmp_path, 0.98)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("program", list(programs()), ids=lambda program: program.path.stem)
def test_nothing_is_found_in_the_program_as_it_is(program: Program, tmp_path: Path) -> None:
    whole = Fault("", program.path, (0, 0), program.path.read_text())
    with module_of(whole, tmp_path) as module:
        result = outcome(module, program, "cpu", checked=True)
    assert result.error is None
    assert not result.findings, "\n".join(map(str, result.findings))
