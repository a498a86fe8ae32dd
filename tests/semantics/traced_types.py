"""Traces expressions and statements in generated kernels and says what types they have.

The kernels' names: X, Y pointers to elements of two dtypes; x, y blocks of 16 loaded from them,
s, q scalars; n i32, f f32, m i64 arguments; C = 7 and F = 1.5 constexprs; li, lf, lb, lc, lh, lw
plain names and ln one annotated `: tl.constexpr`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mytriton.frontend.trace import trace
from mytriton.ir.types import BY_TRITON_NAME, F32, I32, I64, PointerType, element_of, shape_of

DATA = Path(__file__).with_name("triton_types")

HEADER = """
import mytriton as triton
import mytriton.language as tl

G = tl.constexpr(0.5)
GI = tl.constexpr(3)

@triton.jit
def add(a, b):
    return a + b

@triton.jit
def scale(x, s):
    return x * s

@triton.jit
def scale2(x):
    return x * 2.0

@triton.jit
def scale_kw(x, s=1.0):
    return x * s

@triton.jit
def two():
    return 2.0

@triton.jit
def three():
    return 3

@triton.jit
def pair(x, s):
    return x * s, s

@triton.jit
def opt(x, s=None):
    if s is None:
        return x
    else:
        return x * s
"""

NAMES = """    i = tl.arange(0, 16)
    x = tl.load(X + i)
    y = tl.load(Y + i)
    s = tl.load(X)
    q = tl.load(Y)
    li = 3
    lf = 0.5
    lb = True
    lc = C
    lh = lf * 2
    lw = 5000000000
    ln: tl.constexpr = 2
"""


def table(name: str) -> list[list[str]]:
    """The rows of a table in triton_types/, split into columns."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def element(name: str) -> Any:
    """An element type by the short name of the tables: i8, u8, i1, fp16, bf16."""
    short = {"i": "int", "u": "uint"}
    return BY_TRITON_NAME[short.get(name[0], name[0]) + name[1:]]


def type_name(value: Any) -> str:
    """The type of a value as the tables write it: fp32[16], i1[]."""
    ty = value.handle.ty
    name = element_of(ty).name.replace("uint", "u").replace("int", "i")
    return f"{name}[{', '.join(map(str, shape_of(ty)))}]"


def load(path: Path, text: str) -> Any:
    """The kernel of a module of this text, written to the path."""
    path.write_text(HEADER + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def kernel(path: Path, text: str, parameters: Mapping[str, Any]) -> None:
    """Traces the kernel of a module of this text."""
    trace(load(path, text).fn, parameters)


def types_of(path: Path, x: str, y: str, expressions: Iterable[str]) -> list[str]:
    """The type of each expression, all in one kernel."""
    found: list[str] = []
    lines = "".join(f"    note({expression})\n" for expression in expressions)
    parameters: dict[str, Any] = {
        "X": PointerType(element(x)),
        "Y": PointerType(element(y)),
        "n": I32,
        "f": F32,
        "m": I64,
        "C": 7,
        "F": 1.5,
        "note": lambda value: found.append(type_name(value)),
    }
    signature = "X, Y, n, f, m, C: tl.constexpr, F: tl.constexpr, note: tl.constexpr"
    kernel(path, f"\n@triton.jit\ndef kernel({signature}):\n{NAMES}{lines}", parameters)
    return found


def type_of_statements(path: Path, statements: str) -> str:
    """The type of `z` after statements on h (f16), b (i8) and u (u8) blocks of 16, h0 and b0
    scalars, w16 an f16 block of 16×16."""
    found: list[str] = []
    lines = statements.replace("⏎", "\n").splitlines()
    body = "".join(f"    {line}\n" for line in lines)
    start = """    i = tl.arange(0, 16)
    h, b, u = tl.load(H + i), tl.load(B + i), tl.load(U + i)
    h0, b0 = tl.load(H), tl.load(B)
    w16 = tl.load(H + i[:, None] * 16 + i[None, :])
"""
    parameters: dict[str, Any] = {
        "H": PointerType(element("fp16")),
        "B": PointerType(element("i8")),
        "U": PointerType(element("u8")),
        "n": I32,
        "f": F32,
        "C": 7,
        "note": lambda value: found.append(type_name(value)),
    }
    signature = "H, B, U, n, f, C: tl.constexpr, note: tl.constexpr"
    kernel(path, f"\n@triton.jit\ndef kernel({signature}):\n{start}{body}    note(z)\n", parameters)
    return found[0]
