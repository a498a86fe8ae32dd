"""Conversion plans as printed: 300 random ones run under cudasim, each moving every element to
where the target layout wants it, without bank conflicts."""

from __future__ import annotations

import numpy as np
import pytest

from mytriton.ir.types import F32, I32, PointerType
from mytriton.layouts import Layout
from mytriton.layouts.simulate import indices
from mytriton.targets.cuda import CudaSource, Options, sim
from mytriton.targets.cuda.emit import RULES, Emitter
from mytriton.targets.cuda.emit.distribution import Distribution
from mytriton.targets.cuda.sim.banks import bank_conflicts
from mytriton.targets.cuda.source import Parameter
from tests.layouts.test_layouts import random_pair
from tests.support.cuda import compile_everywhere, ssa
from tests.support.memory import arguments_of, buffer

BATCH = 20
FUNCTION = "k(x: ptr<i32>, out: ptr<i32>) {\n%0 = program_id {axis=0} : i32\n}"


def pairs_of(threads: int, seed: int) -> list[tuple[Layout, Layout]]:
    """Random pairs of layouts over so many threads, of at most 1024 elements."""
    found: list[tuple[Layout, Layout]] = []
    while len(found) < BATCH:
        seed += 1
        source, target, _ = random_pair(seed)
        small = source.shape[0] <= 1024 and max(source.registers, target.registers) <= 64
        if source.threads == threads and small:
            found.append((source, target))
    return found


def kernel_of(pairs: list[tuple[Layout, Layout]], threads: int) -> CudaSource:
    """A kernel that gives each thread's registers their index by the source layout, converts them,
    and writes register r of thread t of pair number p to out[p][t][r]."""
    function = ssa(FUNCTION)
    emitter = Emitter(function, Distribution(threads, lane_rule=False), Options(), RULES)
    for number, (source, target) in enumerate(pairs):
        with emitter.printer.block(""):
            held = emitter.array("given", "int", source, lambda r, s=source: emitter.index(s, r))
            made = emitter.scratch.moved(held, target, "made", I32)
            with emitter.registers(target) as r:
                at = f"({number * threads} + thread) * 64 + {r}"
                emitter.put(f"out[{at}] = {made.at(r)};")
    return emitter.source()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("threads", [32, 64, 128])
def test_printed_plans_move_every_element(threads, seed):
    pairs = pairs_of(threads, 1000 * seed)
    source = kernel_of(pairs, threads)
    compile_everywhere(source)
    out = np.full((BATCH, threads, 64), -1, np.int32)
    given = arguments_of(ssa(FUNCTION), (np.zeros(1, np.int32), out))
    records = sim.trace(source, (1, 1, 1), given, order=f"shuffle:{seed}", checks="all")
    for got, (_, target) in zip(out, pairs):
        np.testing.assert_array_equal(got[:, : target.registers], indices(target), str(target))
    conflicts = {line: turns for line, turns in bank_conflicts(records).items() if turns > 1}
    assert not conflicts, [source.kernel.splitlines()[line - 1] for line in conflicts]


TRANSPOSE = """
    __shared__ __align__(16) float s[1024];
    int t = threadIdx.x;
    for (int i = 0; i < 32; i++) s[WRITTEN] = x[32 * i + t];
    __syncthreads();
    for (int i = 0; i < 32; i++) y[32 * i + t] = s[READ];
"""


@pytest.mark.parametrize(
    ("written", "read", "turns"),
    [
        ("32 * i + t", "32 * t + i", [1, 32]),
        ("32 * i + (t ^ i)", "32 * t + (i ^ t)", [1, 1]),
        ("32 * i + t", "0", [1, 1]),
        ("32 * i + t", "16 * t % 512 + i", [1, 16]),
    ],
)
def test_bank_conflicts_are_counted(written, read, turns):
    text = TRANSPOSE.replace("WRITTEN", written).replace("READ", read)
    kernel = f'extern "C" __global__\nvoid k(float* x, float* y) {{{text}}}'
    parameters = [Parameter(name, "float*", PointerType(F32)) for name in "xy"]
    source = CudaSource("k", kernel, tuple(parameters), 32)
    x, y = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    records = sim.trace(source, (1, 1, 1), [buffer(x), buffer(y)])
    assert list(bank_conflicts(records).values()) == turns
