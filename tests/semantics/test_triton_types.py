"""Every expression and statement has the type that Triton gives it.

The tables in triton_types/ are what the frontend of Triton 3.9 says: of 9,105 expressions in two
dtypes, and of 131 groups of statements. A row that Triton refuses may have a meaning here.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from .traced_types import table, type_of_statements, types_of

REFUSED = "refused"


def by_dtype() -> dict[str, dict[str, list[tuple[str, str]]]]:
    """The accepted rows (expression, type) by the dtype of x, then of y."""
    rows: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for x, y, expression, result in table("expressions.tsv"):
        if result != REFUSED:
            rows[x][y].append((expression, result))
    return rows


ROWS = by_dtype()


def test_the_tables_are_whole() -> None:
    rows = table("expressions.tsv")
    assert len(rows) == 9105 and len(table("statements.tsv")) == 131
    assert sum(row[3] != REFUSED for row in rows) == 6318


@pytest.mark.parametrize("x", ROWS)
def test_expressions(x: str, tmp_path: Path) -> None:
    wrong = []
    for y, rows in ROWS[x].items():
        expressions, expected = zip(*rows, strict=True)
        found = types_of(tmp_path / f"{x}_{y}.py", x, y, expressions)
        assert len(found) == len(rows)
        wrong += [(y, *row) for row in zip(expressions, expected, found) if row[1] != row[2]]
    assert wrong == []


@pytest.mark.parametrize(
    ("statements", "expected"), [row for row in table("statements.tsv") if row[1] != REFUSED]
)
def test_statements(statements: str, expected: str, tmp_path: Path) -> None:
    assert type_of_statements(tmp_path / "statements.py", statements) == expected
