"""Which `&`, `|` and `^` stand as operands of a comparison without parentheses of their own.

They bind tighter than comparisons, so `i < 5 & i > 2` is the chain `i < (5 & i) > 2`. The tree does
not tell whether parentheses were written; the text does. `expressions.py` turns a marked operand
into a call that refuses what was hardly meant.
"""

from __future__ import annotations

import ast

SYMBOLS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


def mark_bare(tree: ast.AST, text: str) -> None:
    """Sets `bare` on such operands: "middle" between two comparisons, else "end"."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        operands = [node.left, *node.comparators]
        for place, operand in enumerate(operands):
            if not isinstance(operand, ast.BinOp) or type(operand.op) not in SYMBOLS:
                continue
            if not _in_parentheses(operand, lines):
                middle = 0 < place < len(operands) - 1
                operand.bare = "middle" if middle else "end"  # type: ignore[attr-defined]


def _in_parentheses(node: ast.expr, lines: list[bytes]) -> bool:
    """Whether `(` stands before the expression and `)` after it."""
    assert node.end_lineno is not None
    before = b"".join([*lines[: node.lineno - 1], lines[node.lineno - 1][: node.col_offset]])
    after = b"".join([lines[node.end_lineno - 1][node.end_col_offset :], *lines[node.end_lineno :]])
    return before.rstrip().endswith(b"(") and after.lstrip().startswith(b")")
