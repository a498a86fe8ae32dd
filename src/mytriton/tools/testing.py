"""`triton.testing`: timing calls, comparing arrays, and benchmarks that become tables and plots."""

from __future__ import annotations

import csv
import functools
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CompileError
from ..runtime.timing import do_bench, do_bench_cudagraph
from .gpu import (
    get_dram_gbps,
    get_max_simd_tflops,
    get_max_tensorcore_tflops,
    nvsmi,
    set_gpu_clock,
)

__all__ = [
    "Benchmark",
    "Mark",
    "assert_close",
    "cuda_graph_without_gc",
    "do_bench",
    "do_bench_cudagraph",
    "do_bench_cudagraph_proton",
    "do_bench_proton",
    "get_dram_gbps",
    "get_max_simd_tflops",
    "get_max_tensorcore_tflops",
    "nvsmi",
    "perf_report",
    "set_gpu_clock",
]

do_bench_proton = do_bench
do_bench_cudagraph_proton = do_bench_cudagraph


def assert_close(
    x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = ""
) -> None:
    """Raises AssertionError unless |x - y| <= atol + rtol·|y| everywhere, NaN equal to NaN.

    x, y: arrays or tensors of shapes that broadcast. atol is 1e-2 and rtol 0 unless given.
    """
    left, right = (as_array(value) for value in (x, y))
    atol, rtol = 1e-2 if atol is None else atol, 0.0 if rtol is None else rtol
    np.testing.assert_allclose(left, right, atol=atol, rtol=rtol, err_msg=err_msg)


def as_array(value: Any) -> Any:
    """An array, or a tensor of any device and dtype, as float64."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().double()
    return np.asarray(value, np.float64)


@dataclass
class Benchmark:
    """What a benchmark varies, and how its results are shown.

    x_names: arguments that the x axis gives (all the same value, or a tuple each). x_vals: their
    values. line_arg: the argument that tells the lines apart; line_vals its values, line_names
    their labels. args: further arguments. plot_name: the title and the files' name.
    """

    x_names: Sequence[str]
    x_vals: Sequence[Any]
    line_arg: str
    line_vals: Sequence[Any]
    line_names: Sequence[str]
    plot_name: str
    args: dict[str, Any]
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: Sequence[tuple[str, str]] | None = None

    def point(self, x: Any) -> dict[str, Any]:
        """The x arguments at one value. Raises ValueError for a tuple of another length."""
        values = x if isinstance(x, (tuple, list)) else [x] * len(self.x_names)
        if len(values) != len(self.x_names):
            raise ValueError(f"{len(self.x_names)} x values are needed, got {x!r}")
        return dict(zip(self.x_names, values))


@dataclass
class Results:
    """The measurements of a benchmark: a row of a point's x values, then per line its value and, if
    the function gives them, its least and greatest."""

    bench: Benchmark
    rows: list[list[float]] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        unit = f" ({self.bench.ylabel})" if self.bench.ylabel else ""
        return [*self.bench.x_names, *(name + unit for name in self.bench.line_names)]

    def values(self) -> list[list[float]]:
        """The rows without the least and the greatest values."""
        fixed = len(self.bench.x_names)
        return [[*row[:fixed], *(cell[0] for cell in _triples(row[fixed:]))] for row in self.rows]

    def text(self) -> str:
        """A table: columns aligned, numbers with six digits."""
        cells = [self.columns, *([f"{v:.6g}" for v in row] for row in self.values())]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ("  ".join(c.rjust(w) for c, w in zip(row, widths)) for row in cells)
        return "\n".join([self.bench.plot_name, *lines])

    def frame(self) -> Any:
        """A pandas DataFrame. Raises CompileError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise CompileError("return_df=True needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.values(), columns=self.columns)

    def save(self, folder: Path) -> None:
        """Writes plot_name.csv, and plot_name.png where matplotlib is installed."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{self.bench.plot_name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([self.columns, *self.values()])
        figure = self.plot()
        if figure is not None:
            figure.savefig(folder / f"{self.bench.plot_name}.png")

    def plot(self) -> Any:
        """A matplotlib figure, None where matplotlib is not installed."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            print("no plot: matplotlib is not installed", file=sys.stderr)
            return None
        figure: Any = Figure()
        axes = figure.subplots()
        fixed = len(self.bench.x_names)
        x = [row[0] for row in self.rows]
        styles = self.bench.styles or [("", "-")] * len(self.bench.line_names)
        for index, (name, (color, style)) in enumerate(zip(self.bench.line_names, styles)):
            middle, low, high = zip(*(_triples(row[fixed:])[index] for row in self.rows))
            (line,) = axes.plot(x, middle, label=name, ls=style, color=color or None)
            axes.fill_between(x, low, high, alpha=0.15, color=line.get_color())
        axes.set_xlabel(self.bench.xlabel or self.bench.x_names[0])
        axes.set_ylabel(self.bench.ylabel)
        axes.set_xscale("log" if self.bench.x_log else "linear")
        axes.set_yscale("log" if self.bench.y_log else "linear")
        axes.set_title(self.bench.plot_name)
        axes.legend()
        return figure


def _triples(cells: Sequence[float]) -> list[Sequence[float]]:
    return [cells[i : i + 3] for i in range(0, len(cells), 3)]


class Mark:
    """A function with benchmarks; `run` measures them. `perf_report` makes one."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Any) -> None:
        self.fn, self.benchmarks = fn, benchmarks

    def measure(self, bench: Benchmark, **kwargs: Any) -> Results:
        """Calls the function at every point and line; it returns a number, or a value with its
        least and greatest."""
        results = Results(bench)
        for x in bench.x_vals:
            point = bench.point(x)
            row = [*point.values()]
            for line in bench.line_vals:
                found = self.fn(**point, **{bench.line_arg: line}, **bench.args, **kwargs)
                row += found if isinstance(found, (tuple, list)) else [found] * 3
            results.rows.append(row)
        return results

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Measures; shows, prints and saves what is asked for (`save_path` is a folder).

        With return_df returns a DataFrame, or a list of them for a list of benchmarks.
        """
        several = isinstance(self.benchmarks, (list, tuple))
        all_results = [
            self.measure(bench, **kwargs)
            for bench in (self.benchmarks if several else [self.benchmarks])
        ]
        for results in all_results:
            if print_data:
                print(results.text())
            if save_path:
                results.save(Path(save_path))
            if show_plots and (figure := results.plot()) is not None:
                figure.show()
        if not return_df:
            return None
        frames = [results.frame() for results in all_results]
        return frames if several else frames[0]


def perf_report(benchmarks: Any) -> Callable[[Callable[..., Any]], Mark]:
    """`@perf_report(Benchmark(…))`: makes a function of the benchmark's arguments a `Mark`."""
    return lambda fn: Mark(fn, benchmarks)


@contextmanager
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Any:
    """`torch.cuda.graph(…)` with Python's garbage collection off, since freeing memory inside ends
    the capture."""
    import gc

    import torch

    enabled = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(*args, **kwargs):
            yield
    finally:
        if enabled:
            gc.enable()


def cuda_memcheck(**target_kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Kept for Triton's sake: the targets `interpret` and `cudasim` check every access by
    themselves."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        return call

    return decorate
