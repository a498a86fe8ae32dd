"""`triton.runtime._allocation`: who allocates the scratch memory that kernels ask for at launch.

No lowering of this project asks for any: tensor maps are made by the host. The allocator is kept,
so that libraries can set and read it, and is never called.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

Allocator = Callable[[int, int, "int | None"], Any]
"""(size in bytes, alignment in bytes, stream) → a buffer with `data_ptr()`."""


class NullAllocator:
    """Stands where no allocator was set. Calling it raises RuntimeError."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Any:
        raise RuntimeError(
            f"a kernel asks for {size} bytes of scratch memory, but no allocator was set; use"
            " triton.set_allocator"
        )


_NONE = NullAllocator()
_allocator: ContextVar[Allocator] = ContextVar("allocator", default=_NONE)


def set_allocator(allocator: Allocator) -> None:
    """Sets the allocator of this thread's context."""
    _allocator.set(allocator)


def get_allocator() -> Allocator:
    """The allocator in force."""
    return _allocator.get()


__all__ = ["Allocator", "NullAllocator", "get_allocator", "set_allocator"]
