"""Random expressions of weak and typed numbers have their exact values on every target."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.support.backends import run_everywhere

from . import random_numbers as rn
from .traced_types import load

STORAGE = {"bfloat16": "float32", "int1": "bool"}
"""How test data of a dtype that NumPy lacks are passed; the kernel casts them."""
PLACES = {"int": "i64", "float": "f64"}

EDGES = [0, 1, 2, 3, 5, 100, 127, 128, 255, 30000, 65535, 2**31 - 1, 2**53 + 1, 2**63 - 1, -1, -7]
REALS = [0.0, 1.0, -1.5, 0.1, 3.25, 1000.5, 65504.0, 1e-5, -7.0, 2.0**24 + 1]


def element(random: Random, dtype: str) -> Any:
    number = random.choice(REALS if dtype in rn.FLOATS else EDGES)
    return number != 0 if dtype == "int1" else rn.rounded(dtype, number)


class Program:
    """A kernel of random assignments and expressions, and what it must store."""

    def __init__(self, seed: int, count: int) -> None:
        self.random = random = Random(seed)
        self.loads: list[str] = []
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.names: dict[str, rn.Weak | rn.Typed] = {
            "n": rn.Typed("int32", (9,)),
            "f": rn.Typed("float32", (2.5,)),
            "m": rn.Typed("int64", (2**40 + 3,)),
            "C": rn.Weak(7),
            "F": rn.Weak(1.5),
        }
        for name in "xyz":
            self.block(name, random.choice(rn.DTYPES))
        self.block("b", "int1")
        self.names["c"] = rn.Typed("int1", (True,))
        maker = rn.Expression(random, self.names)
        lines = ["c = n > 2"]
        for place in range(4):
            text, value = maker.draw(2)
            weak = isinstance(value, rn.Weak) and place % 2 == 0
            lines.append(f"t{place}{': tl.constexpr' if weak else ''} = {text}")
            self.names[f"t{place}"] = value if weak else rn.assigned(value)
        self.results = [maker.draw(3) for _ in range(count)]
        self.body = lines

    def block(self, name: str, dtype: str) -> None:
        """A block and its first element as a scalar: x and sx."""
        values = tuple(element(self.random, dtype) for _ in range(rn.LANES))
        self.arrays.append(np.array(values, STORAGE.get(dtype, dtype)))
        for kept, source in ((name, f"P{name} + i"), (f"s{name}", f"P{name}")):
            self.loads.append(f"{kept} = tl.load({source}).to(tl.{dtype})")
        self.names[name] = rn.Typed(dtype, values)
        self.names[f"s{name}"] = rn.Typed(dtype, values[:1])

    def stores(self) -> tuple[list[str], dict[str, np.ndarray[Any, Any]]]:
        """Every result, widened exactly to i64 bits or f64, as a row of `ints` or `reals`."""
        lines, rows = [], {"ints": [], "reals": []}
        for text, value in self.results:
            typed = rn.assigned(value)
            out, wide = ("reals", "float64") if typed.dtype in rn.FLOATS else ("ints", "int64")
            row = typed.values if len(typed.values) > 1 else typed.values * rn.LANES
            place = f"{out} + {len(rows[out]) * rn.LANES} + i"
            rows[out].append([rn.rounded("int64", v) for v in row] if out == "ints" else row)
            lines.append(f"r = {text}")
            lines.append(f"tl.static_assert(r.dtype == tl.{typed.dtype})")
            lines.append(f"tl.store({place}, r.to(tl.{wide}))")
        ints, reals = (np.array(rows[k] or [[0] * rn.LANES]).reshape(-1) for k in ("ints", "reals"))
        return lines, {"ints": ints.astype(np.int64), "reals": reals.astype(np.float64)}

    def text(self, stores: list[str]) -> str:
        pointers = ", ".join(f"P{name}" for name in "xyzb")
        lines = [f"i = tl.arange(0, {rn.LANES})", *self.loads, *self.body, *stores]
        return (
            "\n@triton.jit\ndef kernel(" + pointers + ", ints, reals, n, f, m,"
            " C: tl.constexpr, F: tl.constexpr):\n" + "".join(f"    {line}\n" for line in lines)
        )


def run(seed: int, count: int, path: Path, skip: tuple[str, ...] = ()) -> None:
    program = Program(seed, count)
    stores, wanted = program.stores()
    kernel = load(path / f"numbers_{seed}.py", program.text(stores))
    outputs = [np.zeros_like(array) for array in wanted.values()]
    with np.errstate(all="ignore"):
        run_everywhere(
            kernel, (1,), *program.arrays, *outputs, 9, 2.5, 2**40 + 3, C=7, F=1.5,
            expected=wanted, skip=skip,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions_have_their_exact_values(seed: int, tmp_path: Path) -> None:
    run(seed, 20, tmp_path)


@pytest.mark.parametrize("seed", range(100, 120))
def test_more_random_expressions(seed: int, tmp_path: Path) -> None:
    run(seed, 20, tmp_path, skip=("cudasim",))


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_many_random_expressions(seed: int, tmp_path: Path) -> None:
    run(seed, 40, tmp_path)
