"""`python -m integration [LIBRARY …]`: runs the libraries' cases and writes the tables."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from integration.worker import ENGINES, LIBRARIES

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parents[1]
CASE_SECONDS = 120.0
PACKAGES = {
    "liger": ("liger-kernel",),
    "fla": ("fla-core",),
    "gems": ("flag-gems",),
    "conch": ("conch-triton-kernels",),
    "torchao": ("torchao",),
    "cce": ("cut-cross-entropy",),
    "inductor": ("torch",),
}
ABOUT = {
    "liger": "Liger Kernel: each op forward and backward, against PyTorch in float32",
    "fla": "Flash Linear Attention: each op against its own naive reference",
    "gems": "FlagGems: its kernels in place of PyTorch's operators, on PyTorch's own sample inputs",
    "conch": "Conch: kernels of inference and vision, each against its own reference or PyTorch",
    "torchao": "torchao: quantisation and products of quantised numbers, against PyTorch",
    "cce": "Cut Cross-Entropy: forward and backward, against PyTorch in float32",
    "inductor": "torch.compile with its Triton backend for the CPU, against eager",
}
Rows = list[dict[str, object]]


def run_library(library: str, engine: str, ops: str, seconds: float) -> Rows:
    """The outcomes of a library's cases, in order; a worker that dies is started again."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "outcomes"
        after = ""
        while True:
            dead = _run_worker(library, engine, ops, after, output, seconds)
            if dead is None:
                return _outcomes(output)
            after = str(dead["op"]) + "/" + str(dead["variant"])
            with output.open("a") as file:
                print(json.dumps({"outcomes": [dead]}), file=file)


def _run_worker(
    library: str, engine: str, ops: str, after: str, output: Path, seconds: float
) -> dict[str, object] | None:
    """Runs the cases after one; the outcome of the case that ended the process, if one did."""
    command = [sys.executable, "-m", "integration.worker", library, engine, str(output)]
    log = output.with_suffix(".log")
    with log.open("w") as file:
        worker = subprocess.Popen(
            [*command, "--ops", ops, "--after", after],
            cwd=ROOT,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        )
        status = _watch(worker, output, seconds)
    running = _running(output)
    if worker.returncode == 0:
        return None
    if running is None:
        raise SystemExit(f"{library} on {engine} does not start:\n{log.read_text()[-3000:]}")
    op, _, variant = running.partition("/")
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    detail = f"exit status {worker.returncode}; {' '.join(lines[-1:])[:200]}"
    return {"op": op, "variant": variant, "status": status, "seconds": 0.0, "detail": detail}


def _watch(worker: subprocess.Popen[bytes], output: Path, seconds: float) -> str:
    """Waits for the worker; kills it where one case takes longer than that."""
    seen, since = -1, time.monotonic()
    while worker.poll() is None:
        time.sleep(0.2)
        size = output.stat().st_size if output.exists() else 0
        if size != seen:
            seen, since = size, time.monotonic()
        elif time.monotonic() - since > seconds:
            worker.kill()
            worker.wait()
            return "slow"
    return "crashed"


def _lines(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []


def _outcomes(output: Path) -> Rows:
    rows = [row for line in _lines(output) for row in line.get("outcomes", ())]
    return [row for row in rows if row["status"] != "no kernel"]


def _running(output: Path) -> str | None:
    """The case that has started and not ended."""
    lines = _lines(output)
    return str(lines[-1]["start"]) if lines and "start" in lines[-1] else None


# -- tables


def by_op(rows: Rows) -> dict[str, Rows]:
    grouped: dict[str, Rows] = {}
    for row in rows:
        grouped.setdefault(str(row["op"]), []).append(row)
    return grouped


def summary(rows: Rows) -> str:
    """`ok` where all cases are right, else the counts."""
    counts = Counter(str(row["status"]) for row in rows)
    total = sum(counts.values())
    if counts["ok"] == total:
        return f"ok ({total})"
    return ", ".join(f"{counts[s]} {s}" for s in sorted(counts))


def document(library: str, results: dict[str, Rows]) -> str:
    """The table of a library as Markdown."""
    versions = [f"{name} {metadata.version(name)}" for name in (*PACKAGES[library], "torch")]
    lines = [
        f"# {ABOUT[library]}",
        "",
        f"{date.today()}; {', '.join(dict.fromkeys(versions))}; Python {platform.python_version()};"
        f" {os.cpu_count()} cores. Written by `make integration`.",
        "",
    ]
    for engine, rows in results.items():
        groups = by_op(rows)
        right = sum(all(r["status"] == "ok" for r in group) for group in groups.values())
        lines.append(f"{engine}: {right} of {len(groups)} ops right in every case.")
    lines += ["", "| op | " + " | ".join(f"{e} | s" for e in results) + " |"]
    lines.append("|---|" + "---|---|" * len(results))
    ops = list(dict.fromkeys(str(row["op"]) for rows in results.values() for row in rows))
    groups = {engine: by_op(rows) for engine, rows in results.items()}
    for op in ops:
        cells = []
        for engine in results:
            rows = groups[engine].get(op, [])
            seconds = sum(float(str(row["seconds"])) for row in rows)
            cells += [summary(rows) if rows else "", f"{seconds:.1f}" if rows else ""]
        lines.append(f"| {op} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *faults(results)]) + "\n"


def faults(results: dict[str, Rows]) -> list[str]:
    """What went wrong on this project, a line each."""
    wrong = [row for row in results.get("mytriton", []) if row["status"] != "ok"]
    if not wrong:
        return []
    lines = [f"- {r['op']} {r['variant']}: {r['status']}: {r['detail']}" for r in wrong]
    return ["## What is not right on mytriton", "", *lines]


def show(console: Console, library: str, results: dict[str, Rows]) -> None:
    table = Table("library", "engine", "ops", "ops right", "cases", "seconds", title=ABOUT[library])
    for engine, rows in results.items():
        groups = by_op(rows)
        right = sum(all(r["status"] == "ok" for r in group) for group in groups.values())
        seconds = sum(float(str(row["seconds"])) for row in rows)
        cells = (len(groups), right, len(rows), f"{seconds:.0f}")
        table.add_row(library, engine, *map(str, cells))
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(prog="python -m integration", description=__doc__)
    options.add_argument("libraries", nargs="*", default=[], metavar="LIBRARY")
    options.add_argument("--ops", default="", help="only ops with this in their name")
    options.add_argument(
        "--interpreter", action="store_true", help="Triton's interpreter beside it"
    )
    options.add_argument("--seconds", type=float, default=CASE_SECONDS, help="for one case")
    given = options.parse_args(arguments)
    unknown = set(given.libraries) - set(LIBRARIES)
    if unknown:
        options.error(f"no library {', '.join(sorted(unknown))}; there are {', '.join(LIBRARIES)}")
    console = Console()
    for library in given.libraries or LIBRARIES:
        engines = ENGINES if given.interpreter else ENGINES[:1]
        results = {e: run_library(library, e, given.ops, given.seconds) for e in engines}
        show(console, library, results)
        for line in faults(results):
            console.print(line, markup=False, highlight=False)
        if not given.ops:
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{library}.md").write_text(document(library, results))


if __name__ == "__main__":
    main()
