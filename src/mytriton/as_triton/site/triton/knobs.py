"""`triton.knobs`: settings in groups, each from its environment variable until it is assigned.

knobs.cache.dir                     TRITON_CACHE_DIR, else ~/.triton/cache
knobs.autotuning.print = True       assigned for this process
with knobs.runtime.scope(): …       what is assigned inside is undone after it
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from mytriton.runtime.hooks import HOOKS
from mytriton.runtime.hooks import HookChain as HookChain

T = TypeVar("T")
FALSE = frozenset({"", "0", "false", "off", "no"})


def _flag(text: str) -> bool:
    return text.lower() not in FALSE


class Knob(Generic[T]):
    """One setting. read: its value from the text of the environment variable."""

    def __init__(self, variable: str, default: Callable[[], T], read: Callable[[str], T]) -> None:
        self.variable, self.default, self.read = variable, default, read

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Group, owner: type) -> T:
        if self.name in instance.assigned:
            value: T = instance.assigned[self.name]
            return value
        text = os.environ.get(self.variable)
        return self.default() if text is None else self.read(text)

    def __set__(self, instance: Group, value: T) -> None:
        instance.assigned[self.name] = value

    def __delete__(self, instance: Group) -> None:
        instance.assigned.pop(self.name, None)


def flag(variable: str, default: bool = False) -> Knob[bool]:
    return Knob(variable, lambda: default, _flag)


def text(variable: str, default: Callable[[], str]) -> Knob[str]:
    return Knob(variable, default, str)


def optional(variable: str) -> Knob[str | None]:
    return Knob(variable, lambda: None, str)


class Hook:
    """A hook of the process, kept by the runtime."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Group, owner: type) -> Any:
        return getattr(HOOKS, self.name)

    def __set__(self, instance: Group, value: Any) -> None:
        setattr(HOOKS, self.name, value)


class Group:
    """Settings that belong together."""

    def __init__(self) -> None:
        self.assigned: dict[str, Any] = {}

    @property
    def knobs(self) -> dict[str, Any]:
        """Every setting by name, at its present value."""
        names = (name for name, row in vars(type(self)).items() if isinstance(row, Knob))
        return {name: getattr(self, name) for name in names}

    def copy(self) -> Group:
        other = type(self)()
        other.assigned = dict(self.assigned)
        return other

    def reset(self) -> Group:
        """Forgets what was assigned."""
        self.assigned.clear()
        return self

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undoes, at its end, what was assigned inside."""
        before = dict(self.assigned)
        try:
            yield
        finally:
            self.assigned = before


def _home(*parts: str) -> Callable[[], str]:
    def path() -> str:
        return str(Path(os.environ.get("TRITON_HOME", str(Path.home())), ".triton", *parts))

    return path


class CacheKnobs(Group):
    """Where files are kept."""

    home_dir = text("TRITON_HOME", lambda: str(Path.home()))
    dir = text("TRITON_CACHE_DIR", _home("cache"))
    dump_dir = text("TRITON_DUMP_DIR", _home("dump"))
    override_dir = text("TRITON_OVERRIDE_DIR", _home("override"))


class CompilationKnobs(Group):
    """How kernels are compiled. `listener`, `override` and the dumps are accepted and idle."""

    always_compile = flag("TRITON_ALWAYS_COMPILE")
    enable_asan = flag("TRITON_ENABLE_ASAN")
    disable_line_info = flag("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    dump_ir = flag("TRITON_KERNEL_DUMP")
    override = flag("TRITON_KERNEL_OVERRIDE")
    store_binary_only = flag("TRITON_STORE_BINARY_ONLY")
    instrumentation_mode = text("TRITON_INSTRUMENTATION_MODE", str)
    listener: Any = None


class AutotuningKnobs(Group):
    """Tuning: whether it says what it chose, and whether choices are kept on disk."""

    cache = flag("TRITON_CACHE_AUTOTUNING")
    print = flag("TRITON_PRINT_AUTOTUNING")


class RuntimeKnobs(Group):
    """Launches. The hooks are called around each launch with its metadata; `jit_cache_hook` and
    `jit_post_compile_hook` before and after a compilation."""

    interpret = flag("TRITON_INTERPRET")
    debug = flag("TRITON_DEBUG")
    sanitize_overflow = flag("TRITON_SANITIZE_OVERFLOW", True)
    override_arch = optional("TRITON_OVERRIDE_ARCH")
    add_stages_inspection_hook: Any = None
    launch_enter_hook = Hook()
    launch_exit_hook = Hook()
    jit_cache_hook = Hook()
    jit_post_compile_hook = Hook()


class LanguageKnobs(Group):
    """The language's defaults."""

    default_fp_fusion = flag("TRITON_DEFAULT_FP_FUSION", True)
    strict_reduction_ordering = flag("TRITON_STRICT_REDUCTION_ORDERING")


class NvidiaKnobs(Group):
    """CUDA tools."""

    dump_nvptx = flag("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = flag("DISABLE_PTXAS_OPT")
    mock_ptx_version = optional("TRITON_MOCK_PTX_VERSION")
    libdevice_path = optional("TRITON_LIBDEVICE_PATH")


class BuildKnobs(Group):
    """The host's compiler, which nothing here needs."""

    cc = optional("CC")


class ProtonKnobs(Group):
    """The profiler."""

    disable = flag("TRITON_PROTON_DISABLE")


class AmdKnobs(Group):
    """Settings of a backend that is not here; assigned and read, without effect."""

    use_buffer_ops = flag("AMDGCN_USE_BUFFER_OPS", True)
    dump_amdgcn = flag("AMDGCN_ENABLE_DUMP")


cache = CacheKnobs()
compilation = CompilationKnobs()
autotuning = AutotuningKnobs()
runtime = RuntimeKnobs()
language = LanguageKnobs()
nvidia = NvidiaKnobs()
build = BuildKnobs()
proton = ProtonKnobs()
amd = AmdKnobs()
