"""`import triton` finds this project where it is asked to, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from mytriton.tools import stand_in
from mytriton.tools.cli import main

PROGRAM = Path(__file__).with_name("program.py")


def python(
    *arguments: str, env: dict[str, str] | None = None, executable: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
        timeout=240,
    )


def succeed(code: str) -> str:
    """What a fresh Python prints that runs the code under the stand-in."""
    done = python("-c", "import mytriton.as_triton\n" + code)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_for_triton_runs_unchanged_with_its_subprocesses_and_spawned_workers() -> None:
    done = python("-m", "mytriton", "run", str(PROGRAM), "--epochs", "3")
    assert done.returncode == 0, done.stderr
    assert "spawned True" in done.stdout
    assert f"subprocess {stand_in.SITE}" in done.stdout
    assert "arguments ['--epochs', '3']" in done.stdout


def test_running_a_program_leaves_the_path_as_it_was(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; sys.modules.pop('triton', None)\n")
    before = list(sys.path), os.environ.get("PYTHONPATH")
    assert main(["run", str(script)]) == 0
    assert (list(sys.path), os.environ.get("PYTHONPATH")) == before


def test_one_module_has_both_names() -> None:
    assert (
        succeed(
            "import triton, triton.language as tl, triton.language.core, triton.testing\n"
            "from triton.language.extra.cuda import libdevice\n"
            "import triton.tools.tensor_descriptor as descriptor\n"
            "import mytriton, mytriton.tools.testing, mytriton.tools.tensor_descriptor as ours\n"
            "print(tl is mytriton.language, triton.language is tl,\n"
            "      triton.language.core is mytriton.language.core,\n"
            "      triton.testing is mytriton.tools.testing, descriptor is ours,\n"
            "      mytriton.language.__spec__.name, mytriton.language.core.__spec__.name)\n"
        )
        == "True True True True True mytriton.language mytriton.language.core\n"
    )


def test_the_stand_in_refuses_to_replace_a_triton_that_is_imported(tmp_path: Path) -> None:
    (tmp_path / "triton.py").write_text("")
    done = python(
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport triton, mytriton.as_triton",
    )
    assert "ImportError: `triton` is imported already" in done.stderr


def test_gluon_is_refused_in_words() -> None:
    done = python("-c", "import mytriton.as_triton; import triton.experimental.gluon")
    assert "has no triton.experimental (Gluon)" in done.stderr


def test_pytest_finds_the_stand_in_by_a_plugin(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("import triton\n\ndef test_it():\n    assert 'site' in triton.__file__\n")
    done = python(
        "-m", "pytest", "-q", "-p", "mytriton.as_triton", "-c", "/dev/null", "--rootdir",
        str(tmp_path), str(test),
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout + done.stderr


# -- a virtual environment


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    venv.create(tmp_path / "env", system_site_packages=True, with_pip=False)
    return tmp_path / "env"


def test_a_virtual_environment_gets_the_stand_in_and_loses_it_again(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = str(environment / "bin" / "python")
    ask = "import triton, importlib.metadata as m; print(triton.__file__, m.version('triton'))"
    assert main(["install-stand-in", str(environment)]) == 0
    assert main(["install-stand-in", str(environment)]) == 0  # a second time changes nothing
    # The environment has none of the dependencies; lend it this one's.
    lent = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if "site-packages" in p)}
    done = python("-c", ask, env=lent, executable=inside)
    assert done.stdout.split() == [
        str(stand_in.SITE / "triton" / "__init__.py"),
        stand_in.stand_in_version(),
    ], done.stderr
    assert main(["install-stand-in", "--remove", str(environment)]) == 0
    assert "No module named 'triton'" in python("-c", ask, env=lent, executable=inside).stderr
    assert main(["install-stand-in", "--remove", str(environment)]) == 0
    assert "there was none" in capsys.readouterr().out


def test_another_triton_in_the_environment_is_left_alone(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = stand_in.environment(environment).packages
    (packages / "triton-9.dist-info").mkdir()
    assert main(["install-stand-in", str(environment)]) == 1
    assert "another triton" in capsys.readouterr().err
    assert not (packages / stand_in.PTH).exists()


def test_a_folder_that_is_no_environment_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install-stand-in", str(tmp_path)]) == 1
    assert "is not a virtual environment" in capsys.readouterr().err
