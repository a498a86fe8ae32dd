"""Accesses outside their arrays, planted into the gallery's kernels, are found at their line.

The interpreter's memory, which knows nothing of the checks, says which planted faults lead out of
every array; a checked run on the CPU target must stop at each of these, at the same line. Where the
access leads into another argument's array only the checks see it, on both targets. The kernels as
they are must run.
"""

from __future__ import annotations

import random
import re
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import mytriton as triton
from mytriton.errors import KernelFault, KernelMemoryError
from tests.gallery.test_gallery import EXAMPLES, GALLERY, numbers, require_close

from .planted import BOUNDS, Fault, module_of, planted

SAMPLE, ALL = 8, 100


def faults() -> list[Fault]:
    """The planted faults of all kinds, in an order that is always the same and mixes them."""
    found = [fault for name in EXAMPLES for fault in planted(GALLERY / f"{name}.py", BOUNDS)]
    random.Random(0).shuffle(found)
    return found


def bounds_checked(on: bool) -> AbstractContextManager[object]:
    return triton.sanitize("bounds", handler=lambda finding: None) if on else nullcontext()


def outcome(module: ModuleType, name: str, target: str, checked: bool) -> KernelFault | None:
    """What the example raises on a target."""
    arguments = module.inputs(*EXAMPLES[name].tiny[-1])
    try:
        with triton.target(target), bounds_checked(checked):
            getattr(module, name)(*arguments)
    except KernelFault as fault:
        return fault
    return None


def array(fault: KernelFault) -> str:
    """The name of the array that the message is about; which program is met first may differ."""
    found = re.search(r" of `(\w+)`", fault.message)
    assert found is not None, fault.message
    return found[1]


def is_found(fault: Fault, folder: Path) -> bool:
    """Whether the fault leads out of every array; asserts that the checks find it where it is."""
    name = fault.path.stem
    with module_of(fault, folder) as module:
        truth = outcome(module, name, "interpret", checked=False)
        if not isinstance(truth, KernelMemoryError):
            return False
        found = {t: outcome(module, name, t, checked=True) for t in ("interpret", "cpu")}
    for target, one in found.items():
        assert isinstance(one, KernelMemoryError), f"{fault.name}: {target} found {one!r}"
        lines = [place.line for place in one.where]
        assert any(map(fault.is_at, lines)), f"{fault.name}: {target} says {one}"
    assert array(found["cpu"]) == array(found["interpret"])
    return True


def check_faults(count: int, folder: Path) -> None:
    found = 0
    for fault in faults():
        found += is_found(fault, folder)
        if found == count:
            return
    pytest.fail(f"only {found} of {count} faults lead out of an array")


def test_a_sample_of_planted_accesses_is_found(tmp_path: Path) -> None:
    check_faults(SAMPLE, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_a_hundred_planted_accesses_are_found(tmp_path: Path) -> None:
    check_faults(ALL, tmp_path)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_kernel_without_faults_runs_with_checks(name: str) -> None:
    module = import_module(f"examples.gallery.{name}")
    example = EXAMPLES[name]
    for target, sizes in (("interpret", example.tiny[-1]), ("cpu", example.ragged[0])):
        arguments = module.inputs(*sizes)
        with triton.target(target), bounds_checked(True):
            actual = numbers(getattr(module, name)(*arguments))
        for one, other in zip(actual, numbers(module.reference(*arguments)), strict=True):
            require_close(one, other, example.tolerance)
