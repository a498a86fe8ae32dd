"""The command line does what its help says, and says what is wrong in one line."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pygments.token import Error, Keyword, Name, Number

import mytriton as triton
from mytriton.ir.text import print_function
from mytriton.targets import TARGETS, store
from mytriton.targets.cuda.launch import nvrtc
from mytriton.tools import cli
from mytriton.tools.cli import main
from mytriton.tools.doctor import Finding
from mytriton.tools.signature import SignatureError, parse_signature
from mytriton.tools.ssa_lexer import SsaLexer
from tests.ir.corpus import corpus

ADD = "examples/vector_add.py::add_kernel"


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        ("tree", "Store(\n  ptr=AddPtr(\n    base=Param(name='out', ty=ptr<f32>),\n"),
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
        (["show", "examples/vector_add.py::add"], "no @jit function named 'add'"),
        (["show", "examples/vector_add.py::add_kernl"], "did you mean `add_kernel`?"),
        (["show", "examples/vector_add.py::q"], "; there are add_kernel"),
        (
            ["show", ADD, "--stage", "spirv"],
            "no stage spirv; there are python, traced, checked",
        ),
        (["show", ADD, "--stage", "trea"], "no stage trea; did you mean `tree`?"),
        (["show", ADD, "--sig", "z=i32"], "no parameter ['z']; the kernel has (x, y, out, n"),
        (["show", ADD, "--sig", "BLOK=4"], "did you mean `BLOCK`?"),
        (["show", "examples/gallery/histogram.py"], "give its value, as in --sig 'values_ptr=*fp"),
        (["run", "--target", "cup", "examples/relu.py"], "did you mean `cpu`?"),
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
    for target in TARGETS:
        assert f"target {target}" in out
    assert f"works: {TARGETS['cpu'].about}" in out


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


KERNELS = """
import sys
import numpy as np
import mytriton as triton, mytriton.language as tl

@triton.jit
def helper(x, i):
    return tl.load(x + i)

@triton.jit
def twice(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, 2 * helper(x, i))

x = np.ones(4, np.float32)
with triton.target("cpu"):
    twice[(1,)](x, BLOCK=4)
print("loaded", x.tolist())
"""
MORE = """
@triton.autotune([triton.Config({"N": 4}), triton.Config({"N": 8})], key=[])
@triton.jit
def thrice(x_ptr, N: tl.constexpr, EVEN: tl.constexpr = True):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, 3 * tl.load(x_ptr + i))

