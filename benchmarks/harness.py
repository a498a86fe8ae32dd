"""Times competing callables so that the comparison, not the machine's mood, is what is measured.

The one idea: all peers of a benchmark run in the same process, in short samples that take turns
(each round starts with another peer), and what is reported is the median over the rounds of the
ratio within a round. A slow second on a shared machine then hits all peers alike.

A topic is a module `benchmarks/bench_<topic>.py` with a generator:

    def benchmarks() -> Iterator[Benchmark]:
        x = numpy.random.rand(1 << 22).astype("f4")
        peers = {"mytriton": lambda: exp[grid](x, y), "numpy": lambda: numpy.exp(x, out=y)}
        yield Benchmark("exp, 4M f32", peers, bytes=2 * x.nbytes)

A generator, so that the arrays of one benchmark are gone before those of the next are made.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

SUBJECT = "mytriton"
SAMPLE_SECONDS = 0.02  # a sample calls its peer as often as fills this time


@dataclass(frozen=True)
class Benchmark:
    """What is timed: named callables that do the same work, one of them the subject.

    `bytes` and `flops` are those of one call; they add a column of rates. `check` runs after every
    peer has run once and raises if their results differ: a wrong answer has no speed.
    """

    name: str
    peers: Mapping[str, Callable[[], object]]
    subject: str = SUBJECT
    bytes: int = 0
    flops: int = 0
    check: Callable[[], object] | None = None


@dataclass(frozen=True)
class Result:
    """Seconds per call of each peer, one entry a round."""

    benchmark: Benchmark
    seconds: Mapping[str, tuple[float, ...]]

    def median(self, peer: str) -> float:
        return statistics.median(self.seconds[peer])

    @property
    def best_peer(self) -> str | None:
        """The fastest peer other than the subject."""
        others = [peer for peer in self.seconds if peer != self.benchmark.subject]
        return min(others, key=self.median, default=None)

    def speedups(self, peer: str) -> list[float]:
        """Return how many times faster than peer the subject was, a round each, sorted."""
        ours = self.seconds[self.benchmark.subject]
        return sorted(theirs / our for theirs, our in zip(self.seconds[peer], ours, strict=True))

    def rate(self, peer: str) -> str:
        """Return the peer's rate in GB/s or GFLOP/s, '' if the benchmark gives no amount."""
        amount, unit = (self.benchmark.bytes, "GB/s")
        if self.benchmark.flops:
            amount, unit = (self.benchmark.flops, "GFLOP/s")
        return f"{amount / self.median(peer) / 1e9:.1f} {unit}" if amount else ""


Clock = Callable[[], float]


def sample(call: Callable[[], object], repeats: int, clock: Clock) -> float:
    """Return the seconds of one call, the mean of `repeats`."""
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats


def repeats_for(call: Callable[[], object], clock: Clock) -> int:
    """Return how many calls fill one sample."""
    estimate = min(sample(call, 1, clock) for _ in range(3))
    return max(1, math.ceil(SAMPLE_SECONDS / max(estimate, 1e-9)))


def measure(benchmark: Benchmark, rounds: int = 15, clock: Clock = time.perf_counter) -> Result:
    """Time all peers in turns: warm up (compilation, threads), check, then the rounds."""
    peers = benchmark.peers
    assert benchmark.subject in peers, f"{benchmark.name}: no peer named {benchmark.subject}"
    for call in peers.values():
        call()
    if benchmark.check is not None:
        benchmark.check()
    repeats = {peer: repeats_for(call, clock) for peer, call in peers.items()}
    seconds: dict[str, list[float]] = {peer: [] for peer in peers}
    order = list(peers)
    for _ in range(rounds):
        for peer in order:
            sample(peers[peer], repeats[peer] // 4 + 1, clock)  # the peer before may still spin
            seconds[peer].append(sample(peers[peer], repeats[peer], clock))
        order.append(order.pop(0))
    return Result(benchmark, {peer: tuple(times) for peer, times in seconds.items()})


COLUMNS = ("benchmark", "peer", "median", "rate", "mytriton is faster by", "middle half")


def duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def rows(result: Result) -> list[tuple[str, ...]]:
    """Return the table's rows for one benchmark, the subject first, then from fast to slow."""
    subject, best = result.benchmark.subject, result.best_peer
    found: list[tuple[str, ...]] = []
    found.append((result.benchmark.name, subject, *timing(result, subject), "", ""))
    for peer in sorted(set(result.seconds) - {subject}, key=result.median):
        ratios = result.speedups(peer)
        low, _, high = quartiles(ratios)
        star = " (best peer)" if peer == best else ""
        ratio = f"{statistics.median(ratios):.2f}x{star}"
        found.append(("", peer, *timing(result, peer), ratio, f"{low:.2f} to {high:.2f}"))
    return found


def quartiles(ratios: list[float]) -> list[float]:
    few = len(ratios) < 2
    return ratios * 3 if few else statistics.quantiles(ratios, n=4, method="inclusive")


def timing(result: Result, peer: str) -> tuple[str, str]:
    return duration(result.median(peer)), result.rate(peer)


def markdown(topic: str, machine: Iterable[str], results: Iterable[Result]) -> str:
    """Return a page with one topic's results: the machine, then the table."""
    lines = [f"# {topic}", "", *(f"- {line}" for line in machine), ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "| " + " | ".join("---" for _ in COLUMNS) + " |"]
    lines += ["| " + " | ".join(row) + " |" for result in results for row in rows(result)]
    return "\n".join(lines) + "\n"
