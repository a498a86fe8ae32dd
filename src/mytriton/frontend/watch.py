"""Finding the line of a kernel that changes a Python object.

That a region changes an object is seen when the region ends, by comparison (`heap.py`); which line
did it is not. Tracing has no effect but on objects that are restored, so it is simply done again,
this time under `sys.settrace`: after each line of kernel code the one object is compared with what
it held, and the first difference names the line. A correct kernel pays nothing for this.

Moments number the places of a trace where objects are looked at; the second trace passes the same
moments in the same order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, Protocol, TypeVar

from ..errors import CompileError, CompileTypeError, Location, Where, is_user_code
from ..language.debug import StaticOutput, static_output
from .heap import KEYS, Heap, kernel_frames, kind_of

R = TypeVar("R")


class Watched(Protocol):
    """What may change: an object as it was."""

    def differs(self, item: int) -> bool: ...


@dataclass(frozen=True)
class Suspect:
    """What changed: an item of the object at `position` among those of the moment."""

    moment: int
    position: int
    item: int


class ChangeError(CompileTypeError):
    """A change of a Python object that control flow cannot carry."""

    def __init__(self, message: str, suspect: Suspect, where: Where | None = None) -> None:
        super().__init__(message, where)
        self.suspect = suspect


@dataclass
class Moments:
    """Counts the moments of one trace; looks for the suspect, if there is one, from its moment."""

    suspect: Suspect | None = None
    count: int = 0
    held: Watched | None = None
    here: FrameType | None = None
    line: int = 0
    lasti: int = 0
    found: list[tuple[FrameType, int, int]] = field(default_factory=list)

    def add(self, objects: Sequence[Watched], frame: FrameType | None) -> int:
        """The number of a moment at which these objects are looked at."""
        self.count += 1
        suspect = self.suspect
        if suspect is not None and suspect.moment == self.count:
            self.held = objects[suspect.position]
            self.start(frame)
        return self.count

    def start(self, frame: FrameType | None) -> None:
        for kernel in kernel_frames(frame):
            kernel.f_trace = self.event
        self.stand(frame)
        sys.settrace(self.event)

    def stand(self, frame: FrameType | None) -> None:
        """Notes where kernel code goes on."""
        self.here = frame
        if frame is not None:
            self.line, self.lasti = frame.f_lineno, frame.f_lasti

    def event(self, frame: FrameType, kind: str, _: Any) -> Any:
        """What Python calls at each line, call and return of kernel code."""
        if not is_user_code(frame.f_code.co_filename):
            return None
        if not self.found and self.differs():
            self.note()
            sys.settrace(None)
        back = next(kernel_frames(frame.f_back), None) if kind == "return" else frame
        self.stand(back)
        return None if self.found else self.event

    def differs(self) -> bool:
        assert self.held is not None and self.suspect is not None
        return self.held.differs(self.suspect.item)

    def note(self) -> None:
        """Keeps the kernel frames, each at its line."""
        lines = [(f, f.f_lasti, f.f_lineno) for f in kernel_frames(self.here)]
        if lines:
            lines[0] = lines[0][0], self.lasti, self.line
        self.found = lines

    @property
    def where(self) -> Where:
        return tuple(
            Location(frame.f_code.co_filename, line, frame.f_code.co_name)
            for frame, _, line in self.found
        )

    def traceback(self) -> TracebackType | None:
        result: TracebackType | None = None
        for frame, lasti, line in self.found:
            result = TracebackType(result, frame, lasti, line)
        return result


_moments: ContextVar[Moments | None] = ContextVar("moments", default=None)


def moment(objects: Sequence[Watched], frame: FrameType | None) -> int:
    """The number of a moment at which these objects are looked at; 0 outside a trace."""
    moments = _moments.get()
    return moments.add(objects, frame) if moments else 0


def locating(trace: Callable[[], R]) -> R:
    """Traces; an error of a changed object names the line that changed it."""
    token = _moments.set(Moments())
    try:
        return trace()
    except ChangeError as error:
        raise _located(error, trace) from None
    finally:
        _moments.reset(token)


def _located(error: ChangeError, trace: Callable[[], object]) -> CompileError:
    moments, before = Moments(error.suspect), sys.gettrace()
    silent = static_output.set(StaticOutput(silent=True))
    token = _moments.set(moments)
    try:
        trace()
    except CompileError:
        pass
    finally:
        sys.settrace(before)
        static_output.reset(silent)
        _moments.reset(token)
    if not moments.found:
        return error
    return CompileTypeError(error.message, moments.where).with_traceback(moments.traceback())


def refuse_advanced(heap: Heap, changed: Iterable[int], moment: int, where: str) -> None:
    """Raises for an iterator that was advanced: it cannot be put back for the other path."""
    for key in changed:
        held = heap.objects[key]
        kind = kind_of(held.value)
        assert kind is not None
        if kind.write is None:
            position = list(heap.objects).index(key)
            raise ChangeError(
                f"the iterator `{held.path}` is advanced inside {where}, whose paths only the run"
                " will tell: take its values before, as a list or tuple",
                Suspect(moment, position, KEYS),
            )
