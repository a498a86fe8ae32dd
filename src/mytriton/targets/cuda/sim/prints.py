"""What a simulated kernel printed, put together again: CUDA prints an element a line.

    pid (0, 0, 0) idx (0) row: 5
    pid (0, 0, 0) idx (1) row: 6      becomes      pid (0, 0, 0) row: [5 6]

The lines of a print that runs several times are told apart by their elements: the n-th line of an
element belongs to the n-th time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_LINE = re.compile(
    r"(?P<head>pid \(\d+, \d+, \d+\) )(?:idx \((?P<place>[\d, ]+)\) )?"
    r"(?P<prefix>.*?)(?P<mark>[\1-\3])(?P<value>[^\1-\3]*)",
    re.DOTALL,
)
"""A line with a value: who printed it, the element's place in its block, the value and its mark."""
_KINDS: dict[str, Any] = {"\1": np.float32, "\2": np.float64, "\3": int}
"""The kind of a value by the mark that `print` of `prints.h` puts before it."""


@dataclass
class _Block:
    """The elements of one print of one program, by their places."""

    head: str
    kind: Any
    elements: dict[tuple[int, ...], str] = field(default_factory=dict)

    def __str__(self) -> str:
        array = np.empty(tuple(np.max(list(self.elements), axis=0) + 1), object)
        for place, text in self.elements.items():
            array[place] = _number(text, self.kind)
        if any(isinstance(value, str) for value in array.flat):
            return self.head + np.array2string(array, formatter={"all": str})
        return self.head + np.array2string(array.astype(self.kind))


def _number(text: str, kind: Any) -> Any:
    """The value as a number; as it stands where it is an address or hexadecimal."""
    try:
        return kind(text)
    except ValueError:
        return text


def readable(text: str) -> Iterator[str]:
    """The lines of a printed text with each block on one line, at the place of its first element.

    Lines without a value are as they were.
    """
    shown: list[str | _Block] = []
    turns: dict[tuple[str, tuple[int, ...]], int] = {}
    blocks: dict[tuple[str, int], _Block] = {}
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            shown.append(line)
            continue
        head, kind = found["head"] + found["prefix"], _KINDS[found["mark"]]
        if found["place"] is None:
            shown.append(f"{head}{_number(found['value'], kind)}")
            continue
        place = tuple(map(int, found["place"].split(",")))
        turn = turns[head, place] = turns.get((head, place), -1) + 1
        if (head, turn) not in blocks:
            blocks[head, turn] = _Block(head, kind)
            shown.append(blocks[head, turn])
        blocks[head, turn].elements[place] = found["value"]
    yield from map(str, shown)
