"""Where kernels run: the choice of a target, by the launch, a block of code, or the process.

A launch takes the first of these that is given:

    kernel[grid](…, target="cpu")             this launch
    with triton.target("interpret"): …        this thread or task, inside the block
    triton.set_target("cpu")                  the whole process
    MYTRITON_TARGET=cpu python script.py      the whole process

The block is a `ContextVar`, as decimal's local context is: other threads and tasks do not see it,
and blocks of several threads may end in any order.
"""

from __future__ import annotations

import os
import warnings
from contextvars import ContextVar
from types import TracebackType

from ..errors import CompileValueError, did_you_mean
from ..targets import TARGETS
from .arrays import ArrayInfo

_blocks: ContextVar[tuple[target, ...]] = ContextVar("blocks", default=())
open_blocks = _blocks.get
"""The blocks that are open in this thread or task, the outermost first."""


class Process:
    """What `set_target` chose for the process, and what its environment said at its start."""

    target: str | None = None
    environment: str | None = os.environ.get("MYTRITON_TARGET") or None


class target:
    """`with triton.target(name):` runs the launches of the block on a target.

    name: "cpu", "interpret", "eager", "cudasim" or "cuda"; None for what holds outside any block.
    Only this thread or task sees the choice; one object may be entered several times. Making an
    object chooses nothing: one that is never entered warns that `set_target` was probably meant.
    Raises CompileValueError for another name.
    """

    entered = False

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.entered = name not in (None, *TARGETS)  # a refused one needs no warning
        check_target(name)

    def __enter__(self) -> target:
        self.entered = True
        _blocks.set((*_blocks.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Blocks in generators of one thread may end in any order: each takes away its own entry.
        open_blocks = list(_blocks.get())
        for place in reversed(range(len(open_blocks))):
            if open_blocks[place] is self:
                del open_blocks[place]
                break
        _blocks.set(tuple(open_blocks))

    def __del__(self) -> None:
        if not self.entered:
            warnings.warn(
                f"triton.target({self.name!r}) chooses nothing unless it is entered: write"
                f" `with triton.target({self.name!r}):`, or triton.set_target({self.name!r}) for"
                " the whole process",
                RuntimeWarning,
                stacklevel=2,
            )


def set_target(name: str | None) -> None:
    """Chooses where the kernels of this process run, in every thread, unless a launch or a `with
    triton.target(…)` chooses otherwise; None takes the choice back.

    Raises CompileValueError for a name other than "cpu", "interpret", "eager", "cudasim", "cuda".
    """
    Process.target = check_target(name)


def check_target(name: str | None) -> str | None:
    """The name. Raises CompileValueError if it is no target's."""
    if name is not None and name not in TARGETS:
        meant = did_you_mean(name, TARGETS)
        known = ", ".join(TARGETS)
        raise CompileValueError(f"there is no target {name!r}; there are {known}{meant}")
    return name


def chosen_target(given: str | None) -> str | None:
    """The target of a launch, if one was chosen: by the launch, `target`, `set_target`, or the
    environment."""
    if given is not None:
        return check_target(given)
    for block in reversed(_blocks.get()):
        if block.name is not None:
            return block.name
    return Process.target or check_target(Process.environment)


def target_of(given: str | None, arrays: ArrayInfo | None) -> str | None:
    """Where the launch runs; None for compiling only.

    Raises CompileValueError for a target that cannot reach the arrays' memory.
    """
    name = chosen_target(given)
    if arrays is not None and arrays.device:
        if name not in (None, "cuda"):
            raise CompileValueError(
                f"target {name!r} runs on the CPU's memory, but the arrays are on a GPU; choose"
                " 'cuda' or move them"
            )
        return "cuda"
    if name == "cuda":
        return None
    if name is None and arrays is not None and arrays.family == "torch":
        return "cpu"
    return name
