"""The quick launch: a function generated for launches like one that has been done.

A launch of a few microseconds can afford neither a dict of keys nor an object per array. For a plan
whose arguments are plain arrays, numbers and constexprs this module writes a function that looks
whether a launch is one of its kind, reads the addresses, and calls the target. For add_kernel(x, y,
out, n, BLOCK) on NumPy arrays of f32 and the target cpu it is, shortened,

    def launch(grid, options, v0, v1, v2, v3, v4):
        if not (
            v0.__class__ is ndarray and v0.dtype is d0 and v0.flags.c_contiguous and …
            and v3.__class__ is int and -2147483648 <= v3 <= 2147483647
            and v4.__class__ is int and v4 == 64
            and (options == with_target if options else process.target == chosen)
            and kernel.debug is debug and not requested() and not kernel.pre_run_hooks and …
            and violated() is None
        ): return MISS
        extents = grid_of(grid)
        a0 = s0 = address(id(v0) + 16).value or 0
        a1 = …
        if a0 & 3 or a1 & 3 or a2 & 3 or not v2.flags.writeable:
            return long(extents, (v0, v1, v2, v3, v4))
        e0 = s0 + v0.nbytes; e1 = …
        overlap = s0 < e2 and s2 < e0 or s1 < e2 and s2 < e1
        launchers[overlap](*extents, a0, a1, a2, v3)
        return results[extents]

It gives `MISS` for a launch of another kind, before anything has been done. Where an argument is
amiss the plan's own `launch` finds out what, and says so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ..frontend.guards import MISSING, Guards
from ..ir.nodes import Param
from ..ir.types import F32, PointerType, ScalarType
from ..strict import is_strict
from ..targets import Device, Grid, Launcher, QuickExecutable
from .arguments import NEEDS_FULL_KEY
from .arrays import TORCH_GPU_READER, Reader, array_kind
from .checks import requested
from .compiled_kernel import CompiledKernel
from .hooks import HOOKS
from .launch import Meta, grid_of
from .parameters import Parameter
from .target import Process, chosen_target, open_blocks

if TYPE_CHECKING:
    from .jit import JITFunction
    from .plan import Plan

QuickLaunch = Callable[..., Any]
"""`launch(grid, options, *values)`: what the launch gives, or `MISS`."""
MISS: Any = type("Miss", (), {"__repr__": lambda self: "MISS"})()


def never(grid: Any, options: Mapping[str, Any], *values: Any) -> Any:
    """The quick launch of a kernel that has none yet."""
    return MISS


@dataclass(frozen=True)
class Like:
    """The launch that others are compared with.

    values: of the parameters, in order; parts: their quick keys, as `bind` gives them; options:
    those of the launch; chosen: the target that was chosen, None where none was.
    """

    values: Sequence[Any]
    parts: Sequence[Any]
    options: Mapping[str, Any]
    chosen: str | None


def quick_launch(kernel: JITFunction, plan: Plan, like: Like) -> QuickLaunch | None:
    """The function for launches like one; None where an argument cannot be read quickly, or an
    option cannot be compared quickly."""
    if NEEDS_FULL_KEY in like.parts or not all(type(v) in _PLAIN for v in like.options.values()):
        return None
    places = [place for place, _ in plan.converters]
    params = plan.compilation.traced.function.params
    read = _reading(dict(zip(places, params)), plan.compilation.may_store_to, like.values)
    if read is None:
        return None
    space = _space(kernel, plan, like)
    conditions = [
        *(_condition(one, like, kernel.key_parts[one.num], space) for one in kernel.params),
        *_conditions_of_the_rest(like),
        _guards(plan.compilation.traced.guards, space),
    ]
    text = _text(len(like.values), conditions, read)
    exec(compile(text, f"<quick launch of {kernel.__name__}>", "exec"), space)
    made: QuickLaunch = space["launch"]
    return made


_PLAIN = (bool, int, str, type(None))


# -- is it a launch of this kind?


def _condition(
    parameter: Parameter, like: Like, key_part: Callable[[Any], Any], space: dict[str, Any]
) -> str:
    """True for arguments of the parameter that have the key of the one given; adds what it reads
    to the namespace."""
    place = parameter.num
    value, name = like.values[place], f"v{place}"
    kind = None if parameter.is_constexpr or parameter.declared else array_kind(value)
    if kind is not None and kind.reader is not None:
        space |= {f"c{place}": type(value), f"d{place}": value.dtype}
        if kind.reader.device is not None:
            space[f"g{place}"] = kind.reader.device(value)
        same = kind.reader.same.replace("#", str(place))
        return f"{name}.__class__ is c{place} and {same}"
    if value is None or type(value) is bool:
        known = parameter.is_constexpr or value is None
        return f"{name} is {value}" if known else f"{name}.__class__ is bool"
    if parameter.is_constexpr and type(value) in (int, str):
        return f"{name}.__class__ is {type(value).__name__} and {name} == {value!r}"
    if type(value) is float and not parameter.is_constexpr and not parameter.declared:
        return f"{name}.__class__ is float"
    if type(value) is int and not parameter.is_constexpr:
        return f"{name}.__class__ is int and {_range(parameter.declared, value, name)}"
    space |= {f"p{place}": key_part, f"k{place}": like.parts[place]}
    return f"p{place}({name}) == k{place}"


def _range(declared: Any, value: int, name: str) -> str:
    """The ints that have the type of the given one: the declared type, or the first that fits."""
    if isinstance(declared, ScalarType):
        whole = declared.kind in "iu"
        return f"{declared.min_int} <= {name} <= {declared.max_int}" if whole else "True"
    if -(2**31) <= value < 2**31:
        return f"-2147483648 <= {name} <= 2147483647"
    if value >= 2**63:
        return f"{2**63} <= {name} < {2**64}"
    return f"(2147483647 < {name} < {2**63} or {-(2**63)} <= {name} < -2147483648)"


def _conditions_of_the_rest(like: Like) -> Iterator[str]:
    """Of all that chooses code, or does more than launch, beside the arguments."""
    process = "process.target or process.environment"
    chosen = f"(chosen_target(None) if open_blocks() else {process}) == chosen"
    if like.options.keys() - {"target"}:
        yield "{name: value.__class__ for name, value in options.items()} in classes"
        yield f"(options == with_target if 'target' in options else options == given and {chosen})"
    else:
        yield f"(options == with_target if options else {chosen})"
    yield "kernel.debug is debug"
    yield "not requested() and is_strict() is strict"
    yield "not kernel.pre_run_hooks"
    yield "not hooks.launch_enter_hook.calls and not hooks.launch_exit_hook.calls"


def _guards(guards: Guards, space: dict[str, Any]) -> str:
    """True where nothing is violated: entries are compared by identity first, one by one."""
    if guards.others or len(guards.entries) > UNROLLED_GUARDS:
        return "violated() is None"
    parts = []
    for number, entry in enumerate(guards.entries):
        space |= {f"get{number}": entry.get, f"value{number}": entry.value}
        parts.append(f"get{number}({entry.name!r}, missing) is value{number}")
    return f"({' and '.join(parts) or 'True'} or violated() is None)"


UNROLLED_GUARDS = 16


def _space(kernel: JITFunction, plan: Plan, like: Like) -> dict[str, Any]:
    """What the function reads beside its arguments."""
    given = {name: value for name, value in like.options.items() if name != "target"}
    with_target = {**given, "target": like.chosen}
    return {
        "__name__": __name__,
        "MISS": MISS,
        "Meta": Meta,
        "results": Results(plan),
        "address": ctypes.c_void_p.from_address,
        "c_float": ctypes.c_float,
        "grid_of": grid_of,
        "chosen_target": chosen_target,
        "open_blocks": open_blocks,
        "process": Process,
        "requested": requested,
        "is_strict": is_strict,
        "strict": is_strict(),
        "hooks": HOOKS,
        "kernel": kernel,
        "debug": kernel.debug,
        "chosen": like.chosen,
        "given": given,
        "with_target": with_target,
        "classes": [
            {name: type(value) for name, value in one.items()} for one in (given, with_target)
        ],
        "names": tuple(kernel.arg_names),
        "violated": plan.compilation.traced.guards.violated,
        "missing": MISSING,
        "long": plan.launch,
        "launchers": Launchers(plan, _device(like.values)),
    }


class Results(dict[Grid, CompiledKernel]):
    """What launches give, by their grids; those of a few grids are kept."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __missing__(self, grid: Grid) -> CompiledKernel:
        if len(self) >= RESULTS_KEPT:
            self.clear()
        found = self[grid] = CompiledKernel(self.plan.compilation, self.plan.target, grid)
        return found


