"""The command line does what its help says, and says what is wrong in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mytriton.tools import cli
from mytriton.tools.cli import main
from mytriton.tools.doctor import Finding
from mytriton.tools.signature import SignatureError, parse_signature

ADD = "examples/vector_add.py::add_kernel"


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        ("tree", "Store(ptr=AddPtr("),
        ("traced", "%0 = program_id {axis=0} : i32"),
        ("ssa", "%1 = mul %0, 64 : i32"),
        ("cuda", "int v1 = (v0 * 64);"),
        ("ptx", ".visible .entry add_kernel("),
        ("llvm", "define "),
        ("asm", "ret"),
    ],
)
def test_show_prints_each_stage_without_running(
    stage: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", ADD, "--stage", stage, "--sig", "BLOCK=64"]) == 0
    assert text in capsys.readouterr().out


def test_show_guesses_pointers_ints_and_block_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", ADD]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert "x: ptr<f32>, y: ptr<f32>, out: ptr<f32>, n: i32" in head


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["show", "examples/none.py::kernel"], "there is no file"),
        (["show", "examples/vector_add.py"], "say which kernel"),
        (["show", "examples/vector_add.py::add"], "no @jit function named 'add'"),
        (["show", ADD, "--stage", "wasm"], "no stage wasm; there are python, traced, simplify"),
        (["show", ADD, "--sig", "z=i32"], "no parameter ['z']"),
        (["show", ADD, "--sig", "x"], "write name=*fp32"),
        (["show", ADD, "--sig", "x=i32"], "pointer"),
        (["run", "examples/none.py"], "there is no file"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    assert text in capsys.readouterr().err


def test_run_gives_the_file_its_arguments_and_a_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MYTRITON_TARGET", raising=False)
    file = tmp_path / "script.py"
    file.write_text(
        "import sys, numpy as np\n"
        "import mytriton as triton, mytriton.language as tl\n"
        "@triton.jit\n"
        "def double(x, N: tl.constexpr):\n"
        "    i = tl.arange(0, N)\n"
        "    tl.store(x + i, 2 * tl.load(x + i))\n"
        "x = np.arange(3, dtype=np.float32)\n"
        "double[(1,)](x, N=3)\n"
        "print(sys.argv[1:], x.tolist())\n"
    )
    assert main(["run", "--target", "interpret", str(file), "a", "--b"]) == 0
    assert "['a', '--b'] [0.0, 2.0, 4.0]" in capsys.readouterr().out


def test_doctor_reports_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for target in ("interpret", "cpu", "cudasim"):
        assert f"target {target}" in out
    assert "runs a small kernel" in out


def test_signatures_name_types_and_values() -> None:
    given = parse_signature("x=*fp16, n: i64, D=float32, B=64, S='a', T=(1, 2), W=ieee")
    shown = {name: str(value) for name, value in given.items()}
    assert shown == {
        "x": "ptr<f16>", "n": "i64", "D": "f32", "B": "64", "S": "a", "T": "(1, 2)", "W": "ieee",
    }  # fmt: skip
    with pytest.raises(SignatureError, match="cannot read"):
        parse_signature("x=")


def test_doctor_shows_brackets_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Finding("CuPy [gpu]", False, "pip install 'mytriton[cuda13]'")]
    monkeypatch.setattr(cli, "report", lambda: found)
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "CuPy [gpu]" in shown and "mytriton[cuda13]" in shown
