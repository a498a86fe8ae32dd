"""The steps that are claimed of addresses are those that they have, in random expressions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.explorer.addresses import Forms, NoSteps, Steps
from mytriton.explorer.classes import class_of
from mytriton.frontend.signature import Constexpr
from mytriton.ir.nodes import walk
from mytriton.ir.types import F32, I32, PointerType, shape_of
from mytriton.runtime.compile import Compilation

KERNEL = """
def kernel(x, s, t, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    at = {expression}
    for _ in range({rounds}):
        at += {step}
    tl.store(x + at, 1.0)
"""
VALUES = {"s": 5, "t": 3}


def expression(chance: random.Random, depth: int) -> str:
    """Random text over the indices i and j, the arguments s and t, and small numbers."""
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(["i", "j", "i", "j", "s", "t", "2", "3", "0", "1"])
    left, right = (expression(chance, depth - 1) for _ in range(2))
    form = chance.choice(
        ["({} + {})"] * 4 + ["({} * {})"] * 4 + ["({} - {})", "({} // 2 + {})", "({} % 4 + {})"]
        + ["(({} << 1) + {})", "tl.minimum({}, {})", "tl.where(i > 1, {}, {})"]
    )  # fmt: skip
    return form.format(left, right)


class NumPy:
    """What the kernel's text means to NumPy."""

    minimum = staticmethod(np.minimum)
    where = staticmethod(np.where)


def numbers(text: str, rounds: int, step: str) -> Any:
    i, j = np.arange(4, dtype=object)[:, None], np.arange(8, dtype=object)[None, :]
    names = {"i": i, "j": j, "tl": NumPy, **VALUES}
    at = eval(text, names)
    for _ in range(rounds):
        at = at + eval(step, names)
    return np.broadcast_to(at + 0 * i + 0 * j, (4, 8)).astype(np.int64)


# The last seeds have products of sums, and divisions that give a step its name.
@pytest.mark.parametrize("seed", (*range(120), 169, 181, 670, 930))
def test_steps_are_what_addresses_do(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    text, step = expression(chance, 4) + " + 0 * i + 0 * j", expression(chance, 1)
    rounds = chance.choice([0, 2])
    values = numbers(text, rounds, step)
    if abs(values).max() > 2**30:
        pytest.skip("leaves 32 bits")
    namespace: dict[str, Any] = {"tl": tl, "triton": triton}
    source = KERNEL.format(expression=text, rounds="s - 3" if rounds else "0", step=step)
    file = tmp_path / "kernel.py"
    file.write_text(source)
    exec(compile(source, str(file), "exec"), namespace)
    kernel = triton.jit(namespace["kernel"])
    types = {"x": PointerType(F32), "s": I32, "t": I32}
    extents = {"ROWS": Constexpr(4), "COLUMNS": Constexpr(8)}
    function = Compilation(kernel.fn, {**types, **extents}).function
    forms = Forms(function)
    (pointer,) = (op.operands[0] for op in walk(function.body) if op.name == "store")
    form = forms.of(pointer)
    shape = shape_of(pointer.ty)
    if isinstance(form, NoSteps):
        assert class_of(form, shape) == "gather"
        return
    check(form, values[: shape[0], : shape[1]])


def check(form: Steps, values: Any) -> None:
    for axis, step in enumerate(form.axes):
        found = np.diff(values, axis=axis)
        if not found.size:
            continue
        if isinstance(step, str) and "…" in step:
            claimed = found.flat[0]  # no name, and yet uniform
        else:
            claimed = step if isinstance(step, int) else eval(step, dict(VALUES))
        assert (found == claimed).all(), (form, axis, found)
