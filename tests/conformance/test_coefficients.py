"""The constants of the formulas are what their script derives."""

from __future__ import annotations

import pytest

from tools.elementary import coefficients

FAST = ("log2e", "exp", "exp2", "log2", "sin", "two_over_pi", "tanh", "asin", "stirling")


@pytest.mark.parametrize("name", FAST)
def test_the_file_holds_what_the_script_derives(name: str) -> None:
    held = coefficients.FILE.read_text(encoding="utf-8").splitlines()
    for row in coefficients.rows():
        if row.name == name:
            for line in coefficients.lines_of(row):
                assert line in held


def test_every_row_is_held_once() -> None:
    held = coefficients.FILE.read_text(encoding="utf-8").splitlines()
    names = [line.split()[0] for line in held if not line.startswith("#")]
    wanted = [f"{row.name}.{form}" for row in coefficients.rows() for form in row.forms]
    assert sorted(names) == sorted(wanted)


def test_the_bits_of_two_over_pi() -> None:
    assert coefficients.WORDS.read_text(encoding="utf-8") == coefficients.words()
