"""What all kernels have, those that wrap others included: `kernel[grid](…)`, `run`, `warmup`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..language.constexpr import constexpr

if TYPE_CHECKING:
    from .jit import JITFunction


class KernelInterface:
    """What has `kernel[grid](…)`."""

    fn: Any
    __name__: str
    __qualname__: str

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """A launcher over a grid: an int, a tuple of 1 to 3 ints, or a function of the arguments
        that returns one of these."""
        return partial(self.run, grid=grid)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """Compiles for these arguments and runs nothing."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Kernels are copied and pickled by reference, as functions are: a copy is the kernel
        itself, and a pickle holds its module and name."""
        return self.__qualname__


class Bound(KernelInterface):
    """A kernel as a method of an object, which is its first argument: a constexpr where it is
    launched, itself where kernel code calls it."""

    def __init__(self, fn: JITFunction, instance: Any) -> None:
        self.fn, self.instance = fn, instance

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fn, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.instance, self.fn.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(self.instance, *args, **kwargs)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        return self.fn.run(constexpr(self.instance), *args, grid=grid, warmup=warmup, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel's page, with the object as its first argument; see `JITFunction.explain`."""
        return self.fn.explain(constexpr(self.instance), *args, **kwargs)
