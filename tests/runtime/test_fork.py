"""A process may fork while its other threads compile: the children compile and launch."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, random, signal, sys, threading, time
import numpy as np
sys.path.insert(0, sys.argv[1])
from kernels import add_kernel, store_kernel

random.seed(int(sys.argv[2]))
stopped = False

def compile_for_ever():
    block = 0
    while not stopped:
        block = block % 200 + 1
        x = np.ones(block, np.float32)
        out = np.zeros_like(x)
        add_kernel[(1,)](x, x, out, block, BLOCK=block, target=random.choice(["cpu", "interpret"]))
        if not (out == 2).all():
            os._exit(3)

def launch_in_child():
    signal.alarm(100)  # ends a child that hangs
    x = np.arange(300, dtype=np.float32)
    for target in ("cpu", "interpret"):
        out = np.zeros_like(x)
        add_kernel[(3,)](x, x, out, 300, BLOCK=random.randint(100, 128), target=target)
        if not (out == 2 * x).all():
            os._exit(4)
    os._exit(0)

threads = [threading.Thread(target=compile_for_ever, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
codes = []
for _ in range(int(sys.argv[3])):
    time.sleep(random.random() * 0.05)
    child = os.fork()
    if not child:
        launch_in_child()
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stopped = True
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("seed", range(2))
def test_children_of_a_process_whose_threads_compile(seed: int) -> None:
    """The very first compilations, which import most, are among what the forks fall into."""
    folder = __file__.rpartition("/")[0]
    forks = 8
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, folder, str(seed), str(forks)],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.stdout.strip() == str([0] * forks), done.stderr
