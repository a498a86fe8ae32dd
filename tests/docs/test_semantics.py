"""docs/semantics.md: each rule names the tests that hold every target to it, and they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_tests_it_names_exist():
    missing = [f"{file}::{name}" for file, name in NAMED if name not in functions_of(ROOT / file)]
    assert not missing


def test_each_rule_names_a_test():
    rules = re.findall(r"^- (.*?)(?=^- |^#|\Z)", PAGE, re.S | re.M)
    assert len(rules) > 50
    assert not [rule for rule in rules if not re.search(r"\[`tests/[^\]]+`\]\s*$", rule)]


def test_every_test_of_a_rule_is_named():
    """The tests in tests/semantics are there for this page."""
    named = {(file, name) for file, name in NAMED}
    for file in sorted((ROOT / "tests" / "semantics").glob("test_*.py")):
        for name in functions_of(file):
            if name.startswith("test_"):
                assert (f"tests/semantics/{file.name}", name) in named, name
