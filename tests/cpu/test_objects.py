"""Object code on disk: found again by another process, never run where it cannot be trusted."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

from mytriton.targets.cpu.host import host
from mytriton.targets.cpu.launch import objects

ROOT = Path(__file__).parents[2]
PROGRAM = """
import numpy as np
import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelAssertionError
from mytriton.targets.cpu.launch import kernel

made = []
emit = kernel.object_code
kernel.object_code = lambda *given: made.append(1) or emit(*given)

@triton.jit
def checked(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.load(x + i)
    tl.device_print("first", tl.sum(value, axis=0))
    tl.device_assert(value < 100, "too large")
    tl.store(out + i, tl.exp(value))

x, out = np.arange(64, dtype=np.float32) % 7, np.zeros(64, np.float32)
checked[(1,)](x, out, B=64, target="cpu")
assert np.allclose(out, np.exp(x))
x[3] = 100
try:
    checked[(1,)](x, out, B=64, target="cpu")
except KernelAssertionError as error:
    assert "too large, in program (0, 0, 0)" in str(error) and "device_assert" in str(error)
else:
    raise SystemExit("no assert")
print("compiled", len(made))
"""


def run(folder: Path, name: str = "program.py", **environment: str) -> str:
    file = folder / name
    file.write_text(PROGRAM)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    given = {"PYTHONPATH": path, "MYTRITON_CACHE_DIR": str(folder / "cache")}
    given |= {"MYTRITON_CACHE_KINDS": "", "MYTRITON_CHECK": "0"}
    done = subprocess.run(
        [sys.executable, str(file)],
        env=os.environ | given | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def files(folder: Path) -> list[Path]:
    return [file for file in (folder / "cache" / "cpu").rglob("*") if file.is_file()]


def test_a_second_process_compiles_nothing_wherever_the_kernel_stands(tmp_path):
    assert run(tmp_path) == "compiled 1"
    assert run(tmp_path, "elsewhere.py") == "compiled 0"
    assert all(not stat.S_IMODE(file.stat().st_mode) & 0o077 for file in files(tmp_path))
    assert not any(str(tmp_path).encode() in file.read_bytes() for file in files(tmp_path))


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert run(tmp_path) == "compiled 1"


def test_nothing_is_kept_where_the_size_is_0(tmp_path):
    assert run(tmp_path, MYTRITON_CACHE_SIZE_MB="0") == "compiled 1"
    assert not (tmp_path / "cache").exists()


def test_a_key_holds_text_machine_versions_and_source(monkeypatch):
    here = host()
    first = objects.key("kernel", "text", here)
    assert first == objects.key("kernel", "text", here)
    other = type(here)(here.cpu, here.features + ",-avx", *list(vars(here).values())[2:])
    keys = {first, objects.key("llvm", "text", here), objects.key("kernel", "texts", here)}
    keys.add(objects.key("kernel", "text", other))
    monkeypatch.setattr(objects.store, "source_digest", lambda *patterns: "other")
    keys.add(objects.key("kernel", "text", here))
    monkeypatch.setattr(objects.llvmlite, "__version__", "0")
    keys.add(objects.key("kernel", "text", here))
    assert len(keys) == 6