RESULTS_KEPT = 64


def _device(values: Sequence[Any]) -> Device | None:
    """The GPU that the first array lies on, and whether the stream is torch's."""
    for value in values:
        kind = array_kind(value)
        if kind is not None and kind.reader is not None and kind.reader.device is not None:
            return Device(kind.reader.device(value), kind.reader is TORCH_GPU_READER)
    return None


class Launchers(dict[bool, Launcher]):
    """What launches on the target, by whether arrays that the kernel stores to share memory."""

    def __init__(self, plan: Plan, device: Device | None) -> None:
        self.plan, self.device = plan, device

    def __missing__(self, overlap: bool) -> Launcher:
        assert self.plan.target is not None, "a launch that only compiles is not quick"
        executable = self.plan.compilation.executable(self.plan.target, overlap)
        assert isinstance(executable, QuickExecutable), self.plan.target
        found = self[overlap] = executable.launcher(self.device)
        return found


# -- reading the arguments


@dataclass(frozen=True)
class _Pointer:
    """A pointer argument: its place among the values, how its array is read, and whether the kernel
    may store to it."""

    place: int
    size: int
    reader: Reader
    written: bool

    def text(self, part: str) -> str:
        return part.replace("#", str(self.place))


@dataclass(frozen=True)
class _Reading:
    """given: for each run-time argument the text of what the target is given."""

    given: tuple[str, ...]
    pointers: tuple[_Pointer, ...]


