"""`triton.testing` times calls and compares arrays."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import torch

import mytriton as triton
from mytriton.tools.testing import assert_close, do_bench


def test_do_bench_reports_milliseconds_by_the_statistic_asked_for() -> None:
    def call() -> None:
        time.sleep(0.002)

    times = do_bench(call, warmup=1, rep=10, return_mode="all")
    assert len(times) >= 1
    assert all(2 <= one < 2000 for one in times)
    assert do_bench(call, warmup=1, rep=5, return_mode="min") >= 2
    low, high = do_bench(call, warmup=1, rep=10, quantiles=[0.0, 1.0])
    assert 2 <= low <= high
    assert isinstance(do_bench(call, warmup=1, rep=5, quantiles=[0.5]), float)


def test_do_bench_clears_gradients_and_refuses_unknown_modes() -> None:
    class Tensor:
        grad: object = 1

    tensor = Tensor()
    do_bench(lambda: None, warmup=0, rep=0, grad_to_none=[tensor])
    assert tensor.grad is None
    with pytest.raises(ValueError, match="return_mode must be one of min, max"):
        do_bench(lambda: None, return_mode="mode")


def test_assert_close_is_relative_to_the_second_and_takes_nan_for_equal() -> None:
    assert triton.testing.assert_close is assert_close
    assert_close(np.array([1.0, np.nan]), [1.005, np.nan])
    assert_close(np.array([100.0]), [101.0], atol=0, rtol=0.01)
    with pytest.raises(AssertionError, match="why"):
        assert_close([1.0], [1.1], err_msg="why")


# -- benchmarks as tables and plots


def times_of(n: int, provider: str, scale: float = 1.0) -> object:
    return n * scale if provider == "ours" else (n * 2.0, n * 1.5, n * 3.0)


BENCHMARK = triton.testing.Benchmark(
    x_names=["n"],
    x_vals=[1, 10, 100],
    line_arg="provider",
    line_vals=["ours", "theirs"],
    line_names=["Ours", "Theirs"],
    plot_name="speed",
    args={"scale": 0.5},
    ylabel="ms",
    x_log=True,
)


def test_a_report_measures_every_point_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = triton.testing.perf_report(BENCHMARK)(times_of)
    frame = mark.run(print_data=True, save_path=str(tmp_path / "out"), return_df=True)
    assert list(frame.columns) == ["n", "Ours (ms)", "Theirs (ms)"]
    assert frame.to_numpy().tolist() == [[1, 0.5, 2], [10, 5, 20], [100, 50, 200]]
    assert capsys.readouterr().out.splitlines() == [
        "speed",
        "  n  Ours (ms)  Theirs (ms)",
        "  1        0.5            2",
        " 10          5           20",
        "100         50          200",
    ]
    lines = (tmp_path / "out" / "speed.csv").read_text().splitlines()
    assert lines == ["n,Ours (ms),Theirs (ms)", "1,0.5,2.0", "10,5.0,20.0", "100,50.0,200.0"]
    assert (tmp_path / "out" / "speed.png").stat().st_size > 1000


def test_several_benchmarks_give_several_frames_and_tuples_several_arguments() -> None:
    def area(w: int, h: int, provider: str) -> float:
        return float(w * h)

    bench = triton.testing.Benchmark(["w", "h"], [4, (2, 3)], "provider", ["a"], ["A"], "area", {})
    frames = triton.testing.perf_report([bench, bench])(area).run(return_df=True)
    assert [frame.to_numpy().tolist() for frame in frames] == [[[4, 4, 16], [2, 3, 6]]] * 2
    with pytest.raises(ValueError, match="2 x values are needed, got"):
        bench.point((1, 2, 3))


def test_tensors_of_narrow_dtypes_are_compared() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    assert_close(x, torch.tensor([1.0, 2.001], dtype=torch.float64))
    with pytest.raises(AssertionError):
        assert_close(x, torch.tensor([1.0, 3.0]))


def test_what_a_gpu_can_do_needs_a_gpu() -> None:
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="no CUDA device"):
            triton.testing.get_dram_gbps()
