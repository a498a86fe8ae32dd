"""The source that is rewritten is that of the loaded code, and no code is kept alive by it."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError, is_user_code

KERNEL = """import mytriton as triton
import mytriton.language as tl
{more}
@triton.jit
def kernel(out):
    tl.store(out, {value})
"""
UNDECORATED = KERNEL.replace("@triton.jit\n", "\n")


def load(file: Path, text: str) -> ModuleType:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def edit(file: Path, text: str) -> None:
    file.write_text(text)
    os.utime(file, (1, 1))  # another time than that of the file which was loaded


def value(kernel: Any) -> float:
    out = np.zeros(1, np.float32)
    kernel[(1,)](out, target="interpret")
    return float(out[0])


def test_a_file_edited_after_import_runs_as_loaded(tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    module = load(file, KERNEL.format(value="1.0", more=""))
    edit(file, "# a line more\n" + KERNEL.format(value="2.0", more=""))
    assert value(module.kernel) == 1
    assert module.kernel.src == "def kernel(out):\n    tl.store(out, 1.0)\n"


@pytest.mark.parametrize("other", ["2.0", "1.0 + 1.0", "-1.0", "tl.load(out)"])
def test_a_function_whose_file_was_edited_before_jit_is_refused(tmp_path: Path, other: str) -> None:
    file = tmp_path / "late.py"
    module = load(file, UNDECORATED.format(value="1.0", more=""))
    assert value(triton.jit(module.kernel)) == 1
    module = load(file, UNDECORATED.format(value="1.0", more=""))
    edit(file, UNDECORATED.format(value=other, more=""))
    with pytest.raises(CompileError, match="changed after it was imported") as caught:
        value(triton.jit(module.kernel))
    assert caught.value.where[0].file == str(file)


def test_equal_kernels_at_one_line_of_two_files_keep_their_own_places(tmp_path: Path) -> None:
    text = KERNEL.format(value="missing", more="")
    for name in ("one", "two"):
        kernel = load(tmp_path / f"{name}_of_two.py", text).kernel
        with pytest.raises(CompileError) as caught:
            value(kernel)
        assert Path(caught.value.where[0].file).stem == f"{name}_of_two"


def test_a_folder_whose_name_begins_like_the_package_holds_user_code(tmp_path: Path) -> None:
    package = Path(triton.__file__).parent
    assert is_user_code(f"{package}_kernels/file.py")
    assert not is_user_code(f"{package}/language/tensor.py")


def test_functions_with_annotations_defaults_closures_and_inner_functions_are_their_text(
    tmp_path: Path,
) -> None:
    text = """
from __future__ import annotations
import mytriton as triton
import mytriton.language as tl

def make(shift):
    @triton.jit
    def kernel(out, *rest, BLOCK: tl.constexpr = 4, more: "int" = 2) -> None:
        \"\"\"A text.\"\"\"
        def inner(x: "float", y=shift):
            z: float = x + y
            return z if BLOCK > 2 else [shift for _ in range(2)][0]

        tl.store(out, inner(1.0) + (lambda a: a * shift)(2.0))
    return kernel

class Holder:
    @staticmethod
    @triton.jit
    def kernel(out):
        tl.store(out, 5.0)
"""
    module = load(tmp_path / "shapes_of_functions.py", text)
    assert value(module.make(3.0)) == 10
    assert value(module.Holder.kernel) == 5


def test_a_kernel_that_is_no_longer_used_is_freed() -> None:
    def make() -> tuple[Any, Any]:
        @triton.jit
        def helper(x, N: tl.constexpr = 1):
            if x > 0:
                return x
            return x + N

        @triton.jit
        def kernel(out, HELPER: tl.constexpr):
            tl.store(out, HELPER(tl.load(out)))

        out = np.zeros(1, np.float32)
        kernel[(1,)](out, HELPER=helper, target="interpret")
        return weakref.ref(kernel.fn), weakref.ref(helper.fn)

    kept = make()
    gc.collect()
    held = [ref() for ref in kept]
    holders = [repr(each)[:300] for one in held if one for each in gc.get_referrers(one)]
    assert held == [None, None], holders


def test_code_that_is_no_longer_used_is_freed(tmp_path: Path) -> None:
    module = load(tmp_path / "passing.py", KERNEL.format(value="1.0", more=""))
    assert value(module.kernel) == 1
    code = weakref.ref(module.kernel.fn.__code__)
    del sys.modules["passing"], module
    gc.collect()
    assert code() is None
