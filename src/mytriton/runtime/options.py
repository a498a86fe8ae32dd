"""The options of a launch: keywords of `kernel[grid](…)` that are no parameters of the kernel.

One row an option: what may be given, what it does on which target, and why the rest is refused.
`docs/reference/environment.md` shows this table. Nothing is accepted and dropped: an option acts,
is a hint that changes no result, or is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import CompileValueError
from ..ir.structural import PRECISIONS
from ..strict import is_strict
from ..targets import CompileOptions
from . import checks
from .constexprs import exact

Refusal = Callable[[Any, str | None], str | None]
"""Why a value is refused on a target (None: compiling only); None where it is not."""


@dataclass(frozen=True)
class LaunchOption:
    """One option of a launch.

    values: what may be given, in words. effect: "acts" or "hint". meaning: what it does. refusal:
    see `Refusal`.
    """

    name: str
    values: str
    effect: str
    meaning: str
    refusal: Refusal


def _any(value: Any, target: str | None) -> str | None:
    return None


def _one_of(*allowed: Any) -> Refusal:
    def refusal(value: Any, target: str | None) -> str | None:
        known = any(value is one or (type(value) is type(one) and value == one) for one in allowed)
        return None if known else f"must be one of {', '.join(map(repr, allowed))}"

    return refusal


def _count(least: int) -> Refusal:
    def refusal(value: Any, target: str | None) -> str | None:
        whole = value is None or (type(value) is int and value >= least)
        return None if whole else f"must be an int of {least} or more"

    return refusal


def _clusters(value: Any, target: str | None) -> str | None:
    if type(value) is not int or value < 1:
        return "must be an int of 1 or more"
    on_gpu = target in (None, "cuda")
    return "clusters of several blocks are not supported" if on_gpu and value > 1 else None


def _fusion(value: Any, target: str | None) -> str | None:
    if type(value) is not bool:
        return "must be True or False"
    return None


def _cooperative(value: Any, target: str | None) -> str | None:
    if type(value) is not bool:
        return "must be True or False"
    on_gpu = value and target in (None, "cuda")
    return "cooperative launches on a GPU are not supported" if on_gpu else None


def _libraries(value: Any, target: str | None) -> str | None:
    names = set(value or ()) - {"libdevice"} if isinstance(value, (dict, tuple, type(None))) else 1
    return "no library can be linked; libdevice's functions are built in" if names else None


def _only(allowed: tuple[Any, ...], reason: str) -> Refusal:
    return lambda value, target: None if any(value is one for one in allowed) else reason


def _device(value: Any, target: str | None) -> str | None:
    return None if value is None else "a kernel runs on the device of its arrays; move them instead"


def _stream(value: Any, target: str | None) -> str | None:
    if value is None or (value == 0 and target not in (None, "cuda")):
        return None
    return (
        "a launch goes to the current stream of torch or CuPy; make it current, as in"
        " `with torch.cuda.stream(s):`"
    )


WARPS = (1, 2, 4, 8, 16, 32)

LAUNCH_OPTIONS: dict[str, LaunchOption] = {
    option.name: option
    for option in (
        LaunchOption(
            "target",
            "a target's name",
            "acts",
            "where the kernel runs: cpu, interpret, eager, cudasim, cuda",
            _any,
        ),
        LaunchOption(
            "debug",
            "bool",
            "acts",
            "checks every access of memory; CUDA code checks device asserts, the others always do",
            _any,
        ),
        LaunchOption(
            "num_warps",
            "1, 2, 4, 8, 16 or 32",
            "acts",
            "cuda, cudasim: the tiled lowering with so many warps a program; a hint elsewhere",
            _one_of(None, *WARPS),
        ),
        LaunchOption(
            "num_stages",
            "an int of 0 or more",
            "hint",
            "cuda, cudasim: buffers of a software pipeline, 3 by default; below 2 none",
            _count(0),
        ),
        LaunchOption(
            "num_ctas",
            "1; elsewhere than on CUDA any int from 1",
            "hint",
            "thread blocks of a cluster",
            _clusters,
        ),
        LaunchOption(
            "maxnreg",
            "an int from 1",
            "acts",
            "cuda: registers a thread may have at most; a hint elsewhere",
            _count(1),
        ),
        LaunchOption(
            "enable_fp_fusion",
            "bool",
            "acts",
            "cuda: whether a * b + c may round once, True by default; the other targets never fuse",
            _fusion,
        ),
        LaunchOption(
            "launch_cooperative_grid",
            "bool; on CUDA False",
            "acts",
            "programs may wait for one another, which the other targets always allow",
            _cooperative,
        ),
        LaunchOption(
            "launch_pdl", "bool", "hint", "starts before the launch before it has ended", _any
        ),
        LaunchOption(
            "extern_libs",
            "None or {'libdevice': …}",
            "hint",
            "libraries to link; libdevice's functions are built in",
            _libraries,
        ),
        LaunchOption(
            "sanitize_overflow",
            "False",
            "acts",
            "checks of integer overflow",
            _only((False, None), "overflow is not checked by a launch"),
        ),
        LaunchOption(
            "instrumentation_mode",
            "'' or None",
            "acts",
            "instruments the code",
            lambda value, target: "there is no instrumentation" if value else None,
        ),
        LaunchOption(
            "ir_override",
            "None",
            "acts",
            "replaces the compiler's IR",
            _only((None,), "the IR of another compiler cannot be read"),
        ),
        LaunchOption("stream", "None", "acts", "the stream of the launch", _stream),
        LaunchOption("device", "None", "acts", "the device of the launch", _device),
        LaunchOption("device_type", "a str or None", "hint", "said by the arrays", _any),
        LaunchOption("matrix_instr_nonkdim", "an int", "hint", "for AMD's GPUs", _any),
        LaunchOption("waves_per_eu", "an int", "hint", "for AMD's GPUs", _any),
        LaunchOption("kpack", "an int", "hint", "for AMD's GPUs", _any),
    )
}
"""Every option of a launch by name. A parameter of the kernel with such a name is the parameter."""


def check_options(options: Mapping[str, Any], target: str | None) -> None:
    """Raises CompileValueError for an option that a launch on the target cannot have."""
    for name, value in options.items():
        reason = LAUNCH_OPTIONS[name].refusal(value, target)
        if reason is not None:
            where = f" on {target}" if target else ""
            raise CompileValueError(f"{name}={value!r}{where}: {reason}")


def options_key(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells launches with these options apart, beside the target. Raises TypeError for values
    that cannot be hashed."""
    if not options or (len(options) == 1 and "target" in options):
        return ()
    return tuple((name, exact(value)) for name, value in options.items() if name != "target")


