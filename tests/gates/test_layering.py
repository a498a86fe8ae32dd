"""The layering gate holds for this tree, and finds every way to import upward."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.ci import layering
from tools.ci.source import ROOT

MODULES = (
    "__init__",
    "errors",
    "ir/__init__",
    "ir/types",
    "passes/__init__",
    "passes/facts",
    "targets/__init__",
    "targets/shared",
    "targets/cpu/__init__",
    "targets/cpu/emit",
    "targets/cuda/__init__",
    "targets/cuda/prelude",
    "targets/cuda/sim/__init__",
    "runtime/__init__",
    "runtime/jit",
    "tools/__init__",
    "tools/cli",
)


def findings(
    tmp_path: Path, module: str, text: str, permitted: frozenset[tuple[str, str]] = frozenset()
) -> list[str]:
    """What the gate finds in a tree of empty modules but one, with these upward imports allowed."""
    for name in (*MODULES, module):
        file = tmp_path / f"src/mytriton/{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if name == module else "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layering, "LAZY_UPWARD", permitted)
        return [finding.message for finding in layering.check(tmp_path)]


def test_this_tree() -> None:
    assert [str(finding) for finding in layering.check(ROOT)] == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("ir/types", "from mytriton.errors import CompileError"),
        ("ir/types", "import numpy\nfrom mytritonic import runtime"),
        ("ir/__init__", "from . import types\nfrom .types import x"),
        ("passes/facts", "from .. import errors, ir"),
        ("passes/facts", "from ..ir import types"),
        ("targets/cuda/prelude", "from .sim import fibers\nfrom .. import shared"),
        ("targets/cuda/sim/__init__", "from mytriton.targets.cuda import prelude"),
        ("targets/__init__", "from . import cpu, cuda"),
        ("runtime/jit", "from ..targets.cpu import emit"),
        ("tools/cli", "import mytriton as triton"),
        ("__init__", "from .tools import cli\nfrom .runtime.jit import jit"),
        ("__main__", "from mytriton.tools.cli import main"),
    ],
)
def test_downward(tmp_path: Path, module: str, text: str) -> None:
    assert findings(tmp_path, module, text) == []


@pytest.mark.parametrize(
    ("module", "text", "message"),
    [
        ("errors", "from mytriton.ir import types", "errors imports ir"),
        ("ir/types", "import mytriton.passes.facts", "ir imports passes"),
        ("ir/types", "from ..passes import facts", "ir imports passes"),
        ("ir/__init__", "from .. import passes", "ir imports passes"),
        ("ir/types", "def f():\n    from mytriton import runtime", "ir imports runtime"),
        ("ir/types", "if TYPE_CHECKING:\n    from ..runtime.jit import jit", "ir imports runtime"),
        ("ir/types", "importlib.import_module('mytriton.runtime')", "ir imports runtime"),
        ("ir/types", "import mytriton", "ir imports `mytriton` itself"),
        ("ir/types", "from mytriton import jit", "ir imports `mytriton` itself"),
        ("runtime/jit", "from mytriton.tools import cli", "runtime imports tools"),
        ("targets/cpu/emit", "from ..cuda import prelude", "target cpu imports target cuda"),
        ("targets/cpu/emit", "from ..cuda.sim import x", "target cpu imports target cuda"),
        ("targets/cuda/prelude", "from .. import cpu", "target cuda imports target cpu"),
        ("extra/thing", "import mytriton.errors", "`mytriton.extra` is in no layer"),
    ],
)
def test_upward(tmp_path: Path, module: str, text: str, message: str) -> None:
    assert [found[: len(message)] for found in findings(tmp_path, module, text)] == [message]


def test_a_permitted_import_must_be_lazy_and_must_be_used(tmp_path: Path) -> None:
    permitted = frozenset({("mytriton.ir.types", "mytriton.passes.facts")})
    lazy = "def f():\n    from ..passes import facts"
    assert findings(tmp_path, "ir/types", lazy, permitted) == []
    assert len(findings(tmp_path, "ir/types", "from ..passes import facts", permitted)) == 2
    assert "is not used" in findings(tmp_path, "ir/types", "", permitted)[0]
