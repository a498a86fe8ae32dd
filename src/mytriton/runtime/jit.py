"""`@jit`: a Python function as a kernel, launched by `kernel[grid](…)`.

A launch binds its arguments as Python would (`binder.py`), and is done by the function generated
for the launch before if it is of the same kind (`quick.py`). Else it takes a quick key of each
argument (`arguments.py`), and finds under them the plan of an equal launch. Only where there is
none are the arguments looked at in full (`cache.py`) and the kernel compiled (`compile.py`).
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

from .. import targets
from ..errors import CompileError, CompileTypeError, KernelFault, wrong_arguments
from ..fork import compiling
from ..frontend.signature import Constexpr
from ..frontend.source import remember, source
from ..ir.build import tracing
from ..strict import is_strict
from .arguments import NEEDS_FULL_KEY, MockTensor, converters, key_part_of
from .binder import as_given, binder, entry
from .cache import specialize, type_key
from .checks import requested
from .compiled_kernel import CompiledKernel
from .hooks import HOOKS, LaunchMetadata, Specialized, tell
from .interface import Bound, KernelInterface
from .launch import Meta
from .options import LAUNCH_OPTIONS, check_options, compile_options, options_key
from .parameters import parameters
from .plan import Plan
from .quick import MISS, Like, never
from .recompiles import tell_why
from .target import chosen_target, target_of
from .tracebacks import at_kernel

if TYPE_CHECKING:
    from .compile import Compilation
    from .device_caches import DeviceCaches


class JITFunction(KernelInterface):
    """A kernel, with what Triton's users find on one.

    fn: the Python function; `__globals__`, `signature`, `src` (the text from its `def` on) and
    `cache_key` (a hash of the text and its place) are the function's. params: its parameters, each
    with `name`, `num`, `default`, `annotation`, `is_constexpr`, `do_not_specialize`; arg_names,
    constexprs: the names of all, of the constexprs. key_parts: for each the function that gives the
    quick key of its arguments; quick: the quick launch done last. version, noinline, debug,
    launch_metadata: as given to `@jit`. compilations: what was compiled, by key (`cache.py`).
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
        self.version, self.noinline = version, noinline
        self.debug = os.environ.get("TRITON_DEBUG") == "1" if debug is None else debug
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self._repr, self.launch_metadata = repr, launch_metadata
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.compilations: dict[Any, Compilation] = {}
        self._plans: dict[Any, Plan] = {}
        self._become(fn)

    def _become(self, fn: FunctionType) -> None:
        """Takes a Python function for the kernel's."""
        remember(fn)
        self.fn = fn
        self.signature = inspect.signature(fn)
        self.__globals__ = fn.__globals__
        self.params = parameters(fn, self.do_not_specialize, self.do_not_specialize_on_alignment)
        self.arg_names = [parameter.name for parameter in self.params]
        self.constexprs = [p.name for p in self.params if p.is_constexpr]
        self._fixed = frozenset(p.name for p in self.params if p.do_not_specialize)
        self._options = LAUNCH_OPTIONS.keys() - set(self.arg_names)
        self.key_parts = [key_part_of(one) for one in self.params]
        self._bind = binder(fn, self.params, self.key_parts)
        self._entry = entry(fn, self)
        self.quick = never
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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Inlines the function into the kernel being compiled. Raises CompileError elsewhere."""
        if not tracing():
            raise CompileError(
                f"{self.fn.__name__} is a kernel: launch it with {self.fn.__name__}[grid](…)"
            )
        from ..frontend.inline import inline  # with all that rewrites: loaded by the first trace

        kwargs = {key: v for key, v in kwargs.items() if key not in ("_semantic", "_generator")}
        return inline(self.fn, args, kwargs)

    # -- what a kernel says of itself

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

    def repr(self, specialization: Any) -> str:
        """The name of a compilation: what `@jit(repr=…)` makes of an object with `constants` (the
        constexprs' values by name) and `signature` (types by name), else the function's."""
        return self.__name__ if self._repr is None else self._repr(specialization)

    def parse(self) -> Any:
        """The source as an `ast.Module`."""
        import ast

        return ast.parse(self.src)

    def create_binder(self) -> Callable[..., Any]:
        """The function with the kernel's signature that returns its arguments in order, and what
        each adds to the key of a launch."""
        return self._bind

    @property
    def device_caches(self) -> DeviceCaches:
        """What was compiled, by device and then by key: `kernel.device_caches[0][0]`. All devices
        of a process share their compilations here."""
        from .device_caches import DeviceCaches

        return DeviceCaches(self)

    def _unsafe_update_src(self, new_src: str) -> None:
        """Makes the kernel that of another source text, a `def` of the same name, in the globals it
        had. Raises CompileError where the text is none, or where the function is a closure."""
        from .source_text import function_from

        self.clear_cache()
        self._become(function_from(self.fn, new_src))

    # -- launching

    def clear_cache(self) -> None:
        """Forgets every compilation of this kernel, and the GPU kernels loaded for it."""
        driver = sys.modules.get(f"{targets.__name__}.cuda.launch.driver")
        if driver is not None:
            made = [c for c in self.compilations.values() if "cuda" in c.made()]
            driver.forget([compilation["cuda"] for compilation in made])
        self.compilations.clear()
        self._plans.clear()
        self.quick = never

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Adds a function called with the launch's arguments before each launch."""
        self.pre_run_hooks.append(hook)

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """Compiles for these arguments and runs nothing. A torch or NumPy dtype, or a `MockTensor`,
        stands for a tensor of it."""
        wrap = MockTensor.wrap_dtype
        constexprs = set(self.constexprs)
        given = [v if n in constexprs else wrap(v) for n, v in zip(self.arg_names, args)]
        named = {n: v if n in constexprs else wrap(v) for n, v in kwargs.items()}
        return self.run(*given, *args[len(given) :], grid=grid, warmup=True, **named)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        overridden = getattr(self.run, "__func__", None) is not RUN
        if self._entry is None or self.pre_run_hooks or overridden:
            return partial(self.run, grid=grid)
        return partial(self._entry, grid)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launches over the grid; with warmup only compiles. Gives a `CompiledKernel`; None where
        `jit_cache_hook` took the compilation upon itself.

        Raises CompileError and its kinds for faults of the kernel or of the arguments, KernelError
        for what goes wrong while it runs.
        """
        try:
            if warmup or self.pre_run_hooks or self._entry is None:
                return self.start(args, kwargs, grid, warmup)
            return self._entry(grid, *args, **kwargs)
        except KernelFault as error:
            raise at_kernel(error) from error.__cause__
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
        return self.start(args, kwargs, grid, False)  # they do not bind, and it says why

    def launch(
        self, grid: Any, values: Sequence[Any], rest: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        """A launch that was not quick: `values` are the parameters', some of them `MISSING`; `rest`
        are positional arguments too many, `options` keywords that are no parameters."""
        args, kwargs = as_given(list(self.signature.parameters.values()), values, rest)
        kwargs.update(options)
        warmup = "warmup" in options and bool(kwargs.pop("warmup"))
        return self.start(args, kwargs, grid, warmup)

    def start(self, args: Sequence[Any], kwargs: dict[str, Any], grid: Any, warmup: bool) -> Any:
        """A launch of these arguments and options, by the plan of an equal one or by a new one."""
        options: Mapping[str, Any] = {}
        if not self._options.isdisjoint(kwargs):
            options = {key: kwargs.pop(key) for key in tuple(kwargs) if key in self._options}
        values, parts = self._bound(args, kwargs)
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        plan = self._plan(values, parts, options, warmup)
        if plan is None:
            return None
        return plan.warm_up() if warmup else self._launch(plan, values, grid, options)

    def _launch(
        self, plan: Plan, values: tuple[Any, ...], grid: Any, options: Mapping[str, Any]
    ) -> CompiledKernel:
        """Launches by a plan: quickly where it can, and then the next launch tries that first."""
        done = plan.quick(grid, options, *values)
        if done is not MISS:
            self.quick = plan.quick
            return done  # type: ignore[no-any-return]
        if callable(grid):
            grid = grid(Meta(zip(self.arg_names, values)))
        if HOOKS.launch_enter_hook.calls or HOOKS.launch_exit_hook.calls:
            return self._launch_with_hooks(plan, values, grid, options)
        return plan.launch(grid, values)

    def _bound(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The arguments in the order of the parameters, and what each adds to a launch's key."""
        try:
            bound: tuple[tuple[Any, ...], tuple[Any, ...]] = self._bind(*args, **kwargs)
            return bound
        except TypeError as error:
            unknown = kwargs.keys() - set(self.arg_names)
            names = [*self.arg_names, *sorted(self._options if unknown else ())]
            raise CompileTypeError(wrong_arguments(error, names, kwargs)) from None

    def explain(self, *args: Any, grid: Any = None, gpu: str = "", **kwargs: Any) -> Any:
        """One page from this kernel's Python to machine code, for these arguments. With a grid its
        programs run on copies of the arrays, to record what each reads and writes; nothing is
        launched. gpu: the GPU that code is made for (`explorer/gpus.py`).

        Raises CompileError for faults of the kernel or of the arguments. What goes wrong while it
        runs is on the page.
        """
        from ..explorer.calls import explain_call

        options = {key: kwargs.pop(key) for key in tuple(kwargs) if key in self._options}
        values, _ = self._bound(args, kwargs)
        if callable(grid):
            grid = grid(Meta(zip(self.arg_names, values)))
        return explain_call(self, values, options, grid, gpu)

    def _launch_with_hooks(
        self, plan: Plan, values: Sequence[Any], grid: Any, options: Mapping[str, Any]
    ) -> CompiledKernel:
        compiled = CompiledKernel(plan.compilation, plan.target, None)
        named = dict(zip(self.arg_names, values))
        metadata = LaunchMetadata(compiled, self, grid, named, options)
        HOOKS.launch_enter_hook(metadata)
        launched = plan.launch(grid, values)
        HOOKS.launch_exit_hook(metadata)
        return launched

    def _plan(
        self,
        values: tuple[Any, ...],
        parts: tuple[Any, ...],
        options: Mapping[str, Any],
        warmup: bool,
    ) -> Plan | None:
        """How to launch with arguments like these, in the order of the parameters; None where a
        hook wants nothing compiled."""
        chosen = chosen_target(options.get("target"))
        like = Like(values, parts, options, chosen)
        try:
            asked = (self.debug, requested(), is_strict())
            plan = self._plans.get(key := (chosen, asked, parts, options_key(options)))
        except TypeError:  # an option that cannot be hashed, such as a dict of libraries
            return self._new_plan(values, options, chosen, warmup)
        if plan is not None and plan.compilation.violated() is None:
            return plan
        with compiling:
            plan = self._plans.get(key)  # another thread may have been faster
            if plan is None or plan.compilation.violated() is not None:
                plan = self._new_plan(values, options, chosen, warmup)
                if plan is not None and NEEDS_FULL_KEY not in parts:
                    plan = self._plans[key] = plan.quickened(self, like)
        return plan

    def _new_plan(
        self,
        values: Sequence[Any],
        options: Mapping[str, Any],
        chosen: str | None,
        warmup: bool,
    ) -> Plan | None:
        """A plan for arguments of kinds that were not seen before; compiles what is not there.

        Raises CompileError for options that the target refuses, and for what it cannot be given.
        """
        found = specialize(self.params, values)
        target = target_of(chosen, found.arrays)
        check_options(options, target)
        asked = compile_options(options, self.debug, target, self._fixed)
        told = partial(tell, self, target=target, warmup=warmup)
        compilation = self._compilation((asked, *found.key), found.arguments, target, told)
        if compilation is None:
            return None
        types = enumerate(compilation.arguments.values())
        places = tuple(place for place, ty in types if not isinstance(ty, Constexpr))
        makers = converters(compilation.types, [values[place] for place in places])
        nested = any(isinstance(ty, tuple) for ty in compilation.types)
        return Plan(compilation, target, tuple(zip(places, makers)), nested)

    def _compilation(
        self,
        key: tuple[Any, ...],
        arguments: Mapping[str, Any],
        target: str | None,
        told: Callable[..., Any] | None,
    ) -> Compilation | None:
        """The compilation of a key (its options first), made if there is none that still holds.
        told: calls a compilation hook; None where none is to be called."""
        from .compile import Compilation  # with tracing and the passes: loaded by the first launch

        compilation = self.compilations.get(key)
        if compilation is not None and compilation.violated() is None:
            return compilation
        name = self.repr(Specialized(arguments)) if self._repr else self.__name__
        if told is not None and told(HOOKS.jit_cache_hook, key, arguments):
            return None
        tell_why(name, key[0], arguments, self.compilations, key)
        compilation = Compilation(self.fn, arguments, key[0], name)
        compilation.prepare(target)
        self.compilations[key] = compilation
        if told is not None:
            told(HOOKS.jit_post_compile_hook, key, arguments)
        return compilation

    def preload(self, specialization_data: str) -> CompiledKernel:
        """Compiles for what `compile["specialization_data"]`, given to a compilation hook in this
        or another process, says; launches with such arguments find it.

        Raises CompileTypeError for the data of another kernel.
        """
        from .specialization_data import from_text

        arguments, options, target = from_text(self.__name__, specialization_data)
        asked = compile_options(options, self.debug, target, self._fixed)
        keys = (type_key(name, ty) for name, ty in arguments.items())
        with compiling:
            compilation = self._compilation((asked, *keys), arguments, target, None)
        assert compilation is not None, "without a hook there is one"
        return CompiledKernel(compilation, target, None)


RUN = JITFunction.run
"""The method as it is here; where a class or an object has another, launches go through that."""


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
