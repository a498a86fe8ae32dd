"""NVRTC: CUDA C++ to PTX and machine code, without a GPU and without headers.

One idea: a text of ours that NVRTC refuses is a bug of ours, so the error carries NVRTC's log and
the numbered text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from ....errors import CompileValueError
from ... import store

OPTIONS = ("--std=c++14",)
"""The options of every compilation: those of the launch."""


class NvrtcError(RuntimeError):
    """NVRTC refused a text: its log, then the text with line numbers."""

    def __init__(self, log: str, text: str, arch: str) -> None:
        self.log = log
        lines = text.splitlines()
        numbered = "\n".join(f"{place:4} {line}" for place, line in enumerate(lines, 1))
        super().__init__(f"NVRTC refused the text for {arch}:\n{log}\n{numbered}")


@dataclass(frozen=True)
class Compiled:
    """What NVRTC made of a text: PTX, machine code for the architecture, and its remarks."""

    arch: str
    ptx: str
    cubin: bytes
    log: str


def available() -> str:
    """Why there is no NVRTC here; "" where there is one."""
    try:
        _nvrtc()
    except CompileValueError as error:
        return str(error)
    return ""


@cache
def version() -> tuple[int, int]:
    """The version of NVRTC. Raises CompileValueError where there is none."""
    _, major, minor = _nvrtc().nvrtcVersion()
    return int(major), int(minor)


@cache
def _nvrtc() -> Any:
    """The bindings. Raises CompileValueError where there are none, with what to install."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise CompileValueError(
            f"NVRTC is not there ({reason}): pip install cuda-bindings nvidia-cuda-nvrtc", ()
        ) from error
    return nvrtc


@cache
def compile_nvrtc(
    text: str, arch: str = "sm_80", lineinfo: bool = False, flags: tuple[str, ...] = ()
) -> Compiled:
    """The text compiled for an architecture (`sm_80`, `sm_90a`, …), or found in the cache.
    lineinfo: PTX and machine code name the text's lines, and are the same else. flags: what else to
    ask NVRTC for.

    Raises NvrtcError with the log where NVRTC refuses it, CompileValueError where there is none.
    """
    lines = ("-lineinfo",) if lineinfo else ()
    options = (f"--gpu-architecture={arch}", *OPTIONS, *flags, *lines)
    key = store.key(text, arch, repr(version()), *options[1:])
    content = store.fetch("nvrtc", key, lambda: _packed(_compiled(text, arch, options)))
    length = int.from_bytes(content[:4], "little")
    ptx, log = json.loads(content[4 : 4 + length])
    return Compiled(arch, ptx, content[4 + length :], log)


def _packed(made: Compiled) -> bytes:
    """The length of what is text, the text, the machine code."""
    text = json.dumps([made.ptx, made.log]).encode()
    return len(text).to_bytes(4, "little") + text + made.cubin


def _compiled(text: str, arch: str, options: tuple[str, ...]) -> Compiled:
    nvrtc = _nvrtc()
    program = _call(nvrtc.nvrtcCreateProgram, text.encode(), b"kernel.cu", 0, [], [])
    try:
        flags = [option.encode() for option in options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), flags)
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if int(status):
            raise NvrtcError(log, text, arch)
        ptx = _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
        cubin = _bytes(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
        return Compiled(arch, ptx, cubin, log)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _call(function: Any, *arguments: Any) -> Any:
    status, *results = function(*arguments)
    if int(status):
        raise RuntimeError(f"{function.__name__}: {status}")
    return results[0] if results else None


def _bytes(size: Any, read: Any, program: Any) -> bytes:
    """What `read` writes into a bytes object of ours, which must not be one that Python shares
    (as it does those of length 1)."""
    length = _call(size, program)
    content: bytes = b" " * (length + 1)
    _call(read, program, content)
    return content[:length]


def _text(size: Any, read: Any, program: Any) -> str:
    return _bytes(size, read, program).rstrip(b"\0").decode()
