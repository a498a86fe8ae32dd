"""A layout as text for a terminal: which thread and register holds each element.

print(picture(blocked((4, 8), warps=1, vector=2)))
T0:0   T0:1   T1:0   T1:1 …
"""

from __future__ import annotations

from math import prod

from .linear import Layout


def picture(layout: Layout, columns: int = 16) -> str:
    """Rows of the block, its last axis across: `T5:2` is register 2 of thread 5, `+` says that
    other threads hold copies. Rows longer than `columns` end in `…`."""
    holders = holders_of(layout)
    width = layout.shape[-1] if layout.shape else 1
    cells = [_cell(holders[index]) for index in range(prod(layout.shape))]
    size = max(map(len, cells))
    lines = [str(layout)]
    for start in range(0, len(cells), width):
        row = cells[start : start + min(width, columns)]
        more = " …" if width > columns else ""
        lines.append(" ".join(cell.ljust(size) for cell in row).rstrip() + more)
    return "\n".join(lines)


def holders_of(layout: Layout) -> dict[int, list[tuple[int, int]]]:
    """By index: the (thread, register) pairs that hold the element, lowest thread first."""
    holders: dict[int, list[tuple[int, int]]] = {}
    for thread in range(layout.threads):
        for register in range(layout.registers):
            holders.setdefault(layout.index(register, thread), []).append((thread, register))
    return holders


def _cell(holders: list[tuple[int, int]]) -> str:
    thread, register = holders[0]
    return f"T{thread}:{register}{'+' if len(holders) > 1 else ''}"
