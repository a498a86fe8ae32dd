"""The command line: `mytriton run`, `show`, `explain`, `export`, `cache`, `doctor`, and
`install-stand-in`.

Each command is a thin reader of a module that does the work and can be called from Python
as well.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from ..errors import KernelFault, did_you_mean
from ..explorer.gpus import DEFAULT, GPUS
from ..runtime.findings import KINDS
from ..targets import store
from . import stand_in
from .doctor import report
from .run_file import run_file
from .show import STAGES, Compilation, choose, command, compilation, listing
from .signature import SignatureError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; the exit status is 0, or 1 where it could not be done (said on stderr)."""
    options = parser().parse_args(with_values(sys.argv[1:] if arguments is None else arguments))
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
    top.add_argument("--version", action="version", version=f"mytriton {version()}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a Python file whose kernels go to a target")
    run.add_argument("--target", help="where its kernels run; default: $MYTRITON_TARGET, else cpu")
    run.add_argument(
        "--debug", action="store_true", help="check every access of memory, and device asserts"
    )
    run.add_argument(
        "--sanitize",
        metavar="KINDS",
        help="look for faults, as in --sanitize or --sanitize=undefined,races; the exit status is 1"
        f" where there are some. Kinds: {', '.join(KINDS)}",
    )
    run.add_argument(
        "--findings", type=Path, help="with --sanitize: a file for them, *.json or *.sarif"
    )
    run.add_argument("file", type=Path)
    run.add_argument("args", nargs=argparse.REMAINDER, help="what the file finds in sys.argv")
    run.set_defaults(command=_run)

    stages = "; ".join(f"{name}: {stage.about}" for name, stage in STAGES.items())
    show = commands.add_parser("show", help="print any stage of a kernel, without running it")
    show.add_argument("kernel", help="file.py::kernel; file.py lists its kernels, or takes the one")
    show.add_argument("--stage", default="ssa", help=f"one or more, with commas; {stages}")
    show.add_argument("--sig", default="", help="types and constexprs: 'x=*fp32, n=i32, BLOCK=256'")
    show.add_argument("--arch", default="sm_80", help="the GPU architecture of ptx and sass")
    show.set_defaults(command=_show)

    _explain_options(
        commands.add_parser("explain", help="one page from a kernel's Python to machine code")
    )

    _export_options(commands.add_parser("export", help="a kernel as a C header with its code"))

    switch = commands.add_parser(
        "install-stand-in", help="make `import triton` mean this package in a virtual environment"
    )
    switch.add_argument("environment", nargs="?", type=Path, help="its folder; default: this one")
    switch.add_argument("--remove", action="store_true", help="take the stand-in out again")
    switch.set_defaults(command=_stand_in)

    cache = commands.add_parser("cache", help="what is kept on disk between runs")
    cache.add_argument("action", choices=("info", "clear"), help="print it, or delete it")
    kinds = "; ".join(f"{kind}: {about}" for kind, about in store.KINDS.items())
    cache.add_argument("kinds", nargs="*", help=f"of these kinds only: {kinds}")
    cache.set_defaults(command=_cache)

    doctor = commands.add_parser("doctor", help="what this machine has and which targets work")
    doctor.set_defaults(command=_doctor)
    return top


