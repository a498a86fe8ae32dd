"""A kernel as an object file that a C program links: the machine code of `run`, under a name.

It is compiled for this machine, position-independent, and without what only Python can do: prints
and checks, which call back, and programs that wait for one another, which the launch watches. Its
launch record is described by `record.py`; `tools/export.py` writes it down in C.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import llvmlite.binding as llvm

from ....errors import CompileError
from ....ir.nodes import Function
from ....ir.recursion import deeply
from ..host import host
from ..lower.expand import expand
from ..module import KernelText, kernel_text, messages
from .machine_code import emitted


@dataclass(frozen=True)
class Object:
    """An object file.

    code: its bytes. arena_bytes: the scratch memory that each thread gives to `run`, aligned to 64.
    messages: what the asserts say, by their number from 1.
    """

    code: bytes
    arena_bytes: int
    messages: tuple[str, ...]


def exported(function: Function, overlap: bool, symbol: str) -> Object:
    """The object file of an optimised function, whose `run` has the name given.

    Raises CompileError for what a C program cannot launch.
    """
    here = dataclasses.replace(host(), tiles=False)  # a process has to ask for the matrix unit
    expanded = expand(function)
    made = deeply(lambda: kernel_text(expanded, overlap, here))
    _refuse(made)
    text = made.text.replace("define void @run(", f"define void @{symbol}(")
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=here.cpu, features=here.features, opt=3, reloc="pic", codemodel="default"
    )
    said = tuple(str(op.attribute("message") or op.name) for op in messages(expanded))
    return Object(emitted(text, here, machine), made.arena_bytes, said)


def _refuse(made: KernelText) -> None:
    if made.calls_back:
        raise CompileError(
            "a kernel that prints cannot be exported: only Python shows what it prints; leave out"
            " device_print",
            where=(),
        )
    if made.waits:
        raise CompileError(
            "a kernel whose programs wait for one another cannot be exported: such a launch is"
            " watched by this package; split it into two kernels",
            where=(),
        )
