"""Which checks a launch makes, and what becomes of what they find.

kernel[grid](…, debug=True)                  this launch: bounds
@triton.jit(debug=True)                      every launch of the kernel
MYTRITON_DEBUG=1 python file.py              every launch of the process
with triton.sanitize("undefined", "nan"): …  this thread or task, inside the block
MYTRITON_SANITIZE=undefined,nan              the whole process
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from ..errors import CompileValueError, did_you_mean
from .findings import KINDS, Finding

Kinds = tuple[str, ...]
Handler = Callable[[Finding], None]


def parsed(names: Iterable[str]) -> Kinds:
    """Kinds in their order; all for none. Raises CompileValueError for a name that is none."""
    given = [part.strip() for name in names for part in name.split(",") if part.strip()]
    given = [name for name in given if name != "all"]
    for name in given:
        if name not in KINDS:
            known = ", ".join(KINDS)
            meant = did_you_mean(name, KINDS)
            raise CompileValueError(f"no faults are of kind {name!r}; there are {known}{meant}")
    if "races" in given:
        given.append("bounds")  # only elements of arrays have a record of who accessed them
    return tuple(kind for kind in KINDS if kind in given or not given)


def show(finding: Finding) -> None:
    """Prints a finding on stderr."""
    print(finding, end="\n\n", file=sys.stderr)


class sanitize:
    """`with triton.sanitize(*kinds):` looks for faults in the launches of the block.

    kinds: "bounds", "undefined", "races", "overflow", "nan", "order"; all where none is given, or
    "all".
    handler: called with each new `Finding`; without one it is printed on stderr. Findings of one
    kind at one place are told once and counted. An access out of bounds ends its launch with
    KernelMemoryError, as without the block; the others let it go on. Raises CompileValueError for
    another kind.

        with triton.sanitize("undefined") as found:
            kernel[grid](…)
        assert not found.findings
    """

    def __init__(self, *kinds: str, handler: Handler | None = None) -> None:
        self.kinds = parsed(kinds)
        self.handler = handler or show
        self.findings: list[Finding] = []
        self.counts: Counter[Any] = Counter()
        self._tokens: list[Any] = []

    def add(self, finding: Finding) -> None:
        """Takes a finding, unless a comment in the source keeps it quiet."""
        if finding.is_suppressed():
            return
        self.counts[finding.key] += 1
        if self.counts[finding.key] == 1:
            self.findings.append(finding)
            self.handler(finding)

    def __enter__(self) -> sanitize:
        self._tokens.append(_session.set(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _session.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"<sanitize {', '.join(self.kinds)}: {len(self.findings)} findings>"


class _Process:
    """What the environment asked for when the process began, and `set_debug` and `set_sanitizer`
    since."""

    debug = os.environ.get("MYTRITON_DEBUG") == "1"
    session: sanitize | None = None


_session: ContextVar[sanitize | None] = ContextVar("session", default=None)


def set_debug(on: bool) -> None:
    """Makes every launch of the process check its accesses, or only those that ask for it."""
    _Process.debug = on


def debugging() -> bool:
    """Whether every launch of the process checks its accesses."""
    return _Process.debug


def set_sanitizer(session: sanitize | None) -> None:
    """Makes every launch of the process look for faults, but those inside a `with`."""
    _Process.session = session


def session() -> sanitize | None:
    """What takes the findings of launches of this thread."""
    return _session.get() or _Process.session


def requested() -> Kinds:
    """The kinds that the code around the launch, or the process, asks for."""
    found = _session.get() or _Process.session
    kinds = found.kinds if found is not None else ()
    return ("bounds", *kinds) if _Process.debug and "bounds" not in kinds else kinds


def kinds(debug: bool) -> Kinds:
    """All kinds of a launch; `debug`: the launch or its kernel asks for checks of accesses."""
    found = requested()
    return ("bounds", *found) if debug and "bounds" not in found else found


def from_environment() -> sanitize | None:
    """The session that MYTRITON_SANITIZE asks for: kinds with commas, or "1" for all."""
    given = os.environ.get("MYTRITON_SANITIZE", "")
    if given in ("", "0"):
        return None
    return sanitize(*(() if given == "1" else (given,)))


_Process.session = from_environment()
