"""The properties run in `make test` with few examples and in `make fuzz` with many.

One idea: the same tests, no second set; under the hypothesis profile `fuzz` each is marked `fuzz`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Chosen by `-m fuzz` where the profile is `fuzz`."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz":
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.fuzz)
