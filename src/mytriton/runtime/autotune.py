"""`@autotune` and `@heuristics`: constexprs chosen by timing, or computed from the arguments.

One idea: both wrap anything with `run` and only add keywords, so they stack in any order. A launch
that only compiles (NumPy arrays and no target) has nothing to time: it takes the first
configuration.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import CompileError, CompileValueError
from . import timing
from .arguments import is_array, one_family
from .jit import JITFunction, KernelInterface
from .launch import target_of

Hook = Callable[..., Any]


class Config:
    """One choice of an autotuner: values of constexprs, and launch options.

    kwargs: constexpr values by name. num_warps, num_stages, num_ctas, maxnreg: launch options,
    passed on where they are given. pre_hook: called with the arguments by name before each launch.
    """

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int | None = None,
        num_stages: int | None = None,
        num_ctas: int | None = None,
        maxnreg: int | None = None,
        pre_hook: Hook | None = None,
        ir_override: Any = None,
    ) -> None:
        self.kwargs = dict(kwargs)
        options = {
            "num_warps": num_warps,
            "num_stages": num_stages,
            "num_ctas": num_ctas,
            "maxnreg": maxnreg,
            "ir_override": ir_override,
        }
        self.options = {name: value for name, value in options.items() if value is not None}
        self.num_warps = 4 if num_warps is None else num_warps
        self.num_stages = 3 if num_stages is None else num_stages
        self.num_ctas = 1 if num_ctas is None else num_ctas
        self.maxnreg, self.pre_hook, self.ir_override = maxnreg, pre_hook, ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """The keywords that a launch with this configuration gets."""
        return {**self.kwargs, **self.options}

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    def __repr__(self) -> str:
        return f"Config({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.all_kwargs() == other.all_kwargs()

    def __hash__(self) -> int:
        return hash(tuple(sorted((name, repr(v)) for name, v in self.all_kwargs().items())))


class Wrapper(KernelInterface):
    """What wraps a kernel: it has the kernel's names, and in a kernel it is the kernel."""

    def __init__(self, fn: Any, arg_names: Sequence[str] | None = None) -> None:
        self.fn = fn
        self.arg_names = list(fn.arg_names if arg_names is None else arg_names)
        base: Any = fn
        while not isinstance(base, JITFunction):
            base = base.fn
        self.base_fn: Any = base
        self.__name__, self.__doc__ = base.__name__, base.__doc__
        self.__module__, self.__qualname__ = base.__module__, base.__qualname__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def clear_cache(self) -> None:
        """Forgets the kernel's compilations."""
        self.fn.clear_cache()

    def named(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {**dict(zip(self.arg_names, args)), **kwargs}


class Heuristics(Wrapper):
    """Computes constexprs from the other arguments; see `heuristics`."""

    def __init__(
        self, fn: Any, arg_names: Sequence[str] | None, values: Mapping[str, Callable[..., Any]]
    ) -> None:
        super().__init__(fn, arg_names)
        self.values = values

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        for name, value in self.values.items():
            kwargs[name] = value(self.named(args, kwargs))
        return self.fn.run(*args, grid=grid, warmup=warmup, **kwargs)


def heuristics(
    values: Mapping[str, Callable[[dict[str, Any]], Any]],
) -> Callable[[Any], Heuristics]:
    """`@heuristics({"EVEN": lambda args: args["n"] % 128 == 0})`: each constexpr is computed from
    the launch's arguments by name."""
    return lambda fn: Heuristics(fn, None, values)


WARMUP, REPEAT = 5.0, 20.0
"""How long a configuration is run before and while it is timed, in milliseconds."""


class Autotuner(Wrapper):
    """Times configurations and launches the best; see `autotune`.

    cache: the best configuration by key. best_config: that of the last launch. configs_timings: the
    times of the last tuning, by configuration.
    """

    def __init__(
        self,
        fn: Any,
        arg_names: Sequence[str] | None,
        configs: Iterable[Config],
        key: Iterable[str],
        reset_to_zero: Sequence[str] | None = None,
        restore_value: Sequence[str] | None = None,
        pre_hook: Hook | None = None,
        post_hook: Hook | None = None,
        prune_configs_by: Mapping[str, Any] | None = None,
        warmup: int | None = None,
        rep: int | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        super().__init__(fn, arg_names)
        self.configs = list(configs) or [Config({})]
        self.keys = list(key)
        unknown = [name for name in self.keys if name not in self.arg_names]
        if unknown:
            warnings.warn(
                f"autotune: key {unknown} names no parameter of {self.__name__}, so it chooses"
                f" nothing; there are {self.arg_names}",
                stacklevel=3,
            )
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.pre_hook, self.post_hook = pre_hook, post_hook
        self.prune = dict(prune_configs_by or {})
        self.do_bench = do_bench or partial(
            timing.do_bench,
            warmup=WARMUP if warmup is None else warmup,
            rep=REPEAT if rep is None else rep,
        )
        self.cache_results = cache_results
        self.cache: dict[Any, Config] = {}
        self.configs_timings: dict[Config, float] = {}
        self.best_config: Config | None = None

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        named = self.named(args, kwargs)
        key = self.key(named)
        config = self.cache.get(key)
        if config is None:
            config = self.choose(key, named, args, grid, warmup, kwargs)
        self.best_config = config
        if config.pre_hook is not None and not warmup:
            config.pre_hook({**named, **config.all_kwargs()})
        given = {**kwargs, **config.all_kwargs()}
        return self.fn.run(*args, grid=grid, warmup=warmup, **given)

    def key(self, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of the key arguments, and the dtypes of all arrays."""
        values = tuple(named.get(name) for name in self.keys)
        dtypes = (str(value.dtype) for value in named.values() if hasattr(value, "dtype"))
        return (*values, *dtypes)

    def choose(
        self,
        key: Any,
        named: dict[str, Any],
        args: Sequence[Any],
        grid: Any,
        warmup: bool,
        kwargs: dict[str, Any],
    ) -> Config:
        """The best configuration for these arguments; remembered if it was measured."""
        configs = self.pruned(named, kwargs)
        arrays = [(name, value) for name, value in named.items() if is_array(value)]
        runs = target_of(kwargs.get("target"), one_family(arrays)) is not None
        if len(configs) == 1 or warmup or not runs:
            return configs[0]
        timed = partial(self.best, configs, named, args, grid, kwargs)
        best = self.kept(key, configs, timed) if self.cache_results else timed()
        self.cache[key] = best
        return best

    def best(
        self,
        configs: Sequence[Config],
        named: dict[str, Any],
        args: Sequence[Any],
        grid: Any,
        kwargs: dict[str, Any],
    ) -> Config:
        """The fastest of the configurations."""
        self.configs_timings = {
            config: self.time(config, named, args, grid, kwargs) for config in configs
        }
        self.after(named)
        return min(self.configs_timings, key=self.configs_timings.__getitem__)

    def kept(self, key: Any, configs: list[Config], timed: Callable[[], Config]) -> Config:
        """The choice found on disk, or the one timed now, which is put there."""
        from .choices import choice_file, read_choice, write_choice

        facts = (self.base_fn.src, repr(key), *map(str, configs))
        file = choice_file(self.base_fn.__name__, facts)
        stored = read_choice(file)
        if stored is not None and stored < len(configs):
            return configs[stored]
        best = timed()
        write_choice(file, configs.index(best))
        return best

    def pruned(self, named: dict[str, Any], kwargs: dict[str, Any]) -> list[Config]:
        """The configurations worth timing."""
        configs = self.configs
        early, model = self.prune.get("early_config_prune"), self.prune.get("perf_model")
        if early is not None:
            configs = list(early(configs, named, **kwargs))
            if not configs:
                raise CompileValueError("autotune: early_config_prune left no configuration")
        if model is not None:
            top = self.prune.get("top_k", len(configs))
            count = int(len(configs) * top) if isinstance(top, float) and top <= 1.0 else int(top)
            cost = {c: model(**named, **c.all_kwargs()) for c in configs}
            configs = sorted(configs, key=cost.__getitem__)[: max(1, count)]
        return configs

    def time(
        self,
        config: Config,
        named: dict[str, Any],
        args: Sequence[Any],
        grid: Any,
        kwargs: dict[str, Any],
    ) -> float:
        """Milliseconds of a launch; infinite where the configuration cannot be compiled."""
        given = {**kwargs, **config.all_kwargs()}
        full = {**named, **config.all_kwargs()}
        kept = {name: _copy(named[name]) for name in self.restore_value}

        def call() -> None:
            self.before(config, full)
            error: Exception | None = None
            try:
                self.fn.run(*args, grid=grid, **given)
            except Exception as raised:
                error = raised
                raise
            finally:
                for name, value in kept.items():
                    _assign(named[name], value)
                if self.post_hook is not None:
                    self.post_hook(full, exception=error)

        try:
            result = self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except CompileError:
            if len(self.configs) == 1:
                raise
            return float("inf")
        return float(result[0]) if isinstance(result, (list, tuple)) else float(result)

    def before(self, config: Config, full: dict[str, Any]) -> None:
        if config.pre_hook is not None:
            config.pre_hook(full)
        if self.pre_hook is not None:
            self.pre_hook(full)
        for name in self.reset_to_zero:
            _assign(full[name], 0)

    def after(self, named: dict[str, Any]) -> None:
        """Puts the arguments as the launch that was asked for must find them."""
        for name in self.reset_to_zero:
            _assign(named[name], 0)
        if self.pre_hook is not None:
            self.pre_hook(named, reset_only=True)


def _copy(array: Any) -> Any:
    return array.clone() if hasattr(array, "clone") else array.copy()


def _assign(array: Any, value: Any) -> None:
    """Writes an array in place, from another or from a number."""
    if hasattr(array, "copy_"):
        array.fill_(value) if isinstance(value, int) else array.copy_(value)
    else:
        array[...] = value


def autotune(configs: Iterable[Config], key: Iterable[str], **options: Any) -> Callable[[Any], Any]:
    """`@autotune(configs=[Config({"BLOCK": 64}), …], key=["n"])`: for each new value of the key
    arguments the configurations are timed, and the best is used from then on.

    Options as in Triton: prune_configs_by, reset_to_zero, restore_value, pre_hook, post_hook,
    do_bench, cache_results, warmup, rep, use_cuda_graph.
    """
    return lambda fn: Autotuner(fn, None, configs, key, **options)
