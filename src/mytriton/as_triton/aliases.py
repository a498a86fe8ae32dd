"""Two names for one module: `triton.language.math` is `mytriton.language.math`, the same object.

The parts of Triton's module tree that exist here under a name of their own are not loaded a second
time: an import of the one name gives the module of the other, so that classes, constants and state
are the same whichever name a library uses.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

ALIASES = {
    "triton.language": "mytriton.language",
    "triton.testing": "mytriton.tools.testing",
    "triton.tools.tensor_descriptor": "mytriton.tools.tensor_descriptor",
}
"""Modules by Triton's name; what lies below them follows."""


def aliased(name: str) -> str | None:
    """The name here of a module of Triton's, if it is one of `ALIASES` or below one."""
    for theirs, ours in ALIASES.items():
        if name == theirs or name.startswith(theirs + "."):
            return ours + name[len(theirs) :]
    return None


class AliasLoader(Loader):
    """Gives the existing module in place of a new one."""

    def __init__(self, target: str) -> None:
        self.target = target

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.target)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has written the alias into `__spec__`; the module keeps its own.
        module.__spec__ = self.spec


class AliasFinder(MetaPathFinder):
    """Finds the modules of `ALIASES`."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        ours = aliased(fullname)
        if ours is None or importlib.util.find_spec(ours) is None:
            return None
        return ModuleSpec(fullname, AliasLoader(ours))


def install() -> None:
    """Adds the finder to the import system, once."""
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())
