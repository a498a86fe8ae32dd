"""From LLVM text to machine code in this process, by way of an object that can be kept on disk.

The text is already vectorised, its loops are shaped and what is invariant stands outside them, so
LLVM is asked to clean up and to choose instructions, no more; its whole pipeline takes four times
as long for the same code.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from ....fork import held_over_fork
from ..host import Host, host

_lock = held_over_fork(threading.RLock())
"""LLVM's global context is used by one thread at a time; what is no longer needed may be found by
the one that uses it."""
_calls: Any = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
"""llvmlite's own lock around each call: its objects may be freed by any thread, without ours."""
if _calls is not None:
    held_over_fork(_calls)


@cache
def machine(here: Host) -> Any:
    """LLVM's description of a machine, with its code generator."""
    return new_machine(here)


def new_machine(here: Host) -> Any:
    """An engine takes its target machine over, so each has its own."""
    host()  # initialises LLVM's targets
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=here.cpu,
        features=here.features,
        opt=3,
        reloc="default",
        codemodel="jitdefault",
        jit=True,
    )


def optimised(text: str, here: Host) -> Any:
    """Parses a module and runs LLVM's passes on it. Raises RuntimeError for text that is not valid
    (a fault of this target); where MYTRITON_CHECK is 1 LLVM verifies it, which finds a use that its
    definition does not dominate."""
    module = llvm.parse_assembly(text)
    if os.environ.get("MYTRITON_CHECK") == "1":
        module.verify()
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine(here).target_data)
    passes = llvm.create_new_module_pass_manager()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    passes.run(module, llvm.create_pass_builder(machine(here), options))
    return module


class Exit:
    """Whether the interpreter is ending: threads may still be inside native code, so from then on
    no code is freed."""

    begun = False


@atexit.register
def _at_exit() -> None:
    Exit.begun = True


def keep_for_ever(
    thing: object,
    increment: Any = ctypes.pythonapi.Py_IncRef,
    reference: Any = ctypes.py_object,
) -> None:
    """Never frees an object, not even when the interpreter ends (and has emptied its modules)."""
    increment(reference(thing))


class MachineCode:
    """Machine code: the addresses of the functions asked for, and what keeps it alive.

    `immortal` code is never freed: threads may be inside it until the process ends.
    """

    def __init__(self, addresses: dict[str, int], engine: Any, immortal: bool = False) -> None:
        self.addresses = addresses
        self._engine = engine
        if immortal:
            keep_for_ever(engine)

    def __del__(
        self, lock: Any = _lock, ending: type[Exit] = Exit, keep: Any = keep_for_ever
    ) -> None:
        if ending.begun:
            keep(self._engine)
            return
        with lock:
            self._engine = None


def object_code(text: str, here: Host) -> bytes:
    """Compiles a module into an object file for this process."""
    return emitted(text, here, machine(here))


def emitted(text: str, here: Host, by: Any) -> bytes:
    """Compiles a module into an object file, by a code generator for the machine."""
    with _lock:
        code: bytes = by.emit_object(optimised(text, here))
        return code


def load(code: bytes, names: tuple[str, ...], immortal: bool = False) -> MachineCode:
    """Puts an object file into this process."""
    with _lock:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), new_machine(host()))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        addresses = {name: engine.get_function_address(name) for name in names}
        return MachineCode(addresses, engine, immortal)


def assembly(text: str, here: Host) -> str:
    """The machine code of a module as text."""
    with _lock:
        return str(machine(here).emit_assembly(optimised(text, here)))