thrice[(1,)](x)
assert x[0] == 6, "not computed"
"""


def test_show_runs_nothing_and_takes_the_only_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "only.py"
    file.write_text(KERNELS)
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("kernel twice(x: ptr<f32>) {")
    assert shown.err == "loaded [1.0, 1.0, 1.0, 1.0]\n"


def test_show_lists_the_kernels_with_signatures_that_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "several.py"
    file.write_text(KERNELS + MORE)
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr()
    commands = shown.out.splitlines()
    assert commands == [
        f"mytriton show {file}::twice --sig 'x=*fp32, BLOCK=128'",
        f"mytriton show {file}::thrice --sig 'x_ptr=*fp32, N=64, EVEN=True'",
    ]
    assert "AssertionError: not computed at line 27" in shown.err
    for command, name in zip(commands, ("twice", "thrice")):
        assert main(shlex.split(command)[1:]) == 0
        assert capsys.readouterr().out.startswith(f"kernel {name}(")


def test_a_file_that_fails_before_its_kernels_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fails.py"
    file.write_text("import numpy\nimport no_such_module\n")
    assert main(["show", str(file)]) == 1
    error = capsys.readouterr().err
    assert "ModuleNotFoundError: No module named 'no_such_module' at line 2" in error
    assert error.count("\n") == 1


def test_a_kernel_that_the_guessed_types_do_not_fit_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = "examples/gallery/sparse_csr.py::sparse_csr_kernel"
    assert main(["show", place]) == 1
    error = capsys.readouterr().err
    assert "the types are guessed; give them, as in mytriton show" in error
    given = error.rpartition("--sig '")[2].strip().rstrip("'")
    for name in ("starts_ptr", "columns_ptr"):
        given = given.replace(f"{name}=*fp32", f"{name}=*i32")
    assert main(["show", place, "--sig", given]) == 0


def test_show_says_in_a_line_that_nvrtc_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    nvrtc._nvrtc.cache_clear()
    nvrtc.compile_nvrtc.cache_clear()
    assert main(["show", ADD, "--stage", "ptx"]) == 1
    nvrtc._nvrtc.cache_clear()
    error = capsys.readouterr().err
    assert "NVRTC is not there" in error and "pip install cuda-bindings" in error
    assert error.count("\n") == 1


def test_run_notes_a_target_that_the_source_overrides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "script.py"
    file.write_text(KERNELS)
    assert main(["run", "--target", "interpret", str(file)]) == 0
    shown = capsys.readouterr()
    assert shown.err == (
        f"mytriton: {file}:16 chooses target 'cpu' itself; 'interpret' does not hold there\n"
    )
    assert main(["run", "--target", "cpu", str(file)]) == 0
    assert capsys.readouterr().err == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"mytriton {triton.__version__}\n"
    text = Path("pyproject.toml").read_text()
    assert f'\nversion = "{triton.__version__}"\n' in text


def test_a_crash_shows_where_python_stood(tmp_path: Path) -> None:
    file = tmp_path / "crash.py"
    file.write_text("import ctypes\n\ndef innermost():\n    ctypes.string_at(8)\n\ninnermost()\n")
    command = [sys.executable, "-m", "mytriton", "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert f'File "{file}", line 4 in innermost' in done.stderr


SSA = """kernel k(x: ptr<f32>, `none`: i64) {
    %0 = program_id {axis=0} : i32
    %1, %2 = split %0 : vector<4x2 x f8e4m3fn>
    %3 = for 0, 4, 1, -1.5e+20 : f32 (%4 i : i32) {
        %5 = load %0, none, -inf:f16 : vector<4 x f16>
        yield %5
    }
    print %3 {prefix="a \\" b"}
    barrier
}
"""


def test_the_lexer_knows_every_part_of_the_text() -> None:
    tokens = list(SsaLexer().get_tokens(SSA))
    assert "".join(text for _, text in tokens) == SSA
    assert not [text for kind, text in tokens if kind in Error]
    kinds = {text: kind for kind, text in tokens}
    for text in ("program_id", "split", "for", "load", "yield", "print", "barrier"):
        assert kinds[text] is Name.Function, text
    assert kinds["f8e4m3fn"] is Keyword.Type and kinds["ptr"] is Keyword.Type
    assert kinds["axis"] is Name.Attribute and kinds["%5"] is Name.Variable
    assert kinds["none"] is Keyword.Constant and kinds["-1.5e+20"] is Number.Float


@pytest.mark.parametrize("name", corpus())
def test_the_lexer_reads_every_program_of_the_corpus(name: str) -> None:
    text = print_function(corpus()[name]) + "\n"
    tokens = list(SsaLexer().get_tokens(text))
    assert "".join(text for _, text in tokens).strip() == text.strip()
    assert not [text for kind, text in tokens if kind in Error]


def test_the_cache_is_shown_and_emptied(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(store.FOLDER, str(tmp_path))
    monkeypatch.setenv(store.KEPT_KINDS, "cpu, tuning")
    store.put("cpu", store.key("a"), bytes(2_000_000))
    store.put("tuning", store.key("b"), bytes(10))
    assert main(["cache", "info"]) == 0
    shown = capsys.readouterr().out
    assert str(tmp_path) in shown and "machine code of the target cpu 1 2.0" in " ".join(
        shown.split()
    )
    assert "NVRTC (not kept now)" in " ".join(shown.split())
    assert main(["cache", "clear", "cpu"]) == 0
    assert capsys.readouterr().out == f"1 entries deleted from {tmp_path}\n"
    assert store.get("cpu", store.key("a")) is None and store.get("tuning", store.key("b"))
    assert main(["cache", "info", "gpu"]) == 1
    assert "no kind gpu; there are cpu" in capsys.readouterr().err