def _explain_options(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("kernel", help="file.py::kernel")
    which = explain.add_mutually_exclusive_group()
    which.add_argument("--sig", default="", help="types and constexprs, as for show")
    which.add_argument(
        "--run",
        default="",
        metavar="EXPRESSION",
        help="Python in the file's names; its first launch of the kernel is explained, with what"
        " each program reads and writes: 'main()'",
    )
    explain.add_argument("--gpu", default="", help=f"one of {', '.join(GPUS)}; default: {DEFAULT}")
    explain.add_argument("--num-warps", type=int, help="the warps of a program, with --sig")
    explain.add_argument("-o", "--output", type=Path, help="the page; default: KERNEL.html")
    explain.add_argument("--json", action="store_true", help="the document, to stdout or -o")
    explain.add_argument("--open", action="store_true", help="open the page in the browser")
    explain.set_defaults(command=_explain)


def _export_options(export: argparse.ArgumentParser) -> None:
    export.add_argument("kernel", help="file.py::kernel")
    export.add_argument("--sig", default="", help="types and constexprs, as for show")
    export.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    export.add_argument("-o", "--output", type=Path, default=Path(), help="the folder; default: .")
    export.add_argument("--arch", default="sm_80", help="cuda: the GPU architecture")
    export.add_argument("--num-warps", type=int, help="cuda: the warps of a program")
    export.add_argument(
        "--restrict",
        action="store_true",
        help="arrays that the kernel stores to share no memory with others",
    )
    export.set_defaults(command=_export)


def version() -> str:
    """The version of this package."""
    from .. import __version__

    return __version__


def with_values(arguments: Sequence[str]) -> list[str]:
    """The arguments with the value that `--sanitize` alone stands for: what follows is the file."""
    return ["--sanitize=all" if argument == "--sanitize" else argument for argument in arguments]


def _run(options: argparse.Namespace) -> int:
    if options.sanitize is None:
        run_file(options.file, options.args, options.target, options.debug)
        return 0
    from .sanitize import running

    with running(options.sanitize, options.findings) as session:
        run_file(options.file, options.args, options.target, options.debug)
    return int(bool(session.findings))


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
    for name in names:
        if name not in STAGES:
            meant = did_you_mean(name, STAGES) or f"; there are {', '.join(STAGES)}"
            raise SignatureError(f"no stage {name}{meant}")
    file, kernel = choose(options.kernel)
    if kernel is None:
        print(listing(file))
        return 0
    compiled = compilation(file, kernel, options.sig, options.arch)
    try:
        _print_stages(compiled, names)
    except KernelFault as error:
        if options.sig or not error.where:
            raise
        guessed = f"the types are guessed; give them, as in {command(file, kernel)}"
        raise SignatureError(f"{error}\n{guessed}") from None
    return 0


def _explain(options: argparse.Namespace) -> int:
    from .explain import explain_place

    explained = explain_place(
        options.kernel, options.sig, options.run, options.gpu, options.num_warps
    )
    if options.json and options.output is None:
        print(explained.json, end="")
        return 0
    path = options.output or Path(f"{explained.document.kernel}.html")
    if options.json:
        path.write_text(explained.json, encoding="utf-8")
    elif options.open:
        explained.open(path)
    else:
        explained.save(path)
    print(path)
    return 0


def _print_stages(compiled: Compilation, names: Sequence[str]) -> None:
    console = Console()
    for name in names:
        text = compiled.text(name)
        if len(names) > 1:
            console.rule(f"{name}: {STAGES[name].about}")
        if console.is_terminal:
            console.print(Syntax(text, lexer(STAGES[name].lexer), background_color="default"))
        else:
            print(text)


def lexer(name: str) -> Any:
    """What colours a stage's text: a lexer of ours, or the name of one of Pygments."""
    if name != "ssa":
        return name
    from .ssa_lexer import SsaLexer

    return SsaLexer()


def _export(options: argparse.Namespace) -> int:
    from .export import export

    file, name = choose(options.kernel)
    if name is None:
        raise SignatureError(f"say which kernel:\n{listing(file, 'export')}")
    compiled = compilation(file, name, options.sig, options.arch)
    asked = dataclasses.replace(compiled.options, num_warps=options.num_warps)
    compiled = Compilation(compiled.fn, compiled.arguments, asked)
    made = export(compiled, options.target, options.output, options.restrict)
    print(f"{made.header} {made.code}")
    return 0


def _cache(options: argparse.Namespace) -> int:
    unknown = [kind for kind in options.kinds if kind not in store.KINDS]
    if unknown:
        raise SignatureError(f"no kind {', '.join(unknown)}; there are {', '.join(store.KINDS)}")
    kinds = tuple(options.kinds) or tuple(store.KINDS)
    if options.action == "clear":
        print(f"{store.clear(kinds)} entries deleted from {store.cache_folder()}")
        return 0
    table = Table("", "what", "entries", "MB", box=None)
    for kind in kinds:
        sizes = [entry.nbytes for entry in store.entries(kind)]
        kept = "" if store.is_kept(kind) else " (not kept now)"
        table.add_row(kind, store.KINDS[kind] + kept, str(len(sizes)), f"{sum(sizes) / 1e6:.1f}")
    limit = store.size_limit() >> 20
    print(f"{store.cache_folder()}, at most {limit} MB ({store.SIZE}):")
    Console().print(table)
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
