"""Where `import triton` finds this project: in a process, and in a virtual environment.

The package `triton` that stands in lies in `as_triton/site`. A process finds it once that folder is
on its `sys.path`; the processes that it starts find it through PYTHONPATH. In a virtual environment
a `.pth` file does it for every process, and a `dist-info` folder beside it tells package tools that
a distribution named `triton` is there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SITE = Path(__file__).parents[1] / "as_triton" / "site"
"""The folder that holds the package `triton`."""
PTH = "mytriton_as_triton.pth"
INSTALLER = "mytriton"


_ASK = "import sys, sysconfig as s; print(sys.prefix != sys.base_prefix, s.get_path('purelib'))"


class StandInError(RuntimeError):
    """The environment is none, or holds another `triton`; says which."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment, by the folder of its packages."""

    packages: Path

    @property
    def pth(self) -> Path:
        return self.packages / PTH

    @property
    def distributions(self) -> list[Path]:
        """The dist-info folders of distributions named triton."""
        return sorted(self.packages.glob("triton-*.dist-info"))


def environment(root: Path | None) -> Environment:
    """The virtual environment at a folder, or that of this interpreter.

    Raises StandInError where there is no Python of a virtual environment.
    """
    python = Path(sys.executable) if root is None else _python(root)
    done = subprocess.run([str(python), "-c", _ASK], capture_output=True, text=True, check=False)
    inside, _, packages = done.stdout.strip().partition(" ")
    if done.returncode or inside != "True":
        raise StandInError(f"{root or sys.prefix} is not a virtual environment")
    return Environment(Path(packages))


def _python(root: Path) -> Path:
    for candidate in (root / "bin" / "python", root / "Scripts" / "python.exe"):
        if candidate.exists():
            return candidate
    raise StandInError(f"{root} is not a virtual environment: it has no Python")


def install(where: Environment) -> Path:
    """Installs the switch; the `.pth` file it wrote.

    Raises StandInError if another distribution named triton is installed there.
    """
    foreign = [found for found in where.distributions if not _is_ours(found)]
    if foreign or (where.packages / "triton").exists():
        raise StandInError(
            f"{where.packages} has another triton; `pip uninstall triton` in it first"
        )
    remove(where)
    version = stand_in_version()
    info = where.packages / f"triton-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n"
        "Summary: mytriton, standing in for Triton\n"
    )
    (info / "INSTALLER").write_text(INSTALLER + "\n")
    (info / "RECORD").write_text("")
    # The package itself must be importable in that environment too.
    roots = [str(SITE), str(SITE.parents[2])]
    where.pth.write_text("".join(root + "\n" for root in roots))
    return where.pth


def stand_in_version() -> str:
    """The version of Triton that the stand-in reports."""
    text = (SITE / "triton" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def remove(where: Environment) -> bool:
    """Removes the switch; whether it was there."""
    found = where.pth.exists()
    where.pth.unlink(missing_ok=True)
    for info in filter(_is_ours, where.distributions):
        shutil.rmtree(info)
    return found


def _is_ours(info: Path) -> bool:
    installer = info / "INSTALLER"
    return installer.exists() and installer.read_text().strip() == INSTALLER


# -- a process


def is_active() -> bool:
    """Whether the module `triton` of this process, if it is imported, is the stand-in."""
    found = sys.modules.get("triton")
    return found is not None and str(getattr(found, "__file__", "")).startswith(str(SITE))


def activate() -> None:
    """Makes `import triton` find the stand-in, in this process and in those it starts.

    Raises ImportError if another `triton` has been imported before.
    """
    if "triton" in sys.modules and not is_active():
        other = getattr(sys.modules["triton"], "__file__", None)
        raise ImportError(
            f"`triton` is imported already, from {other}; import mytriton.as_triton before"
            " anything that imports triton, or start the program by `python -m mytriton run`"
        )
    if str(SITE) not in sys.path:
        sys.path.insert(0, str(SITE))
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(SITE) not in inherited:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SITE), *filter(None, inherited)])


@contextmanager
def active() -> Iterator[None]:
    """Activates the stand-in for the extent of a `with`; what was imported stays imported."""
    path, inherited = list(sys.path), os.environ.get("PYTHONPATH")
    activate()
    try:
        yield
    finally:
        sys.path[:] = path
        if inherited is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = inherited
