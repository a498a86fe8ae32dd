"""From a compilation to its document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import CompileError, KernelError
from ..frontend.signature import Constexpr
from ..runtime.compile import Compilation
from ..targets.cpu.host import host
from .columns import ROWS, Maker
from .document import Document, LayoutView, MoveView
from .gpus import Gpu
from .layouts import Layouts
from .performance import Costs, held_by
from .places import shown_path
from .recording import Recorded, record, refusal
from .touches import run_record

if TYPE_CHECKING:
    from .launch import Launch


def document_of(compilation: Compilation, launch: Launch | None, gpu: Gpu) -> Document:
    """The document of a compilation. A stage that cannot be made is a column with an error; raises
    CompileError only where the kernel cannot be traced."""
    compilation.function  # noqa: B018 - raises what is wrong with the kernel itself
    maker = Maker(compilation, launch)
    columns = tuple(maker.make(row) for row in ROWS)
    layouts, moves = layouts_of(maker)
    recorded, reason = recorded_of(maker)
    performance = Costs(maker, gpu, columns, recorded).view()
    run = run_record(compilation.function, recorded, maker.places) if recorded else None
    sources, places = maker.places.resolved(compilation.fn)
    return Document(
        compilation.name,
        shown_path(compilation.fn.__code__.co_filename),
        {name: argument_text(value) for name, value in compilation.arguments.items()},
        options_of(compilation, gpu),
        made_by(),
        sources,
        places,
        columns,
        layouts,
        moves,
        performance,
        run,
        reason,
    )


def recorded_of(maker: Maker) -> tuple[Recorded | None, str]:
    """The record of the launch, or why there is none."""
    launch, function = maker.launch, maker.compilation.function
    if launch is None or launch.grid is None:
        return None, "there was no launch"
    reason = refusal(function)
    if reason:
        return None, reason
    try:
        return record(function, launch, launch.grid, held_by(maker)), ""
    except KernelError as error:
        return None, str(error)


def layouts_of(maker: Maker) -> tuple[tuple[LayoutView, ...], tuple[MoveView, ...]]:
    """The layouts of the CUDA text; none where there is no such text."""
    try:
        record = maker.cuda.record
    except CompileError:
        return (), ()
    return ((), ()) if record is None else Layouts(record, maker.places).views()


def argument_text(value: Any) -> str:
    """The type of a parameter, or the value of a constexpr."""
    if isinstance(value, Constexpr):
        return repr(value.value)
    if isinstance(value, tuple):
        return f"({', '.join(map(argument_text, value))})"
    return str(value)


def options_of(compilation: Compilation, gpu: Gpu) -> Mapping[str, str]:
    """What the texts were made for, as words."""
    options = compilation.options
    warps = "not said" if options.num_warps is None else str(options.num_warps)
    here = host()
    return {"num_warps": warps, "gpu": f"{gpu.name} ({options.arch})", "processor": here.cpu}


def made_by() -> str:
    from .. import __version__

    return f"mytriton {__version__}"
