"""Threads of the process and of launches: how many, forks, Ctrl-C, the process's end."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileValueError, KernelError
from mytriton.targets.cpu.launch import cooperative_launch, threads
from mytriton.targets.cpu.launch.cooperative_launch import Cooperative

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and forks")


def run_program(folder: Path, text: str, timeout: float = 60.0, **environment: str) -> str:
    """What a Python program prints; it must end by itself, with status 0."""
    file = folder / "program.py"
    head = "import numpy as np\nimport mytriton as triton\nimport mytriton.language as tl\n"
    file.write_text(head + textwrap.dedent(text))
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(file)],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


ADD = """
@triton.jit
def add(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n) + 1, i < n)

def check(n=100_000):
    x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    add[((n + 255) // 256,)](x, y, n, B=256, target="cpu")
    assert (y == x + 1).all()
"""


@pytest.mark.parametrize(("text", "number"), [("3", 3), (" 12 ", 12), ("", None), ("0", None)])
def test_a_number_of_threads_is_taken(text, number):
    assert threads.threads_asked_for(text) == number


@pytest.mark.parametrize("text", ["²", "100000", "9" * 20, "-1", "two", "1.5", "٣"])
def test_what_is_no_number_of_threads_is_named(text):
    with pytest.raises(CompileValueError, match="MYTRITON_THREADS must be a number of threads"):
        threads.threads_asked_for(text)


@posix
def test_a_child_launches_after_a_fork_while_other_threads_compile_and_launch(tmp_path):
    program = (
        ADD
        + """
import os, threading
from mytriton.targets import cpu

check()
stop = threading.Event()

def busy():
    while not stop.is_set():
        add.clear_cache()
        check()

others = [threading.Thread(target=busy) for _ in range(2)]
for one in others:
    one.start()
for turn in range(10):
    child = os.fork()
    if not child:
        add.clear_cache()
        check()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
stop.set()
for one in others:
    one.join()
print("done")
"""
    )
    assert run_program(tmp_path, program, MYTRITON_THREADS="3") == "done\n"


INTERRUPTED = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have it ignored

{kernel}

x = np.zeros(4096, np.int64)
over = threading.Event()

def press():
    while not over.wait(0.5):
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
begun = time.monotonic()
try:
    long[({programs},)](x, {n}, target="cpu")
    print("not interrupted")
except KeyboardInterrupt:
    over.set()
    print("interrupted", time.monotonic() - begun < 20)
before = x.copy()
time.sleep(0.2)
print("still", (x == before).all())
"""
LONG_KERNELS = {
    "for": """
@triton.jit
def long(x, n):
    for i in range(n):
        tl.atomic_add(x + tl.program_id(0), 1)
""",
    "while": """
@triton.jit
def long(x, n):
    i = tl.program_id(0).to(tl.int64)
    while i < n:
        tl.store(x + tl.program_id(0), i)
        i += tl.load(x + 4000) + 1
""",
    "waits": """
@triton.jit
def long(x, n):
    while tl.atomic_add(x + tl.program_id(0), 1) < n:
        pass
""",
    "many programs": """
@triton.jit
def long(x, n):
    for i in tl.static_range(2):
        tl.atomic_add(x + tl.program_id(0) % 64 + i, 1)
""",
}


@posix
@pytest.mark.parametrize("programs", [1, 7])
@pytest.mark.parametrize("name", LONG_KERNELS)
def test_ctrl_c_ends_a_launch_and_no_thread_writes_after_it(tmp_path, name, programs):
    n = 10**13
    if name == "many programs":
        programs, n = 2**31 - 1, 0
    program = INTERRUPTED.format(kernel=LONG_KERNELS[name], programs=programs, n=n)
    out = run_program(tmp_path, program, MYTRITON_THREADS="3")
    assert out.splitlines() == ["interrupted True", "still True"]


@posix
def test_a_handler_of_the_programs_own_keeps_the_signal(tmp_path):
    program = (
        ADD
        + """
import os, signal

seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
check()
os.kill(os.getpid(), signal.SIGINT)
check(10_000_000)
print(len(seen), signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
signal.signal(signal.SIGINT, signal.default_int_handler)
check(10_000_000)
try:
    os.kill(os.getpid(), signal.SIGINT)
    check()
except KeyboardInterrupt:
    print("raised")
check()
"""
    )
    assert run_program(tmp_path, program) == "1 True\nraised\n"


@posix
def test_the_process_ends_while_workers_look_for_work_and_threads_launch(tmp_path):
    program = (
        ADD
        + """
import threading

def busy():
    while True:
        add[(4000,)](x, y, n, B=256, target="cpu")

n = 1_000_000
x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
check()
threading.Thread(target=busy, daemon=True).start()
for _ in range(50):
    check()
"""
    )
    for _ in range(5):
        run_program(tmp_path, program, MYTRITON_THREADS="4")


@triton.jit
def turn_kernel(flags, out):
    pid = tl.program_id(0)
    while tl.atomic_add(flags + pid, 0) == 0:
        pass
    tl.store(out + pid, pid)
    tl.atomic_xchg(flags + pid + 1, 1)


@triton.jit
def lock_kernel(lock, count, out, n):
    while tl.atomic_cas(lock, 0, 1) != 0:
        pass
    total = 0
    for i in range(n):
        total += i
    tl.store(out, total)
    tl.store(count, tl.load(count) + 1)
    tl.atomic_xchg(lock, 0)


def launched(monkeypatch, run) -> int:
    """With how many threads the one cooperative launch of a function ran."""
    seen: list[int] = []
    launch = Cooperative.launch

    def noted(self, processors):
        try:
            return launch(self, 2)
        finally:
            seen.append(self.most)

    monkeypatch.setattr(Cooperative, "launch", noted)
    run()
    (most,) = seen
    return most


def test_programs_that_wait_for_those_before_them_take_few_threads(monkeypatch):
    flags, out = np.zeros(2001, np.int32), np.zeros(2000, np.int32)
    flags[0] = 1
    most = launched(monkeypatch, lambda: turn_kernel[(2000,)](flags, out, target="cpu"))
    np.testing.assert_array_equal(out, np.arange(2000))
    assert most <= 8


def test_programs_that_wait_for_a_lock_take_few_threads(monkeypatch):
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    out = np.zeros(1, np.int64)
    run = lambda: lock_kernel[(200,)](lock, count, out, 3000, target="cpu")  # noqa: E731
    assert launched(monkeypatch, run) <= 8
    assert count[0] == 200


@triton.jit
def slow_kernel(flag, out, n):
    if tl.program_id(0) == 0:
        total = 0
        for i in range(n):
            total += i * i % 7
        tl.store(out, total)
        tl.atomic_xchg(flag, 1)
    else:
        while tl.atomic_add(flag, 0) == 0:
            pass


def test_programs_that_wait_for_one_that_computes_are_no_deadlock(monkeypatch):
    monkeypatch.setattr(cooperative_launch, "DEADLOCK_SECONDS", 0.001)
    monkeypatch.setattr(cooperative_launch, "DEADLOCK_TURNS", 1)
    flag, out, n = np.zeros(1, np.int32), np.zeros(1, np.int64), 50_000_000
    slow_kernel[(4,)](flag, out, n, target="cpu")
    assert flag[0] == 1


@triton.jit
def stuck_kernel(flag):
    while tl.atomic_add(flag, 0) == 0:
        pass


def test_threads_keep_their_stack_size_and_none_is_left(monkeypatch):
    monkeypatch.setattr(cooperative_launch, "DEADLOCK_SECONDS", 0.05)
    sizes: list[int] = []
    change = threading.stack_size
    monkeypatch.setattr(threading, "stack_size", lambda *size: sizes.append(1) or change(*size))
    with pytest.raises(KernelError, match="and 5 programs wait"):
        stuck_kernel[(5,)](np.zeros(1, np.int32), target="cpu")
    assert not sizes


def test_a_first_launch_uses_the_pool(monkeypatch):
    @triton.jit
    def work_kernel(out, seen, n):
        total = 0.0
        for i in range(n):
            total += i * 0.5
        tl.store(out + tl.program_id(0), total)

    if threads.thread_count() < 2:
        pytest.skip("one processor")
    from mytriton.targets.cpu.launch.pool import Pool

    wide: list[int] = []
    run = Pool.run
    monkeypatch.setattr(Pool, "run", lambda self, *given: wide.append(1) or run(self, *given))
    out = np.zeros(64, np.float32)
    work_kernel[(64,)](out, out, 100_000, target="cpu")
    assert wide == [1] and (out == out[0]).all() and out[0] > 0


@triton.jit
def shown_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.sum(tl.load(x + i), axis=0)
    ordered = tl.sort(tl.load(x + i))
    tl.device_print("total", total)
    tl.store(out + i, ordered + total)


def test_a_print_may_launch_a_kernel(monkeypatch):
    """The running program keeps its scratch memory."""
    inner, x = np.full(512, 7.0, np.float32), np.arange(64, dtype=np.float32)[::-1].copy()
    out, depth = np.zeros(64, np.float32), [0]

    def shown(*_):
        if not depth[0]:
            depth[0] += 1
            shown_kernel[(1,)](inner, np.zeros(512, np.float32), B=512, target="cpu")

    monkeypatch.setattr("builtins.print", shown)
    shown_kernel[(1,)](x, out, B=64, target="cpu")
    np.testing.assert_array_equal(out, np.arange(64) + x.sum())


@triton.jit
def talking_kernel(out):
    pid = tl.program_id(0)
    tl.device_print("pid", pid)
    tl.store(out + pid, 1)


def test_what_a_print_raises_ends_the_launch(monkeypatch):
    def broken(*_):
        raise OSError("closed")

    monkeypatch.setattr("builtins.print", broken)
    out = np.zeros(10, np.int32)
    with pytest.raises(OSError, match="closed"):
        talking_kernel[(10,)](out, target="cpu")
    assert out.sum() == 0
