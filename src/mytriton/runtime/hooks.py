"""Functions that are called around launches and compilations, of every kernel of the process.

    HOOKS.launch_enter_hook.add(lambda metadata: print(metadata.get()["name"]))

Triton's users find them as `triton.knobs.runtime`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..errors import CompileTypeError
from ..frontend.signature import Constexpr
from ..targets import CompileOptions
from .compiled_kernel import CompiledKernel


class HookChain:
    """Functions called one after another with the same arguments; false when there is none."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: list[Callable[..., Any]] = []
        self.reversed = reversed

    def add(self, func: Callable[..., Any]) -> None:
        """Adds a function that is not in the chain yet."""
        if func not in self.calls:
            self.calls.append(func)

    def remove(self, func: Callable[..., Any]) -> None:
        """Takes a function out, if it is in the chain."""
        if func in self.calls:
            self.calls.remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in reversed(self.calls) if self.reversed else tuple(self.calls):
            call(*args, **kwargs)

    def __bool__(self) -> bool:
        return bool(self.calls)


class JitFunctionInfo(NamedTuple):
    """Which kernel a compilation hook is told of."""

    module: str
    name: str
    jit_function: Any


class Hooks:
    """The hooks of the process.

    launch_enter_hook, launch_exit_hook: chains called with a `LaunchMetadata` before and after each
    launch that runs. jit_cache_hook: called before a kernel is compiled, with keywords key, repr,
    fn (a `JitFunctionInfo`), compile (a dict of what is compiled), is_manual_warmup,
    already_compiled; where it returns True nothing is compiled, and the launch gives None.
    jit_post_compile_hook: called with the same after it.
    """

    def __init__(self) -> None:
        self.launch_enter_hook = HookChain()
        self.launch_exit_hook = HookChain(reversed=True)
        self.jit_cache_hook: Callable[..., Any] | None = None
        self.jit_post_compile_hook: Callable[..., Any] | None = None


HOOKS = Hooks()


class LaunchMetadata:
    """What the launch hooks are given. `get()` is a dict with `name`, `function` (the compiled
    kernel), `stream`, and what the kernel's own `launch_metadata(grid, metadata, args)` returns;
    that is called when `get` is called first. `compiled`, `kernel`, `grid`, `arguments` (all,
    by name) and `options` are those of the launch."""

    def __init__(
        self,
        compiled: CompiledKernel,
        kernel: Any,
        grid: Any,
        arguments: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> None:
        self.compiled = compiled
        self.kernel, self.grid, self.arguments, self.options = kernel, grid, arguments, options
        self._found: dict[str, Any] | None = None

    def get(self) -> dict[str, Any]:
        if self._found is None:
            compiled = self.compiled
            self._found = {"name": compiled.name, "function": compiled, "stream": 0}
            own = self.kernel.launch_metadata
            if own is not None:
                self._found |= own(self.grid, compiled.metadata, self.arguments)
        return self._found


class Specialized:
    """What `@jit(repr=…)` is given: `constants` and `signature`, by parameter."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        known = {n: v.value for n, v in arguments.items() if isinstance(v, Constexpr)}
        self.constants = known
        self.signature = {n: "constexpr" if n in known else str(v) for n, v in arguments.items()}


def tell(
    kernel: Any,
    hook: Callable[..., Any] | None,
    key: tuple[Any, ...],
    arguments: Mapping[str, Any],
    *,
    target: str | None,
    warmup: bool,
) -> Any:
    """Calls a compilation hook, if there is one; what it returns. key: the compilation's, its
    options first."""
    if hook is None:
        return None
    found = Specialized(arguments)
    about = {
        "key": repr(key),
        "signature": found.signature,
        "constants": found.constants,
        "num_warps": key[0].num_warps or 4,
        "specialization_data": _data(kernel.__name__, arguments, key[0], target),
    }
    return hook(
        key=repr(key),
        repr=f"{kernel.__name__}({', '.join(found.signature.values())})",
        fn=JitFunctionInfo(kernel.__module__, kernel.__name__, kernel),
        compile=about,
        is_manual_warmup=warmup,
        already_compiled=False,
    )


def _data(
    name: str, arguments: Mapping[str, Any], options: CompileOptions, target: str | None
) -> str:
    """What `kernel.preload` takes; empty where a constexpr cannot be written as text."""
    from .specialization_data import to_text

    try:
        return to_text(name, arguments, options, target)
    except CompileTypeError:
        return ""
