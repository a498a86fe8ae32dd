"""`pytest --mytriton-sanitize`: tests whose kernels have faults fail.

pytest finds this plugin where the package is installed; without the option it loads nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest
else:
    try:
        import pytest
    except ImportError:  # the package is read by something else than pytest
        pytest = None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    group = parser.getgroup("mytriton")
    group.addoption(
        "--mytriton-sanitize",
        action="store_true",
        help="look for faults in the kernels that tests launch, and fail the tests that have some",
    )
    group.addoption(
        "--mytriton-sanitize-kinds",
        metavar="KINDS",
        help="only of these kinds: bounds, undefined, races, overflow, nan, order, with commas",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Runs a test inside `triton.sanitize`."""
    kinds = item.config.getoption("--mytriton-sanitize-kinds")
    if kinds is None and not item.config.getoption("--mytriton-sanitize"):
        return (yield)
    from ..runtime.checks import sanitize

    with sanitize(kinds or "all", handler=lambda finding: None) as session:
        result = yield
    if session.findings:
        pytest.fail("\n\n".join(map(str, session.findings)), pytrace=False)
    return result
