"""The benchmark harness: who is timed when, and what the ratios mean. The clock is the test's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from benchmarks import harness
from benchmarks.harness import Benchmark, Result
from tools.ci.source import ROOT


class World:
    """A clock that only moves when a peer runs, and a log of who ran."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def peer(self, name: str, seconds: float) -> Callable[[], None]:
        def call() -> None:
            self.now += seconds
            self.log.append(name)

        return call


def measured(rounds: int = 3, **benchmark: object) -> tuple[World, Result]:
    world = World()
    peers = {
        "mytriton": world.peer("mytriton", 1.0),
        "numpy": world.peer("numpy", 4.0),
        "torch": world.peer("torch", 2.0),
    }
    made = Benchmark("add", peers, **benchmark)  # type: ignore[arg-type]
    return world, harness.measure(made, rounds, clock=lambda: world.now)


def test_the_rounds_take_turns() -> None:
    world, result = measured(rounds=2)
    assert world.log[:3] == ["mytriton", "numpy", "torch"]  # the warm-up
    turns = ["mytriton", "numpy", "torch", "numpy", "torch", "mytriton"]
    assert world.log[-12:] == [peer for peer in turns for _ in ("untimed", "timed")]
    assert {peer: len(times) for peer, times in result.seconds.items()} == dict.fromkeys(
        ("mytriton", "numpy", "torch"), 2
    )


def test_ratios_are_against_the_best_peer() -> None:
    _, result = measured()
    assert result.best_peer == "torch"
    assert result.speedups("torch") == [2.0, 2.0, 2.0]
    assert result.speedups("numpy") == [4.0, 4.0, 4.0]


def test_short_calls_are_repeated_to_fill_a_sample() -> None:
    world = World()
    call = world.peer("short", harness.SAMPLE_SECONDS / 8)
    assert harness.repeats_for(call, lambda: world.now) in (8, 9)


def test_a_wrong_result_is_not_timed() -> None:
    def check() -> None:
        raise AssertionError("results differ")

    with pytest.raises(AssertionError, match="results differ"):
        measured(check=check)


def test_the_page() -> None:
    _, result = measured(bytes=8_000_000_000)
    page = harness.markdown("elementwise", ["a machine"], [result])
    assert page.splitlines() == [
        "# elementwise",
        "",
        "- a machine",
        "",
        "| benchmark | peer | median | rate | mytriton is faster by | middle half |",
        "| --- | --- | --- | --- | --- | --- |",
        "| add | mytriton | 1 s | 8.0 GB/s |  |  |",
        "|  | torch | 2 s | 4.0 GB/s | 2.00x (best peer) | 2.00 to 2.00 |",
        "|  | numpy | 4 s | 2.0 GB/s | 4.00x | 4.00 to 4.00 |",
    ]


def test_the_program_drops_the_handicaps() -> None:
    program = (
        "import os; from benchmarks import run; run.without_handicaps();"
        "print(sorted(set(run.HANDICAPS) & set(os.environ)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_L2_SIZE": "512"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n", done.stderr
