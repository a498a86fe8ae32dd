"""What wraps a kernel: the base of autotuners and heuristics, and `@heuristics` itself.

A wrapper has `run` as a kernel has, and only adds keywords to it, so wrappers stack in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .interface import KernelInterface
from .jit import JITFunction


class Wrapper(KernelInterface):
    """A kernel with something before each launch. It shows the names and the doc of the kernel, and
    kernel code that calls it calls the kernel.

    fn: what is wrapped, a kernel or another wrapper; base_fn: the Python function under all of
    them; arg_names: the parameters' names.
    """

    def __init__(self, fn: Any, arg_names: Sequence[str] | None = None) -> None:
        self.fn = fn
        self.arg_names = list(fn.arg_names if arg_names is None else arg_names)
        kernel: Any = fn
        while not isinstance(kernel, JITFunction) and hasattr(kernel, "fn"):
            kernel = kernel.fn
        self.kernel = kernel
        self.base_fn: Callable[..., Any] = getattr(kernel, "fn", kernel)
        self.__name__, self.__doc__ = self.base_fn.__name__, self.base_fn.__doc__
        self.__module__, self.__qualname__ = self.base_fn.__module__, self.base_fn.__qualname__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def clear_cache(self) -> None:
        """Forgets the kernel's compilations."""
        self.fn.clear_cache()

    def chosen(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The keywords that a launch with these arguments is given beside them."""
        return {}

    def explain(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        """The kernel's page for these arguments and the keywords that are chosen for them; see
        `JITFunction.explain`."""
        given = {**self.chosen(args, kwargs), **kwargs}
        return self.fn.explain(*args, grid=grid, **given)

    def named(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name."""
        return {**dict(zip(self.arg_names, args)), **kwargs}


class Heuristics(Wrapper):
    """Computes constexprs from the other arguments; see `heuristics`."""

    def __init__(
        self, fn: Any, arg_names: Sequence[str] | None, values: Mapping[str, Callable[..., Any]]
    ) -> None:
        super().__init__(fn, arg_names)
        self.values = values

    def chosen(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        for name, value in self.values.items():
            found[name] = value(self.named(args, {**kwargs, **found}))
        return found

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        kwargs.update(self.chosen(args, kwargs))
        return self.fn.run(*args, grid=grid, warmup=warmup, **kwargs)


def heuristics(
    values: Mapping[str, Callable[[dict[str, Any]], Any]],
) -> Callable[[Any], Heuristics]:
    """`@heuristics({"EVEN": lambda args: args["n"] % 128 == 0})`: each constexpr is computed from
    the launch's arguments by name."""
    return lambda fn: Heuristics(fn, None, values)
