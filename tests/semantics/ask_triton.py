"""Asks an installed Triton for the types of expressions: `python ask_triton.py questions.json`.

questions.json holds a list of kernels, each the text of a module with a function `kernel` that
calls `note(value)` on what is asked, and the types of its arguments. Prints, as JSON, for each the
types of the values, such as "fp32[4] i32[]", or "refused: …". Needs no GPU: only Triton's frontend
runs.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

FOUND: list[str] = []


@tl.core.builtin
def note(value: Any, _semantic: Any = None) -> None:
    """Keeps the type of a value."""
    ty = _semantic.to_tensor(value).type
    name = ty.scalar.name.replace("uint", "u").replace("int", "i")
    shape = ", ".join(str(int(extent)) for extent in getattr(ty, "shape", ()))
    FOUND.append(f"{name}[{shape}]")


def answer(path: Path, question: dict[str, Any]) -> str:
    path.write_text(question["text"], encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.note = note  # type: ignore[attr-defined]
    FOUND.clear()
    try:
        spec.loader.exec_module(module)
        signature = {**question["types"], **dict.fromkeys(question["constexprs"], "constexpr")}
        constexprs = {(list(signature).index(k),): v for k, v in question["constexprs"].items()}
        source = ASTSource(module.kernel, signature, constexprs)
        backend = make_backend(GPUTarget("cuda", 80, 32))
        options = backend.parse_options({})
        context = triton._C.libtriton.ir.context()
        triton._C.libtriton.ir.load_dialects(context)
        backend.load_dialects(context)
        functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
        source.make_ir(backend.target, options, functions, modules, context)
    except Exception as error:
        return f"refused: {type(error).__name__}: {error}"[:2000]
    return " ".join(FOUND)


def main() -> None:
    questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        answers = [
            answer(Path(folder) / f"asked_{number}.py", question)
            for number, question in enumerate(questions)
        ]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
