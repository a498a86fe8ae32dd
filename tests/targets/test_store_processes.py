"""The cache on disk between real processes: kernels compiled by several at once, processes killed
at any moment, disks that are full or may not be written, files that are damaged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNEL = """
import os, signal, sys, time
import numpy as np
import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.launch import kernel as kernels

made = []
emit = kernels.object_code
kernels.object_code = lambda *given: made.append(1) or emit(*given)

@triton.jit
def softmax(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.exp(tl.load(x + i) - tl.max(tl.load(x + i), axis=0))
    tl.store(out + i, value / tl.sum(value, axis=0))

x, out = np.arange(64, dtype=np.float32) % 7, np.zeros(64, np.float32)

def launch():
    softmax[(1,)](x, out, B=64, target="cpu")
    expected = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
    assert np.allclose(out, expected, rtol=1e-5), out
    print("compiled", len(made))
"""
WAIT = """
print("ready", flush=True)
sys.stdin.readline()
launch()
"""
DIE = """
count = 0
def watch(event, given):
    global count
    if event in EVENTS and any("CACHE" in str(part) for part in given):
        count += 1
        if count == MOMENT:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
launch()
"""
EVENTS = ("open", "os.mkdir", "os.rename", "os.utime", "os.remove", "tempfile.mkstemp")
WRITER = """
import sys
from mytriton.targets import store
number = 0
print("ready", flush=True)
while True:
    name = store.key(str(number % 50))
    assert store.fetch("cpu", name, lambda: bytes([number % 50]) * 20_000)[0] == number % 50
    number += 1
    if number % 7 == 0:
        store.clear(("cpu",))
"""


def environment(cache: Path, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    given = {"PYTHONPATH": path, "MYTRITON_CACHE_DIR": str(cache), "MYTRITON_CACHE_KINDS": "cpu"}
    return os.environ | given | {"MYTRITON_CHECK": "0", "MYTRITON_THREADS": "1"} | more


def start(folder: Path, program: str, **more: str) -> subprocess.Popen[str]:
    """A process that runs the program; a kernel needs the file that it stands in."""
    file = folder / f"program{abs(hash(program))}.py"
    if not file.exists():  # one that runs may be reading it
        file.write_text(program)
    return subprocess.Popen(
        [sys.executable, str(file)],
        env=environment(folder / "CACHE", **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str], said: str | None = None) -> str:
    out, err = process.communicate(said, timeout=120)
    assert process.returncode == 0, out + err
    assert err == ""
    return out.splitlines()[-1]


def run(folder: Path, program: str = KERNEL + "launch()", **more: str) -> str:
    return finished(start(folder, program, **more))


def test_eight_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    run(tmp_path, "import mytriton.targets.cpu.launch.support as s; s.support(); print()")
    processes = [start(tmp_path, KERNEL + WAIT) for _ in range(8)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    compiled = [finished(process) for process in processes]
    assert sorted(compiled) == ["compiled 0"] * 7 + ["compiled 1"]


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """The process kills itself at each of its accesses to the cache in turn; the next is right."""
    choose = random.Random(1)
    for moment in range(1, 100):
        program = KERNEL + DIE.replace("MOMENT", str(moment)).replace("EVENTS", repr(EVENTS))
        process = start(tmp_path, program)
        process.communicate(timeout=120)
        began = time.monotonic()
        assert run(tmp_path) in ("compiled 0", "compiled 1")
        assert time.monotonic() - began < 45, "it waited for a dead process"
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        if moment < 4:  # the cache stays as it was left
            continue
        for file in (tmp_path / "CACHE").rglob("*"):
            file.unlink() if file.is_file() and choose.random() < 0.5 else None
    assert moment > 4


def test_killed_writers_leave_entries_whole_or_absent(tmp_path: Path) -> None:
    choose = random.Random(0)
    for _ in range(6):
        writers = [start(tmp_path, WRITER) for _ in range(2)]
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
        time.sleep(choose.uniform(0.0, 0.2))
        for writer in writers:
            writer.kill()
            _, err = writer.communicate(timeout=60)
            assert err == "" and writer.returncode == -signal.SIGKILL
    check = """
from mytriton.targets import store
for number in range(50):
    found = store.get("cpu", store.key(str(number)))
    assert found is None or found == bytes([number]) * 20_000
    assert store.fetch("cpu", store.key(str(number)), lambda: b"made") in (b"made", found)
print("done")
"""
    assert run(tmp_path, check) == "done"


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))
"""


@pytest.mark.parametrize("room", [0, 1000])
def test_a_full_disk(tmp_path: Path, room: int) -> None:
    full = FULL.replace("BYTES", str(room)) + KERNEL + "launch()"
    for _ in range(2):
        assert run(tmp_path, full) == "compiled 1"
    left = [file for file in (tmp_path / "CACHE" / "cpu").rglob("*") if file.is_file()]
    assert not left, "nothing half-written"
    assert run(tmp_path) == "compiled 1"
    assert run(tmp_path, full) == "compiled 0"


AS_NOBODY = "import os\nos.setgid(65534); os.setuid(65534)\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_home_that_may_not_be_written_and_files_of_another_user(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-1]):
        if folder.stat().st_uid == 0 and not folder.stat().st_mode & 0o005:
            folder.chmod(folder.stat().st_mode | 0o055)
    program = KERNEL + AS_NOBODY + "launch()"
    assert run(tmp_path, program) == "compiled 1"
    assert not (tmp_path / "CACHE").exists()
    assert run(tmp_path) == "compiled 1"
    for path in (tmp_path / "CACHE").rglob("*"):
        path.chmod(0o755)
    assert run(tmp_path, program) == "compiled 1"


def test_a_cache_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "CACHE").write_text("")
    assert run(tmp_path) == "compiled 1"


def test_damaged_code_is_never_run(tmp_path: Path) -> None:
    """Bytes of the kernel's own object are flipped, and it is cut, at places all over the file."""
    assert run(tmp_path) == "compiled 1"
    files = [file for file in (tmp_path / "CACHE" / "cpu").rglob("*") if file.is_file()]
    whole = {file: file.read_bytes() for file in files}
    for step in range(3):
        for file, content in whole.items():
            place = (2 * step + 1) * len(content) // 6
            changed = content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
            file.write_bytes(changed if step % 2 else content[:place])
        assert run(tmp_path) == "compiled 1"


FORKED = """
import os, signal, sys, time
from pathlib import Path
from mytriton.targets.file_lock import file_lock
path = Path(os.environ["MYTRITON_CACHE_DIR"], "lock")
with file_lock(path, 0) as locked:
    assert locked
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
with file_lock(path, 5) as locked:  # the child's copy does not keep it
    print("locked", locked)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_does_not_keep_its_parents_lock(tmp_path: Path) -> None:
    assert run(tmp_path, FORKED) == "locked True"
