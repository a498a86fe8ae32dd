"""`@jit`: a Python function as a kernel, launched by `kernel[grid](…)`.

One idea: binding is Python's. For each kernel a small function with the kernel's own signature is
made, so defaults, keywords and error messages are the interpreter's; what it returns is classified
into a key, the key finds a compiled artifact, and only a miss does any thinking.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from types import TracebackType
from typing import Any, overload

from .. import targets
from ..errors import CompileError, CompileTypeError, KernelFault, is_user_code
from ..frontend.signature import (
    Constexpr,
    annotated_type,
    is_const,
    is_constexpr,
    signature,
)
from ..frontend.source import remember, source
from ..ir.build import tracing
from ..language.constexpr import constexpr
from ..targets.memory import Argument
from .arguments import (
    UNSEEN,
    ArrayInfo,
    Parameter,
    argument_type,
    converters,
    flat,
    one_family,
    piece_of,
)
from .cache import Artifact
from .constexprs import constexpr_key, constexpr_value
from .launch import Launch, check_options, execute, grid_of, refuse_warps
from .target import target_of

OPTIONS = frozenset(
    [
        "num_warps",
        "num_stages",
        "num_ctas",
        "maxnreg",
        "enable_fp_fusion",
        "launch_cooperative_grid",
        "launch_pdl",
        "extern_libs",
        "debug",
        "sanitize_overflow",
        "instrumentation_mode",
        "stream",
        "device",
        "device_type",
        "ir_override",
        "matrix_instr_nonkdim",
        "waves_per_eu",
        "kpack",
        "target",
    ]
)
"""Keywords of a launch that are no parameters of the kernel."""


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


class JITFunction(KernelInterface):
    """A kernel.

    fn: the Python function. params, arg_names, constexprs: its parameters, their names, the names
    of those that are constexpr. signature, __globals__: the function's. src: its source text.
    Calling it inlines it into the kernel that is being compiled; elsewhere it must be launched over
    a grid.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        version: Any = None,
        do_not_specialize: Iterable[int | str] | None = None,
        do_not_specialize_on_alignment: Iterable[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[..., str] | None = None,
        launch_metadata: Callable[..., Any] | None = None,
    ) -> None:
        if isinstance(fn, JITFunction):
            fn = fn.fn
        if not inspect.isfunction(fn):
            raise CompileTypeError(f"@jit needs a Python function, got {fn!r}")
        if inspect.isasyncgenfunction(fn) or inspect.iscoroutinefunction(fn):
            raise CompileTypeError(f"{fn.__name__}: `async def` cannot be a kernel")
        self.fn = fn
        remember(fn)
        self.version, self.noinline = version, noinline
        self.debug = os.environ.get("TRITON_DEBUG") == "1" if debug is None else debug
        self.launch_metadata = launch_metadata
        self.signature = inspect.signature(fn)
        self.__globals__ = fn.__globals__
        self.params = parameters(fn, set(do_not_specialize or ()))
        self.arg_names = [parameter.name for parameter in self.params]
        self.constexprs = [p.name for p in self.params if p.is_constexpr]
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.artifacts: dict[Any, Artifact] = {}
        self._plans: dict[Any, Plan] = {}
        self._pieces = [piece_of(parameter) for parameter in self.params]
        self._options = OPTIONS - set(self.arg_names)
        self._bind = binder(fn)
        update_wrapper(self, fn, updated=())

    def __repr__(self) -> str:
        return f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"

    def __get__(self, instance: Any, owner: Any) -> Any:
        """A kernel in a class: `self.kernel[grid](…)` launches it; one whose first parameter is
        `self`, and any that kernel code calls, gets the object first, as a function would."""
        is_method = self.arg_names[:1] == ["self"]
        if instance is None or not (is_method or tracing()):
            return self
        return Bound(self, instance)

    @property
    def src(self) -> str:
        """The source text, from its `def` on."""
        return source(self.fn)

    @property
    def cache_key(self) -> str:
        """A name for the source text and where it stands, the same in every process."""
        import hashlib

        text = f"{self.__module__}:{self.__qualname__}\n{self.src}"
        return hashlib.sha256(text.encode()).hexdigest()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Inlines the function into the kernel being compiled. Raises CompileError elsewhere."""
        if not tracing():
            raise CompileError(
                f"{self.fn.__name__} is a kernel: launch it with {self.fn.__name__}[grid](…)"
            )
        from ..frontend.inline import inline  # with all that rewrites: loaded by the first trace

        kwargs = {key: v for key, v in kwargs.items() if key not in ("_semantic", "_generator")}
        return inline(self.fn, args, kwargs)

    def clear_cache(self) -> None:
        """Forgets every compilation of this kernel, and the GPU kernels loaded for it."""
        driver = sys.modules.get(f"{targets.__name__}.cuda.driver")
        if driver is not None:
            driver.forget([a.cuda for a in self.artifacts.values() if "cuda" in vars(a)])
        self.artifacts.clear()
        self._plans.clear()

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Adds a function called with the launch's arguments before each launch."""
        self.pre_run_hooks.append(hook)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Launch:
        """Launches over the grid; with warmup only compiles.

        Raises CompileError and its kinds for faults of the kernel or of the arguments.
        """
        options: Mapping[str, Any] = {}
        if not self._options.isdisjoint(kwargs):
            options = {key: kwargs.pop(key) for key in tuple(kwargs) if key in self._options}
            check_options(options)
        try:
            values = self._bind(*args, **kwargs)
        except TypeError as error:
            raise CompileTypeError(str(error)) from None
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        try:
            return self._launch(values, grid, warmup, options)
        except KernelFault as error:
            raise error.with_traceback(kernel_frames(error.__traceback__)) from error.__cause__

    def _launch(
        self, values: tuple[Any, ...], grid: Any, warmup: bool, options: Mapping[str, Any]
    ) -> Launch:
        plan = self._plan(values, bool(options.get("debug", self.debug)))
        artifact = plan.artifact
        name = target_of(options.get("target"), plan.arrays)
        extents = None
        if not warmup:
            # Compiling only, a grid of no program is a mistake; a run over none does nothing.
            least = 1 if name is None else 0
            extents = grid_of(grid, lambda: dict(zip(self.arg_names, values)), least)
        if name in (None, "cuda"):
            refuse_warps(options)
            artifact.cuda  # noqa: B018 - its refusals are the launch's
        if name is not None and extents is not None and 0 not in extents:
            execute(artifact, name, extents, plan.arguments(values))
        return Launch(artifact, None if warmup else name, extents)

    def _plan(self, values: tuple[Any, ...], debug: bool) -> Plan:
        """How to launch with arguments like these, in the order of the parameters."""
        key = (debug, *[piece(value) for piece, value in zip(self._pieces, values)])
        plan = self._plans.get(key)
        if plan is not None and plan.artifact.captured.changed() is None:
            return plan
        arrays, artifact = self.compiled(values, debug)
        types = enumerate(artifact.arguments.values())
        runtime = tuple(i for i, ty in types if not isinstance(ty, Constexpr))
        makers = converters(artifact.types, [values[i] for i in runtime])
        plan = Plan(
            artifact,
            arrays,
            tuple(zip(runtime, makers)),
            any(isinstance(ty, tuple) for ty in artifact.types),
        )
        if UNSEEN not in key:
            self._plans[key] = plan
        return plan

    def compiled(self, values: Sequence[Any], debug: bool = False) -> tuple[Any, Artifact]:
        """The artifact for arguments in the order of the parameters, made if there is none."""
        named = list(zip(self.params, values))
        arrays = [(p.name, value) for p, value in named if not p.is_constexpr]
        family = one_family(arrays)
        types: dict[str, Any] = {}
        key: list[Any] = [debug]
        for parameter, value in named:
            if parameter.is_constexpr:
                key.append(constexpr_key(parameter.name, value))
                types[parameter.name] = Constexpr(constexpr_value(value))
            else:
                types[parameter.name] = argument_type(parameter, parameter.name, value)
                key.append(_type_key(parameter.name, types[parameter.name]))
        artifact = self.artifacts.get(tuple(key))
        if artifact is None or artifact.captured.changed() is not None:
            artifact = self.artifacts[tuple(key)] = Artifact(self.fn, types, debug)
        return family, artifact


