"""Strict mode: kernels are refused what Triton refuses, so that what runs here compiles there.

The language of this package is wider than Triton's: extents need not be powers of two, blocks can
be indexed, globals are read, loops may `break`. Strict mode takes all that away. Each refusal is an
error at the kernel's line that names the portable form.

    MYTRITON_STRICT=1 python script.py      the whole process
    with triton.strict(): …                 this thread or task, inside the block

What Triton accepts is that of version 3.9 on an NVIDIA GPU, without the forms that it deprecates.
"""

from __future__ import annotations

import os
from contextvars import ContextVar, Token
from types import TracebackType

from .errors import CompileError, Where

_strict: ContextVar[bool] = ContextVar("strict", default=os.environ.get("MYTRITON_STRICT") == "1")


class StrictError(CompileError):
    """Something that works here and that Triton refuses."""


class strict:
    """`with triton.strict():` kernels that are compiled in the block may use only what Triton
    accepts; `triton.strict(False)` takes that back.

    A compilation remembers which it was made for. What Triton refuses raises StrictError, at the
    kernel's line, with the portable form.
    """

    def __init__(self, on: bool = True) -> None:
        self.on = on
        self._tokens: list[Token[bool]] = []

    def __enter__(self) -> strict:
        self._tokens.append(_strict.set(self.on))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _strict.reset(self._tokens.pop())


def is_strict() -> bool:
    """Whether kernels are compiled in strict mode here and now."""
    return _strict.get()


def refuse(what: str, portable: str, where: Where | None = None) -> None:
    """In strict mode raises StrictError: `what` works here alone, and `portable` works everywhere.

    where: the kernel frames; by default those of the Python stack.
    """
    if _strict.get():
        raise StrictError(
            f"{what}, which Triton refuses (strict mode); portable: {portable}", where
        )
