"""`torch.library.triton_op`, `wrap_triton` and kernels under torch.compile, with the stand-in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("backend", ["none", "eager", "aot_eager", "inductor"])
def test_operators(tmp_path: Path, backend: str) -> None:
    if backend == "inductor" and shutil.which("c++") is None:
        pytest.skip("inductor needs a C++ compiler for what is no kernel")
    path = os.pathsep.join([str(HERE.parents[1] / "src"), os.environ.get("PYTHONPATH", "")])
    given = {"PYTHONPATH": path, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "mytriton", "run", str(HERE / "torch_ops.py"), backend],
        env=os.environ | given,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{backend} right\n"


@pytest.mark.parametrize(
    ("imports", "given", "threads"),
    [
        ("triton, torch._inductor.config as config", {}, "1"),
        ("torch._inductor.config as config, triton", {}, "1"),
        ("triton, torch._inductor.config as config", {"TORCHINDUCTOR_COMPILE_THREADS": "3"}, "3"),
    ],
)
def test_inductor_compiles_in_this_process_unless_told(
    imports: str, given: dict[str, str], threads: str
) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "TORCHINDUCTOR_COMPILE_THREADS"}
    program = f"import mytriton.as_triton\nimport {imports}\nprint(config.compile_threads)"
    path = os.pathsep.join([str(HERE.parents[1] / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"PYTHONPATH": path} | given,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == threads, done.stderr