@dataclass(frozen=True)
class Plan:
    """What a launch needs to know, found by the arguments' kinds alone: the artifact, the family of
    the arrays, which arguments are run-time ones and what makes them what targets take."""

    artifact: Artifact
    arrays: ArrayInfo | None
    makers: tuple[tuple[int, Callable[[Any], Any]], ...]
    nested: bool

    def arguments(self, values: Sequence[Any]) -> list[Argument]:
        """The run-time arguments, in the order of the function's params."""
        made = [make(values[i]) for i, make in self.makers]
        return flat(made) if self.nested else made


def kernel_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without this package's own frames; as it is if nothing else is in it, or with
    MYTRITON_FULL_TRACEBACK=1."""
    if os.environ.get("MYTRITON_FULL_TRACEBACK") == "1":
        return trace
    kept = None
    frames = []
    rest = trace
    while rest is not None:
        if is_user_code(rest.tb_frame.f_code.co_filename):
            frames.append(rest)
        rest = rest.tb_next
    for found in reversed(frames):
        kept = TracebackType(kept, found.tb_frame, found.tb_lasti, found.tb_lineno)
    return kept or trace


def _type_key(name: str, ty: Any) -> Any:
    if isinstance(ty, Constexpr):
        return "constexpr", constexpr_key(name, ty.value)
    if isinstance(ty, tuple):
        return type(ty), tuple(_type_key(name, part) for part in ty)
    return ty


def parameters(fn: Callable[..., Any], fixed: set[int | str]) -> list[Parameter]:
    """The parameters of a kernel."""
    result = []
    for num, found in enumerate(signature(fn).parameters.values()):
        default = Parameter.empty if found.default is found.empty else found.default
        result.append(
            Parameter(
                found.name,
                num,
                default,
                None if found.annotation is found.empty else found.annotation,
                is_constexpr(found),
                is_const(found),
                annotated_type(found.annotation),
                bool(fixed & {num, found.name}),
            )
        )
    return result


def binder(fn: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """A function with the kernel's signature that returns its arguments in order."""
    form = inspect.signature(fn)
    names = list(form.parameters)
    text = str(form.replace(parameters=_undefaulted(form), return_annotation=form.empty))
    body = f"({', '.join(names)},)" if names else "()"
    space: dict[str, Any] = {}
    exec(f"def bind{text}: return {body}", space)
    bind: Any = space["bind"]
    bind.__defaults__, bind.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    bind.__name__ = bind.__qualname__ = fn.__name__
    return bind  # type: ignore[no-any-return]


def _undefaulted(form: inspect.Signature) -> list[inspect.Parameter]:
    return [
        parameter.replace(annotation=parameter.empty, default=parameter.empty)
        for parameter in form.parameters.values()
    ]


@overload
def jit(fn: Callable[..., Any]) -> JITFunction: ...
@overload
def jit(fn: None = None, **options: Any) -> Callable[[Callable[..., Any]], JITFunction]: ...
def jit(fn: Any = None, **options: Any) -> Any:
    """Makes a Python function a kernel: `@jit`, or `@jit(do_not_specialize=["n"], …)`.

    Options: version, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr,
    launch_metadata, as in Triton; none changes a result.
    """
    if fn is not None:
        return JITFunction(fn, **options)
    return lambda function: JITFunction(function, **options)
