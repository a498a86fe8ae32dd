"""`@autotune`: constexprs and launch options chosen by timing.

For each new tuning key the configurations are pruned, timed one after the other, and the fastest is
used from then on; on a terminal a bar shows how far that is. A launch that only compiles (NumPy
arrays and no target) has nothing to time: it takes the first configuration.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from ..errors import CompileError, CompileValueError
from . import timing
from .arguments import is_array, one_family
from .compiled_kernel import arrays_in
from .config import Config
from .constexprs import exact
from .heuristics import Wrapper
from .target import chosen_target, target_of
from .tuning_progress import progress

Hook = Callable[..., Any]

WARMUP, REPEAT = 5.0, 20.0
"""How long a configuration is run before and while it is timed, in milliseconds."""

HOST_BUDGET = 4.0
"""Seconds that one tuning may take on a target of the host, compiling included. On a GPU there is
no limit. `MYTRITON_AUTOTUNE_SECONDS` sets both; 0 means no limit."""


class Autotuner(Wrapper):
    """Times configurations and launches the best; see `autotune`.

    The positional parameters are Triton's, and so are the names below, for classes derived from
    this one: `configs`, `keys`, `arg_names`, `fn`, `base_fn`; `cache`: the best configuration by
    tuning key; `best_config`: that of the last launch; `configs_timings`: [median, 0.2 and 0.8
    quantile] in milliseconds by configuration, of the last tuning; `bench_time`: how long it took
    in seconds; `nargs`: the positional arguments by name, during `run`; `restore_copies`; the hooks
    `pre_hook(kwargs, reset_only=False)` and `post_hook(kwargs, exception=)`, with
    `user_defined_pre_hook` and `user_defined_post_hook` saying whether they were given;
    `early_config_prune`, `perf_model`, `configs_top_k`; the methods `_bench`, `prune_configs`,
    `check_disk_cache`, `run`, `warmup`.
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
        warmup: float | None = None,
        rep: float | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        super().__init__(fn, arg_names)
        self.configs = list(configs) or [Config({})]
        self.keys = list(key)
        self._warn_of_unknown_keys()
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.restore_copies: dict[str, Any] = {}
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook: Hook = pre_hook or self._reset_and_copy
        self.post_hook: Hook = post_hook or self._restore
        prune = dict(prune_configs_by or {})
        self.early_config_prune = prune.get("early_config_prune")
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.num_warmups = WARMUP if warmup is None else warmup
        self.num_reps = REPEAT if rep is None else rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self.cache_results = cache_results
        self.cache: dict[Any, Config] = {}
        self.configs_timings: dict[Config, Any] = {}
        self.best_config: Config | None = None
        self.bench_time = 0.0
        self.nargs: dict[str, Any] | None = None
        self._refused: set[Any] = set()

    def _warn_of_unknown_keys(self) -> None:
        unknown = [name for name in self.keys if name not in self.arg_names]
        if unknown:
            warnings.warn(
                f"autotune: key {unknown} names no parameter of {self.__name__}, so it chooses"
                f" nothing; there are {self.arg_names}",
                stacklevel=4,
            )

    @cached_property
    def do_bench(self) -> Callable[..., Any]:
        """What times a call: `do_bench(call, quantiles=…)` in milliseconds."""
        if self._do_bench is not None:
            return self._do_bench
        if self.use_cuda_graph:
            return partial(timing.do_bench_cudagraph, rep=self.num_reps)
        return partial(timing.do_bench, warmup=self.num_warmups, rep=self.num_reps)

    def chosen(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the best configuration of the last launch says; before any, the first one's."""
        return (self.best_config or self.configs[0]).all_kwargs()

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launches with the best configuration for these arguments, after tuning if they are new.

        Raises CompileValueError where a configuration sets what the caller passes too.
        """
        self.nargs = dict(zip(self.arg_names, args))
        meta = {"grid": grid, "warmup": warmup, **kwargs}
        try:
            config = self.best_config = self._choose(args, meta)
            self._refuse_conflicts(config, kwargs)
            if config.pre_hook is not None and not warmup:
                config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
            return self.fn.run(*args, **meta, **config.all_kwargs())
        finally:
            self.nargs = None

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> list[Any]:
        """Compiles every configuration that pruning leaves, and runs nothing; what each gives."""
        self.nargs = dict(zip(self.arg_names, args))
        try:
            configs = self.prune_configs(kwargs)
            return [
                self.fn.warmup(*args, grid=grid, **kwargs, **config.all_kwargs())
                for config in configs
            ]
        finally:
            self.nargs = None

    def _refuse_conflicts(self, config: Config, kwargs: Mapping[str, Any]) -> None:
        given = {*(self.nargs or ()), *kwargs}
        conflicts = sorted(given & config.all_kwargs().keys())
        if conflicts:
            raise CompileValueError(
                f"{', '.join(conflicts)}: set by {config!r} of the autotuner of {self.__name__} and"
                " passed by the caller too; leave it out of the launch or of the configurations"
            )

    def _choose(self, args: Sequence[Any], meta: Mapping[str, Any]) -> Config:
        """The best configuration for these arguments; remembered if it was measured."""
        if len(self.configs) == 1:
            return self.configs[0]
        named = {**(self.nargs or {}), **meta}
        key = self._tuning_key(named)
        found = self.cache.get(key)
        if found is not None:
            return found
        configs = self.prune_configs({k: v for k, v in meta.items() if k not in _OF_THE_LAUNCH})
        if meta["warmup"] or len(configs) == 1 or not self._runs(named):
            return configs[0]
        tune = partial(self._tune, key, configs, args, meta)
        known = self.check_disk_cache(key, configs, tune) if self.cache_results else tune()
        best = self.cache[key]
        if os.environ.get("TRITON_PRINT_AUTOTUNING") == "1" and not known:
            print(
                f"Triton autotuning for function {self.__name__},\nwith key as {key},\n"
                f"finished after {self.bench_time:.2f}s,\nbest config selected: {best};"
            )
        return best

    def _tuning_key(self, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """What a choice is kept by: the target, the values of the key arguments with their types,
        and the dtypes of all arrays. Of an array in the key its shape counts."""
        mine = {name: value for name, value in named.items() if name in self.arg_names}
        values = tuple(_key_value(mine[name]) for name in self.keys if name in mine)
        arrays = [value for value in mine.values() if hasattr(value, "dtype")]
        devices = {str(getattr(value, "device", "")) for value in arrays}
        where = chosen_target(named.get("target")), *sorted(devices)
        return (where, *values, *(str(value.dtype) for value in arrays))

    def _runs(self, named: Mapping[str, Any]) -> bool:
        return self._target(named) is not None

    def _target(self, named: Mapping[str, Any]) -> str | None:
        """Where the launch runs; None if it only compiles."""
        mine = [value for name, value in named.items() if name in self.arg_names]
        return target_of(named.get("target"), one_family(arrays_in(mine)))

    def _tune(
        self, key: Any, configs: Sequence[Config], args: Sequence[Any], meta: Mapping[str, Any]
    ) -> None:
        """Times the configurations and keeps the fastest under the key.

        Stops early when the time budget is used up and one configuration has worked.
        """
        start = time.perf_counter()
        named = {**(self.nargs or {}), **meta}
        limit = _budget(self._target(named))
        timings: dict[Config, Any] = {}
        with progress(self.__name__, len(configs)) as advance:
            for config in configs:
                spent = time.perf_counter() - start
                if spent > limit and any(map(_succeeded, timings.values())):
                    break
                timings[config] = self._bench_or_recall(config, key, args, meta)
                advance(_median(timings[config]))
        self.bench_time = time.perf_counter() - start
        best = self.cache[key] = min(timings, key=lambda config: _median(timings[config]))
        self.pre_hook({**named, **best.all_kwargs()}, reset_only=True)
        self.configs_timings = timings

    def _bench_or_recall(
        self, config: Config, key: Any, args: Sequence[Any], meta: Mapping[str, Any]
    ) -> Any:
        """The timing of a configuration; of one that was refused for arguments of these types and
        on this target before, infinity at once."""
        types = tuple(
            _key_value(value) if name in self.kernel.constexprs else type(value).__name__
            for name, value in {**(self.nargs or {}), **meta}.items()
            if name in self.arg_names
        )
        known = config, key[0], key[len(self.keys) + 1 :], types
        if known in self._refused:
            return [float("inf")] * 3
        timed = self._bench(*args, config=config, **meta)
        if not _succeeded(timed):
            self._refused.add(known)
        return timed

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Any:
        """Times one configuration: [median, 0.2 and 0.8 quantile] in milliseconds; infinities where
        its target refuses to compile it. What goes wrong while it runs is raised."""
        kwargs = {name: value for name, value in meta.items() if name not in _OF_THE_LAUNCH}
        self._refuse_conflicts(config, kwargs)
        current = {**meta, **config.all_kwargs()}
        full = {**(self.nargs or {}), **kwargs, **config.all_kwargs()}

        def call() -> None:
            if config.pre_hook is not None:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                self.post_hook(full, exception=error)
                raise
            self.post_hook(full, exception=None)

        try:
            return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except CompileError:
            return [float("inf")] * 3

    def prune_configs(self, kwargs: Mapping[str, Any]) -> list[Config]:
        """The configurations worth timing for the arguments in `nargs` and `kwargs`.

        Raises CompileValueError where `early_config_prune` leaves none.
        """
        named = dict(self.nargs or {})
        configs = self.configs
        if self.early_config_prune is not None:
            configs = list(self.early_config_prune(configs, named, **kwargs))
            if not configs:
                raise CompileValueError("autotune: early_config_prune left no configuration")
        if self.perf_model is not None:
            top = self.configs_top_k
            part = isinstance(top, float) and top <= 1.0
            count = int(len(self.configs) * top) if part else int(top)
            cost = {c: self.perf_model(**named, **kwargs, **c.all_kwargs()) for c in configs}
            configs = sorted(configs, key=cost.__getitem__)[: max(1, count)]
        return configs

    def check_disk_cache(
        self, tuning_key: Any, configs: Sequence[Config], bench_fn: Callable[[], None]
    ) -> bool:
        """Takes the choice found on disk, or calls `bench_fn` and puts its choice there. Returns
        whether one was found. Configurations with a pre_hook are timed every time."""
        from .tuning_cache import choice_key, read_choice, write_choice

        if any(config.pre_hook is not None for config in configs):
            bench_fn()
            return False
        kept_by = choice_key(
            self.kernel.fn, (repr(tuning_key), *(repr(c.all_kwargs()) for c in configs))
        )
        stored = read_choice(kept_by)
        if stored is not None and 0 <= stored < len(configs):
            self.cache[tuning_key] = configs[stored]
            return True
        bench_fn()
        write_choice(kept_by, list(configs).index(self.cache[tuning_key]))
        return False

    # -- the hooks where none were given

    def _reset_and_copy(self, kwargs: Mapping[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            _assign(kwargs[name], 0)
        if not reset_only:
            kept = [name for name in self.restore_value if kwargs[name] is not None]
            self.restore_copies = {name: _copy(kwargs[name]) for name in kept}

    def _restore(self, kwargs: Mapping[str, Any], exception: Exception | None = None) -> None:
        for name, value in self.restore_copies.items():
            _assign(kwargs[name], value)
        self.restore_copies = {}


_OF_THE_LAUNCH = ("grid", "warmup")


def _budget(target: str | None) -> float:
    """Seconds that a tuning on the target may take."""
    chosen = os.environ.get("MYTRITON_AUTOTUNE_SECONDS", "")
    seconds = float(chosen) if chosen else (0.0 if target == "cuda" else HOST_BUDGET)
    return seconds or float("inf")


def _key_value(value: Any) -> Any:
    if is_array(value):
        return "array", tuple(getattr(value, "shape", ()))
    return exact(value)


def _median(timings: Any) -> float:
    return float(timings[0]) if isinstance(timings, (list, tuple)) else float(timings)


def _succeeded(timings: Any) -> bool:
    return _median(timings) != float("inf")


def _copy(array: Any) -> Any:
    return array.clone() if hasattr(array, "clone") else array.copy()


def _assign(array: Any, value: Any) -> None:
    """Writes an array in place, from another or from a number; None has nothing to write."""
    if array is None:
        return
    if hasattr(array, "copy_"):
        array.fill_(value) if isinstance(value, int) else array.copy_(value)
    else:
        array[...] = value


def autotune(
    configs: Iterable[Config],
    key: Iterable[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Hook | None = None,
    post_hook: Hook | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[Any], Autotuner]:
    """`@autotune(configs=[Config({"BLOCK": 64}), …], key=["n"])`: for each new value of the key
    arguments the configurations are timed, and the fastest is used from then on.

    key: names of parameters; a new value, target or dtype of an array tunes again. 1, True and 1.0
    are different values, 0.0 and -0.0 too.
    prune_configs_by: `early_config_prune(configs, named_args, **kwargs)` gives the configurations
    to keep, `perf_model(**args)` a cost, `top_k` how many of the cheapest to time (an int, or a
    part of all up to 1.0).
    reset_to_zero, restore_value: arrays set to zero before, or put back after, each timed run; an
    argument that is None is left alone. pre_hook(args, reset_only=False), post_hook(args,
    exception=): called around each timed run instead.
    warmup, rep: milliseconds to run before and while timing. use_cuda_graph: time on a GPU as a
    graph. do_bench(call, quantiles=…): times a call instead. cache_results: keeps the choice on
    disk. On the CPU a tuning takes at most 4 seconds (MYTRITON_AUTOTUNE_SECONDS; 0: no limit).
    TRITON_PRINT_AUTOTUNING=1 prints each choice.
    Raises, when launched, CompileValueError for an argument that a configuration sets too; what a
    configuration does wrong while it runs (a KernelError) is raised, not scored.
    """
    return lambda fn: Autotuner(
        fn, None, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by,
        warmup, rep, use_cuda_graph, do_bench, cache_results,
    )  # fmt: skip
