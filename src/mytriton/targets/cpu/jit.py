"""From LLVM text to machine code in this process.

One idea: the text is already vectorised, its loops are shaped and what is invariant stands outside
them, so LLVM is asked to clean up and to choose instructions, no more; its whole pipeline takes
four times as long for the same code.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from .host import host

_lock = threading.RLock()
"""LLVM's global context is used by one thread at a time; what is no longer needed may be found by
the one that uses it."""


@cache
def machine() -> Any:
    """The target machine of this process."""
    here = host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=here.cpu, features=here.features, opt=3, reloc="default", codemodel="default", jit=True
    )


def optimised(text: str) -> Any:
    """Parses a module and runs LLVM's passes on it."""
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine().target_data)
    passes = llvm.create_new_module_pass_manager()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    passes.run(module, llvm.create_pass_builder(machine(), options))
    return module


@dataclass
class Code:
    """Machine code: the addresses of the functions asked for, and what keeps it alive."""

    addresses: dict[str, int]
    engine: Any = field(repr=False)

    def __del__(self, lock: Any = _lock) -> None:
        with lock:
            self.engine = None


def compile_text(text: str, names: tuple[str, ...]) -> Code:
    """Compiles a module for this process."""
    with _lock:
        module = optimised(text)
        engine = llvm.create_mcjit_compiler(module, machine_for_engine())
        engine.finalize_object()
        return Code({name: engine.get_function_address(name) for name in names}, engine)


def machine_for_engine() -> Any:
    """An engine takes its target machine over, so each has its own."""
    here = host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=here.cpu,
        features=here.features,
        opt=3,
        reloc="default",
        codemodel="jitdefault",
        jit=True,
    )


def assembly(text: str) -> str:
    """The machine code of a module as text."""
    with _lock:
        return str(machine().emit_assembly(optimised(text)))
