"""`python -m benchmarks.run [TOPIC …]`: time the topics, show a table, write it with `--write`.

The environment's OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE choose BLAS kernels by hand, and slow ones;
a comparison with NumPy is fair only without them. They are read when NumPy is loaded, so this
program starts itself again without them first.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import harness
from benchmarks.harness import Benchmark, Result

FOLDER = Path(__file__).parent
HANDICAPS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
LIBRARIES = ("mytriton", "numpy", "llvmlite", "numba", "torch", "triton", "cupy")


def without_handicaps() -> None:
    """Start this program again without the settings that slow the peers, if there are any."""
    if any(name in os.environ for name in HANDICAPS):
        kept = {key: value for key, value in os.environ.items() if key not in HANDICAPS}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)


def topics() -> list[str]:
    return sorted(file.stem.removeprefix("bench_") for file in FOLDER.glob("bench_*.py"))


def processor() -> str:
    """Return the processor's name as the system gives it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def machine() -> Iterator[str]:
    """Yield what a reader needs to know to compare: day, processor, cores, system, versions."""
    yield datetime.date.today().isoformat()
    yield f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    versions = [f"Python {platform.python_version()}"]
    for library in LIBRARIES:
        try:
            versions.append(f"{library} {metadata.version(library)}")
        except metadata.PackageNotFoundError:
            continue
    yield ", ".join(versions)


def run_topic(topic: str, only: str, rounds: int, console: Console) -> list[Result]:
    """Measure a topic's benchmarks whose name contains `only`, and print them as one table."""
    module = importlib.import_module(f"benchmarks.bench_{topic}")
    chosen: Iterator[Benchmark] = (b for b in module.benchmarks() if only in b.name)
    results = []
    for benchmark in chosen:
        with console.status(f"{topic}: {benchmark.name}"):
            results.append(harness.measure(benchmark, rounds))
    table = Table(*harness.COLUMNS, title=topic)
    for result in results:
        for row in harness.rows(result):
            table.add_row(*row)
        table.add_section()
    console.print(table)
    return results


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=__doc__)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"of {', '.join(topics())}")
    parser.add_argument("--only", default="", help="benchmarks whose name contains this")
    parser.add_argument("--rounds", type=int, default=15, help="samples of each peer")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/TOPIC.md")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.topics) - set(topics())):
        parser.error(f"no such topic: {', '.join(unknown)}; there are: {', '.join(topics())}")
    return chosen


def main() -> None:
    without_handicaps()
    chosen, console = arguments(), Console()
    for topic in chosen.topics or topics():
        results = run_topic(topic, chosen.only, chosen.rounds, console)
        if chosen.write:
            file = FOLDER / "results" / f"{topic}.md"
            file.parent.mkdir(exist_ok=True)
            file.write_text(harness.markdown(topic, machine(), results), encoding="utf-8")
            console.print(f"wrote {file.relative_to(FOLDER.parent)}")


if __name__ == "__main__":
    main()
