"""`triton.compiler.compiler`: compiling a kernel ahead of its launch, from types.

source = ASTSource(add_kernel, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {(2,): 64})
kernel = triton.compile(source, target=GPUTarget("cpu", "", 32))
kernel[(grid,)](x, n)                            # the run-time arguments, or all parameters
"""

from __future__ import annotations

import hashlib
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mytriton.errors import CompileTypeError, CompileValueError
from mytriton.frontend.signature import Constexpr
from mytriton.ir.types import parse_type
from mytriton.runtime.arguments import converters, flatten
from mytriton.runtime.compile import Compilation
from mytriton.runtime.compiled_kernel import GPU_TEXTS, HOST_TEXTS, LazyDict, run_time_arguments
from mytriton.runtime.jit import JITFunction
from mytriton.runtime.launch import execute, grid_of
from mytriton.targets import CompileOptions

from ..backends.compiler import BaseBackend, GPUTarget, Options
from ..runtime.cache import triton_key
from ..runtime.driver import driver

Path = tuple[int, ...]
"""Where a value stands among the parameters: (2,) is the third, (2, 0) the first part of it."""


class ASTSource:
    """A kernel and the types it is compiled for.

    fn: the kernel. signature: a type by parameter name (`*fp32`, `i32`, `constexpr`, a tuple of
    these). constexprs: the known values by parameter name or by path. attrs: what is known of
    arguments by path (`[["tt.divisibility", 16]]`).
    """

    ext = "ttir"

    def __init__(
        self,
        fn: JITFunction,
        signature: Mapping[str, Any],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Path, Any] | None = None,
    ) -> None:
        self.fn = fn
        self.name = fn.__name__
        self.signature = dict(signature)
        self.constants = {self._path(key): v for key, v in (constexprs or {}).items()}
        self.attrs = dict(attrs or {})

    def _path(self, key: Any) -> Path:
        if isinstance(key, str):
            return (self.fn.arg_names.index(key),)
        return (key,) if isinstance(key, int) else tuple(key)

    def hash(self) -> str:
        """A name for the source and the types: a SHA-256 in hexadecimal."""
        parts = (
            self.fn.cache_key,
            sorted(self.signature.items()),
            sorted((path, repr(value)) for path, value in self.constants.items()),
            sorted((path, repr(value)) for path, value in self.attrs.items()),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def arguments(self) -> dict[str, Any]:
        """By parameter: its IR type, a tuple of types, or a `Constexpr`.

        Raises CompileTypeError for text that names no type, CompileValueError for a constexpr
        without a value.
        """
        return {
            name: self._argument((index,), name, self.signature.get(name, "constexpr"))
            for index, name in enumerate(self.fn.arg_names)
        }

    def _argument(self, path: Path, name: str, kind: Any) -> Any:
        if path in self.constants:
            return Constexpr(self.constants[path])
        if isinstance(kind, tuple):
            return tuple(self._argument((*path, i), name, part) for i, part in enumerate(kind))
        if kind == "constexpr":
            return Constexpr(self._default(path, name))
        found = parse_type(kind)
        if found is None:
            raise CompileTypeError(f"{name}: {kind!r} is no type of a parameter")
        return found

    def _default(self, path: Path, name: str) -> Any:
        parameter = self.fn.params[path[0]]
        if len(path) > 1 or parameter.default is parameter.empty:
            raise CompileValueError(f"{name}: a constexpr without a value; give it in constexprs")
        return parameter.default


KernelMetadata = namedtuple(
    "KernelMetadata",
    [
        "name",
        "hash",
        "target",
        "shared",
        "num_warps",
        "num_stages",
        "num_ctas",
        "cluster_dims",
        "debug",
        "global_scratch_size",
        "profile_scratch_size",
        "tmem_size",
    ],
)


class CompiledKernel:
    """A kernel compiled for types and a target: `kernel[grid](*args)` launches it.

    asm: its stages by name ("ttir" is the SSA text; "llir" and "asm", or "cuda", "ptx" and
    "cubin"), made when read. metadata: a named tuple of `name`, `hash`, `shared` (in bytes),
    `num_warps` and the rest.
    n_regs, n_spills: registers and spilled ones a thread; 0 on a CPU.
    """

    n_regs = 0
    n_spills = 0
    n_max_threads = 1024

    def __init__(self, src: ASTSource, target: GPUTarget, options: Options) -> None:
        self.src, self.target, self.options = src, target, options
        self.hash = hashlib.sha256(
            repr((triton_key(), src.hash(), target, options)).encode()
        ).hexdigest()
        self.name = src.name
        self.metadata = KernelMetadata(
            name=src.name,
            hash=self.hash,
            target=target,
            shared=0,
            num_warps=options.num_warps,
            num_stages=options.num_stages,
            num_ctas=options.num_ctas,
            cluster_dims=options.cluster_dims,
            debug=options.debug,
            global_scratch_size=0,
            profile_scratch_size=0,
            tmem_size=0,
        )
        self.packed_metadata = self.metadata
        self.shared, self.num_warps = self.metadata.shared, options.num_warps
        self.module: Any = None
        self.function: Any = None
        self.run: Any = None
        self._compilation()

    def _compilation(self) -> Compilation:
        options = CompileOptions(self.options.debug)
        compilation = Compilation(self.src.fn.fn, self.src.arguments(), options)
        if self.target.backend == "cpu":
            compilation.executable("cpu", overlap=True)
        else:
            compilation.prepare("cuda")
        return compilation

    def _init_handles(self) -> None:
        """Makes what a launch needs, if it is not there."""
        if self.function is None:
            self.function = self._compilation()
            self.run = self.launch

    @property
    def asm(self) -> LazyDict:
        self._init_handles()
        compilation: Compilation = self.function
        names = HOST_TEXTS if self.target.backend == "cpu" else GPU_TEXTS
        return LazyDict({key: partial(compilation.text, stage) for key, stage in names.items()})

    def launch_metadata(self, grid: Sequence[int], stream: Any, *args: Any) -> Any:
        """What launch hooks are given: `get()` returns a dict with name, function and stream."""
        return LazyDict({"name": lambda: self.name, "stream": lambda: stream})

    def launch(
        self,
        grid_0: int,
        grid_1: int,
        grid_2: int,
        stream: Any,
        function: Compilation,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *args: Any,
    ) -> None:
        """Launches over the grid with all parameters, or with those that are no constexprs."""
        if enter_hook:
            enter_hook(launch_metadata)
        given = run_time_arguments(function, args)
        makers = converters(function.types, given)
        values = flatten([make(value) for make, value in zip(makers, given)])
        grid = grid_of((grid_0, grid_1, grid_2))
        execute(function, self.target.backend, grid, values)
        if exit_hook:
            exit_hook(launch_metadata)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """A launcher over a grid of 1 to 3 extents."""
        self._init_handles()
        x, y, z = grid_of(grid({}) if callable(grid) else grid)
        return partial(self._launch_on, x, y, z)

    def _launch_on(self, x: int, y: int, z: int, *args: Any, stream: Any = None) -> None:
        self.launch(x, y, z, stream, self.function, self.packed_metadata, None, None, None, *args)


def make_backend(target: GPUTarget) -> BaseBackend:
    """The compiler for a target. Raises CompileValueError for a kind that is not here."""
    if not BaseBackend.supports_target(target):
        raise CompileValueError(f"there is no backend for {target}; there are cpu and cuda")
    return BaseBackend(target)


def compile(
    src: Any,
    target: GPUTarget | None = None,
    options: Mapping[str, Any] | None = None,
    _env_vars: Any = None,
) -> CompiledKernel:
    """Compiles a kernel for types: an `ASTSource`.

    target: the active driver's if None. options: `num_warps`, `num_stages`, `debug`, …; those that
    the target has no use for are left out. Raises CompileTypeError for text of another compiler's
    IR.
    """
    if not isinstance(src, ASTSource):
        raise CompileTypeError(
            f"triton.compile takes an ASTSource here, not {src!r}: IR of another compiler cannot be"
            " read"
        )
    chosen = target or driver.active.get_current_target()
    return CompiledKernel(src, chosen, make_backend(chosen).parse_options(dict(options or {})))


def get_cache_key(src: ASTSource, backend: BaseBackend, backend_options: Any, env_vars: Any) -> str:
    """A name for what would be compiled; equal names compile equally."""
    parts = (triton_key(), src.hash(), backend.hash(), repr(backend_options), repr(env_vars))
    return "-".join(parts)


def max_shared_mem(device: int) -> int:
    """The shared memory that one program may have, in bytes."""
    return int(driver.active.utils.get_device_properties(device)["max_shared_mem"])


__all__ = [
    "ASTSource",
    "CompiledKernel",
    "GPUTarget",
    "LazyDict",
    "compile",
    "get_cache_key",
    "make_backend",
    "max_shared_mem",
    "triton_key",
]