def _reading(
    params: Mapping[int, Param], stored: frozenset[Param], values: Sequence[Any]
) -> _Reading | None:
    """How values like these are read; params: the run-time ones by place. None where some argument
    is neither a number nor an array that can be read quickly."""
    given: list[str] = []
    pointers: list[_Pointer] = []
    for place, param in params.items():
        kind = array_kind(values[place])
        if isinstance(param.ty, PointerType) and kind is not None and kind.reader is not None:
            size, written = param.ty.element.itemsize, param in stored
            pointers.append(_Pointer(place, size, kind.reader, written))
            given.append(f"a{place}")
            continue
        number = _number(param.ty, f"v{place}", values[place])
        if number is None:
            return None
        given.append(number)
    return _Reading(tuple(given), tuple(pointers))


def _number(ty: Any, name: str, value: Any) -> str | None:
    """The text of a number argument, which its condition has found to be of the value's class."""
    if not isinstance(ty, ScalarType):
        return None
    if ty is F32 and type(value) is float:  # what is too large is infinite, as a C float is
        return f"{name} if -3.4e38 < {name} < 3.4e38 else c_float({name}).value"
    plain = (ty.kind in "iu" and type(value) is int) or (ty.kind == "b" and type(value) is bool)
    return name if plain else None


def _text(count: int, conditions: Sequence[str], read: _Reading) -> str:
    values = "".join(f"v{place}, " for place in range(count))
    pointers = read.pointers
    amiss = [f"a{p.place} & {p.size - 1}" for p in pointers if p.size > 1]
    amiss += [p.text(p.reader.amiss) for p in pointers if p.reader.amiss]
    amiss += [p.text(p.reader.locked) for p in pointers if p.reader.locked and p.written]
    pairs = [(a, b) for a, b in combinations(pointers, 2) if a.written or b.written]
    spans = sorted({p.place: p for pair in pairs for p in pair}.items())
    overlaps = [f"s{a.place} < e{b.place} and s{b.place} < e{a.place}" for a, b in pairs]
    reads = [
        *(p.text(p.reader.address) for p in pointers),
        *([f"if {' or '.join(amiss)}: return long(extents, ({values}))"] if amiss else ()),
        *(p.text(p.reader.span) for _, p in spans),
    ]
    lines = "\n        ".join(reads or ["pass"])
    every = "\n        and ".join(conditions)
    return f"""def launch(grid, options, {values}):
    if not (
        {every}
    ):
        return MISS
    if grid.__class__ is not tuple and callable(grid):
        grid = grid(Meta(zip(names, ({values}))))
    if (
        grid.__class__ is tuple and len(grid) == 1
        and grid[0].__class__ is int and 0 < grid[0] < 2147483648
    ):
        extents = nx, ny, nz = grid[0], 1, 1
    else:
        extents = nx, ny, nz = grid_of(grid)
    try:
        {lines}
    except RuntimeError:
        return long(extents, ({values}))
    if nx and ny and nz:
        launchers[{" or ".join(overlaps) or "False"}](nx, ny, nz, {", ".join(read.given)})
    return results[extents]
"""
