"""The transformer of examples/transformer: its functions are right, and two processes, by data or
tensor parallelism, learn what one does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = Path(__file__).parents[2] / "examples" / "transformer" / "train.py"
RUN = ["-m", "mytriton", "run"]


def output(*command: str) -> str:
    # Two processes share the machine; each with one thread in PyTorch is what torchrun advises.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MYTRITON_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def losses(*command: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"loss (\S+)", output(*command))]


def test_the_functions_agree_with_torch_forward_and_backward() -> None:
    check = Path(__file__).with_name("check_transformer.py")
    assert "agree" in output(sys.executable, *RUN, str(check))


@pytest.fixture(scope="module")
def alone() -> list[float]:
    return losses(sys.executable, *RUN, str(TRAIN), "--steps", "20")


def test_one_process_learns(alone: list[float]) -> None:
    assert len(alone) == 2 and alone[1] < alone[0] < 5


@pytest.mark.parametrize("parallel", ["data", "tensor"])
@pytest.mark.skipif(sys.platform != "linux", reason="gloo needs a host name that resolves")
def test_two_processes_learn_what_one_does(parallel: str, alone: list[float]) -> None:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    both = losses(*launch, *RUN, str(TRAIN), "--parallel", parallel, "--steps", "20")
    assert both == pytest.approx(alone, abs=2e-4)
