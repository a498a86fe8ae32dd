"""The command line: `mytriton run`, `mytriton show`, `mytriton doctor`.

Each command is a thin reader of a module that does the work and can be called from Python
as well.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from ..errors import KernelFault
from ..runtime.target import set_target
from . import stand_in
from .doctor import report
from .show import STAGES, load_kernel
from .signature import SignatureError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; the exit status is 0, or 1 where it could not be done (said on stderr)."""
    options = parser().parse_args(arguments)
    try:
        status = int(options.command(options) or 0)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        if options.command is _run:
            raise
        # the reader of the output has left, as `| head` does; nothing must be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (SignatureError, stand_in.StandInError, KernelFault) as error:
        print(f"mytriton: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="mytriton", description="The Triton compiler you can read.")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a Python file whose kernels go to a target")
    run.add_argument("--target", help="where its kernels run; default: $MYTRITON_TARGET, else cpu")
    run.add_argument("file", type=Path)
    run.add_argument("args", nargs=argparse.REMAINDER, help="what the file finds in sys.argv")
    run.set_defaults(command=_run)

    stages = "; ".join(f"{name}: {stage.about}" for name, stage in STAGES.items())
    show = commands.add_parser("show", help="print any stage of a kernel, without running it")
    show.add_argument("kernel", help="file.py::kernel")
    show.add_argument("--stage", default="ssa", help=f"one or more, with commas; {stages}")
    show.add_argument("--sig", default="", help="types and constexprs: 'x=*fp32, n=i32, BLOCK=256'")
    show.add_argument("--arch", default="sm_80", help="the GPU architecture of ptx and sass")
    show.set_defaults(command=_show)

    switch = commands.add_parser(
        "install-stand-in", help="make `import triton` mean this package in a virtual environment"
    )
    switch.add_argument("environment", nargs="?", type=Path, help="its folder; default: this one")
    switch.add_argument("--remove", action="store_true", help="take the stand-in out again")
    switch.set_defaults(command=_stand_in)

    doctor = commands.add_parser("doctor", help="what this machine has and which targets work")
    doctor.set_defaults(command=_doctor)
    return top


def _run(options: argparse.Namespace) -> int:
    if not options.file.is_file():
        raise SignatureError(f"there is no file {options.file}")
    argv, path = sys.argv, list(sys.path)
    sys.argv = [str(options.file), *options.args]
    sys.path.insert(0, str(options.file.parent.resolve()))
    try:
        set_target(options.target or os.environ.get("MYTRITON_TARGET") or "cpu")
        with stand_in.active():
            runpy.run_path(str(options.file), run_name="__main__")
    finally:
        set_target(None)
        sys.argv, sys.path = argv, path
    return 0


def _stand_in(options: argparse.Namespace) -> int:
    where = stand_in.environment(options.environment)
    if options.remove:
        found = stand_in.remove(where)
        print(f"{'removed from' if found else 'there was none in'} {where.packages}")
    else:
        print(f"installed: {stand_in.install(where)}")
    return 0


def _show(options: argparse.Namespace) -> int:
    names = [name.strip() for name in options.stage.split(",")]
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        raise SignatureError(f"no stage {', '.join(unknown)}; there are {', '.join(STAGES)}")
    kernel = load_kernel(options.kernel, options.sig, options.arch)
    console = Console()
    for name in names:
        text = kernel.text(name)
        if len(names) > 1:
            console.rule(f"{name}: {STAGES[name].about}")
        if console.is_terminal:
            console.print(Syntax(text, STAGES[name].lexer, background_color="default"))
        else:
            print(text)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    table = Table("", "what", "detail", box=None)
    for finding in report():
        table.add_row(
            "[green]ok" if finding.works else "[yellow]no",
            escape(finding.name),
            escape(finding.detail),
        )
    Console().print(table)
    return 0
