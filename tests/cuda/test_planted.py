"""cudasim finds faults that a script plants in the text of the gallery's kernels, and names their
line: see planted.py.

A wrong lane of a shuffle is no fault of synchronisation or of memory: it can only be seen by what
the kernel leaves. All others must be reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import pytest

import mytriton as triton
from mytriton.runtime.jit import JITFunction
from tests.gallery.test_gallery import EXAMPLES
from tests.support.backends import missing

from . import planted

pytestmark = pytest.mark.skipif(bool(missing("cudasim")), reason=missing("cudasim"))
SAMPLE = ("adam", "histogram", "int8_matmul")
SIZES = {
    "mandelbrot": (50, 70, 60),
    "moe_permute": (150, 200, 12, 3),
    "radix_sort": (10_000, 2**31 - 1),
}
"""Where the smallest sizes leave most lanes the same value, or loops a single turn."""


def launches_of(name: str, warps: int, monkeypatch: pytest.MonkeyPatch) -> list[planted.Launch]:
    """The launches of an example of the gallery over so many warps."""
    run, found = JITFunction.run, list[planted.Launch]()

    def tiled(kernel: JITFunction, *args: Any, **kwargs: Any) -> Any:
        return run(kernel, *args, **{"num_warps": warps, **kwargs})

    example = EXAMPLES[name]
    sizes = SIZES.get(name, example.tiny[-1])
    module = import_module(f"examples.gallery.{name}")
    with monkeypatch.context() as patched, triton.target("cudasim"), planted.launches(found):
        patched.setattr(JITFunction, "run", tiled)
        getattr(module, name)(*module.inputs(*sizes))
    return found


def judged(launch: planted.Launch) -> Iterator[tuple[str, str, planted.Fault]]:
    """What became of each fault in a kernel: its kind, the verdict, and the fault."""
    source, faults = planted.plant(launch.source)
    assert planted.run_planted(launch, source, None, "forward")[0] == ""
    for fault in faults:
        seen = planted.outcome(launch, source, fault)
        if seen.report and fault.kind != "lane":
            right = planted.names_the_line(source, seen)
            verdict = "right line" if right else "other line"
        elif seen.report or seen.differs:
            verdict = "other values"
        else:
            equivalent = planted.is_equivalent(launch, source, fault)
            verdict = "changes nothing" if equivalent else "missed"
        yield fault.kind, verdict, fault


def study(
    names: Sequence[str], warps: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """How many faults of each kind had each verdict, and those that were not caught well."""
    counts: Counter[tuple[str, str]] = Counter()
    bad = []
    for name in names:
        for launch in launches_of(name, warps, monkeypatch):
            for kind, verdict, fault in judged(launch):
                counts[kind, verdict] += 1
                well = verdict in ("right line", "changes nothing")
                if not well and (kind, verdict) != ("lane", "other values"):
                    bad.append(f"{verdict}: {name}, {launch.source.name}, {fault}")
    return counts, bad


def share(counts: Counter[tuple[str, str]]) -> tuple[int, float]:
    """The faults that change something, and the part of them that is caught."""
    real = {key: n for key, n in counts.items() if key[1] != "changes nothing"}
    caught = sum(
        n
        for (kind, verdict), n in real.items()
        if verdict == "right line" or (kind == "lane" and verdict == "other values")
    )
    return sum(real.values()), caught / max(1, sum(real.values()))


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_planted_faults_is_caught(name, monkeypatch):
    counts, bad = study([name], 4, monkeypatch)
    assert counts["barrier", "right line"] + counts["buffer", "right line"] >= 2
    assert not bad, f"{counts}\n" + "\n".join(bad)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_planted_faults_are_caught(warps, monkeypatch):
    counts, bad = study(list(EXAMPLES), warps, monkeypatch)
    total, caught = share(counts)
    print(f"\n{warps} warps: {total} faults, {caught:.1%} caught; {sorted(counts.items())}")
    assert total >= 200
    assert caught >= 0.98, "\n".join(bad)
