"""`triton.testing` times calls and compares arrays."""

from __future__ import annotations

import time

import numpy as np
import pytest

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