def compile_options(
    options: Mapping[str, Any],
    debug: bool,
    target: str | None,
    fixed: frozenset[str] = frozenset(),
) -> CompileOptions:
    """What the options ask of code generation. `num_warps` matters to CUDA only: launches
    elsewhere share their compilations whatever it is."""
    debugging = bool(options.get("debug", debug))
    kinds = checks.kinds(debugging) if target is not None else ()
    if target not in (None, "cuda", "cudasim"):
        return CompileOptions(debugging, kinds, strict=is_strict())
    return CompileOptions(
        debugging,
        kinds,
        options.get("num_warps"),
        fixed,
        strict=is_strict(),
        num_stages=options.get("num_stages"),
        maxnreg=options.get("maxnreg"),
        fp_fusion=options.get("enable_fp_fusion", True),
        f32_dot=f32_dot(target),
    )


def f32_dot(target: str | None) -> str:
    """The input precision of f32 products that say none: what MYTRITON_F32_DOT says, else tf32 on a
    GPU, as in Triton, and ieee elsewhere."""
    asked = os.environ.get("MYTRITON_F32_DOT", "")
    if asked and asked not in PRECISIONS:
        allowed = ", ".join(PRECISIONS)
        raise CompileValueError(f"MYTRITON_F32_DOT={asked}: must be one of {allowed}")
    return asked or ("ieee" if target == "cudasim" else "tf32")


def options_table() -> str:
    """The table of `docs/reference/environment.md`."""
    rows = (
        f"| `{o.name}` | {o.values} | {o.effect} | {o.meaning} |" for o in LAUNCH_OPTIONS.values()
    )
    return "\n".join(["| option | allowed | | meaning |", "|---|---|---|---|", *rows])
