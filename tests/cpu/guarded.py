"""Arrays that end, or begin, at a page that may not be touched, and random programs over them.

A program computes an index and a mask from one or two aranges; NumPy evaluates the very same
expressions, so it says which elements are touched. The array holds those elements and no more: a
lane that is masked off and touches memory all the same stops the process.

    python -m tests.cpu.guarded MACHINE FIRST COUNT    runs the programs of these seeds
"""

from __future__ import annotations

import ctypes
import importlib.util
import mmap
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import mytriton as triton
from mytriton.targets.cpu.host import made_for

from .machines import MACHINES

Array = np.ndarray[Any, Any]
PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_held: list[mmap.mmap] = []


def guarded(values: Array, at_end: bool) -> Array:
    """A copy of a block of values that ends (or begins) where memory may not be touched."""
    inner = -(-max(values.nbytes, 1) // PAGE) * PAGE
    memory = mmap.mmap(-1, inner + 2 * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (address, address + PAGE + inner):
        assert _libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0) == 0
    _held.append(memory)  # never unmapped: views of it may live on
    start = PAGE + (inner - values.nbytes if at_end else 0)
    array = np.frombuffer(memory, values.dtype, values.size, start)
    array[:] = values.ravel()
    return array


INDICES = (
    "r * {sr} + c * {sc}", "c * {sc} + r * {sr}", "c * {k}", "r * {k} + c", "(c * {k}) // 2", "c",
    "(r * 5 + c * 3) % 17", "{k} - c", "r - c", "c * n - r", "(c + {k}).to(tl.int64) * 2 + r * n",
    "(m - c) * {sc}", "(r * 3 + c).to(tl.int16)", "r + c * {k}", "r * n + c * m", "r * m + c",
    "c * m + r", "c * n + r * {k}",
)  # fmt: skip
MASKS = (
    "c < n", "r < m", "(r < m) & (c < n)", "r * {k} + c < n", "(c >= m) & (c < n)",
    "(c > 2) & (r <= m)",
    "n > c", "c % 3 != 0", "(c < n) & (r + c < m)", "(c < n) & (n > 3)", "(r < 0)", "c * 2 < n",
    "(r <= m).to(tl.int1) & (c <= n)", "c.to(tl.int64) < n", "(c < {k}) | (r < m)", "n < 4",
)  # fmt: skip
SHAPES = ((64,), (40,), (16,), (33,), (5,), (128,), (4, 32), (16, 16), (3, 40), (8, 1), (1, 24))
DTYPES = (np.float32, np.int8, np.float64, np.float16, np.int32, np.uint16)
HEAD = """import mytriton as triton
import mytriton.language as tl


@triton.jit
def kernel(x, out, n, m, shift):
    x = x + shift
"""


def program(seed: int) -> tuple[str, dict[str, Any]]:
    """The text of a kernel, and what its index, mask and shape are."""
    random = Random(seed)
    shape = random.choice(SHAPES)
    names = {"sr": random.choice([1, 2, 7, 32]), "sc": random.choice([1, 1, 2, 3, 5])}
    names["k"] = random.choice([1, 3, 8, 32])
    index = random.choice(INDICES).format(**names)
    mask = random.choice(MASKS).format(**names)
    form = random.randrange(5)
    if len(shape) == 1:
        axes = f"    c = tl.arange(0, {shape[0]})\n    r = c // 8\n"
        place, count = "tl.arange(0, SIZE)", shape[0]
    else:
        axes = f"    r = tl.arange(0, {shape[0]})[:, None]\n"
        axes += f"    c = tl.arange(0, {shape[1]})[None, :]\n"
        place, count = "r * WIDTH + c", shape[0] * shape[1]
        if form == 4:  # columns one after the other
            place = f"c * {shape[0]} + r"
    place = place.replace("SIZE", str(count)).replace("WIDTH", str(shape[-1]))
    block = f"tl.broadcast_to({mask}, ({', '.join(map(str, shape))},))"
    lines = [axes, f"    at, on = ({index}), {block}\n"]
    if form == 0:
        lines.append(f"    tl.store(out + {place}, tl.load(x + at, on, other=3))\n")
    elif form in (1, 4):
        lines.append(f"    tl.store(out + {place}, tl.load(x + at, on), on)\n")
    elif form == 2:
        lines.append("    tl.store(x + at, tl.load(x + at, on) + 1, on)\n")
    else:
        lines.append("    v = tl.load(x + at, on, other=0).to(tl.float32)\n")
        lines.append(f"    tl.store(out + {place}, v + tl.sum(v, axis=0) * 0, on)\n")
    info = {"index": index, "mask": mask, "shape": shape, "form": form}
    return HEAD + "".join(lines), info


class _Numpy:
    """The few names of the language that the expressions use, for NumPy."""

    int64, int16, int1 = np.int64, np.int16, np.bool_


def expected(info: dict[str, Any], n: int, m: int) -> tuple[Array, Array]:
    """The index of each lane, and whether it is on."""
    shape = info["shape"]
    c = np.arange(shape[-1], dtype=np.int32).view(_Casting)
    r = c // 8 if len(shape) == 1 else np.arange(shape[0], dtype=np.int32).view(_Casting)[:, None]
    c = c if len(shape) == 1 else c[None, :]
    names = {"r": r, "c": c, "n": n, "m": m, "tl": _Numpy}
    at = np.broadcast_to(np.asarray(eval(info["index"], names)), shape).astype(np.int64)
    return at, np.broadcast_to(np.asarray(eval(info["mask"], names)), shape)


class _Casting(Array):
    """An array with the language's `to`."""

    def to(self, dtype: Any) -> Any:
        return self.astype(dtype)


def check(seed: int, folder: Path) -> None:
    """Runs one program; its array is just as long as what it touches."""
    text, info = program(seed)
    random = Random(seed)
    path = folder / f"guarded_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for _ in range(3):
        n, m, dtype = random.randint(0, 40), random.randint(0, 12), random.choice(DTYPES)
        launch(module.kernel, info, n, m, np.dtype(dtype), random.random() < 0.5, text)


def launch(
    kernel: Any, info: dict[str, Any], n: int, m: int, dtype: Any, at_end: bool, text: str
) -> None:
    at, on = expected(info, n, m)
    if info["form"] == 2 and len(np.unique(at[on])) != on.sum():
        return  # lanes that store to one place
    low, high = (int(at[on].min()), int(at[on].max())) if on.any() else (0, 0)
    values = (np.arange(high - low + 1) % 50).astype(dtype)
    memory = guarded(values, at_end)
    out = guarded(np.full(at.size, 7).astype(dtype), not at_end)
    kernel[(1,)](memory, out, n, m, -low, target="cpu")
    read = np.where(on, values[np.where(on, at - low, 0)], 0)
    want, changed = np.full(at.shape, 7).astype(dtype), values.copy()
    if info["form"] == 2:
        changed[at[on] - low] += np.ones((), dtype)
    else:
        want = np.where(on, read, 3 if info["form"] == 0 else 7).astype(dtype)
    what = f"n={n} m={m} {dtype} at_end={at_end}\n{text}"
    order = "F" if info["form"] == 4 else "C"
    np.testing.assert_array_equal(out.reshape(at.shape, order=order), want, what)
    np.testing.assert_array_equal(memory, changed, what)


def main(machine: str, first: int, count: int) -> None:
    other = MACHINES[machine]
    with tempfile.TemporaryDirectory() as folder, made_for(other):
        for seed in range(first, first + count):
            print(f"seed {seed}", file=sys.stderr)
            check(seed, Path(folder))


if __name__ == "__main__":
    assert triton
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
