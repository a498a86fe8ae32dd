"""What the package tells of its own work, on stderr, where `MYTRITON_LOG` asks for it.

    MYTRITON_LOG=recompiles,cache python program.py

Nothing is written where the variable is not set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache

VARIABLE = "MYTRITON_LOG"
TOPICS: Mapping[str, str] = {
    "recompiles": "why a kernel is compiled again",
    "cache": "what is read from the cache on disk and written to it, and what cannot be",
}
"""The topics by name, and what each tells."""


def wants(topic: str) -> bool:
    """Whether the topic is asked for."""
    text = os.environ.get(VARIABLE, "")
    return bool(text) and topic in _topics(text)


def tell(topic: str, text: str) -> None:
    """Writes a line of a topic, if it is asked for."""
    if wants(topic):
        print(f"mytriton {topic}: {text}", file=sys.stderr, flush=True)


@cache
def _topics(text: str) -> frozenset[str]:
    """The topics in a value of the variable; those that do not exist are named once."""
    given = frozenset(filter(None, (part.strip() for part in text.split(","))))
    unknown = sorted(given - TOPICS.keys())
    if unknown:
        known = ", ".join(TOPICS)
        print(f"{VARIABLE}: no topic {', '.join(unknown)}; there are {known}", file=sys.stderr)
    return given & TOPICS.keys()
