"""`run_everywhere` itself: it finds a wrong backend, and says which ones this machine has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import backends
from tests.support.compare import differences


@pytest.mark.parametrize("target", backends.BACKENDS)
def test_a_target_is_here(target: str) -> None:
    if reason := backends.missing(target):
        pytest.skip(reason)
    assert target in backends.available()
    assert target not in backends.available(skip=[target])


class Doubling:
    """A kernel that every target but one gets right."""

    arg_names = ("x", "out")

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong

    def __getitem__(self, grid: Any) -> Any:
        def launch(x: Any, out: Any, target: str) -> None:
            if target == self.wrong:
                raise ValueError("no such thing")
            out[:] = x * 2

        return launch


def test_a_wrong_target_is_named_and_arguments_stay() -> None:
    x, out = np.arange(3.0), np.zeros(3)
    backends.run_everywhere(Doubling(""), (1,), x, out, expected={"out": x * 2})
    assert not out.any()
    target = backends.available()[-1]
    with pytest.raises(AssertionError, match=f"{target}: raises ValueError: no such thing"):
        backends.run_everywhere(Doubling(target), (1,), x, out, expected={"out": x * 2})
    with pytest.raises(AssertionError, match=f"{target}, `out`"):
        backends.run_everywhere(Doubling(""), (1,), x, out, expected={"out": x * 3})
    with pytest.raises(AssertionError, match=f"{target}, `out`"):
        backends.run_everywhere(Doubling(""), (1,), x, out, expected={})


def test_differences_know_nan_zero_and_tolerance() -> None:
    nan, zero = np.array([np.nan, 0.0]), np.array([np.nan, -0.0])
    assert differences(nan, zero, 0, 0, signs=False) == ""
    assert differences(nan, zero, 0, 0, signs=True)
    assert differences(np.array([1.01]), np.array([1.0]), 0.02, 0, signs=False) == ""
    assert differences(np.array([1.01]), np.array([1.0]), 0.001, 0, signs=False)
    big = np.array([2**63 - 1])
    assert differences(big, big - 1, 0, 0, signs=False)
