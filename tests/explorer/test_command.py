"""`mytriton explain`: its page, its document, and what it says of what cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from mytriton.explorer.document import schema
from mytriton.tools.cli import main

ADD = "examples/vector_add.py::add_kernel"


def test_it_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "add.html"
    assert main(["explain", ADD, "--sig", "BLOCK=64", "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<h1><bdi>add_kernel</bdi></h1>" in text
    assert len(text) < 300_000


def test_it_prints_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ADD, "--json", "--gpu", "H100", "--num-warps", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert document["options"]["gpu"] == "H100 (sm_90a)"
    assert document["options"]["num_warps"] == "2"
    (cuda,) = (column for column in document["columns"] if column["name"] == "cuda")
    assert any("__launch_bounds__(64)" in line for line in cuda["lines"])


def test_a_launch_says_the_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "add.json"
    run = "add(np.ones(300, np.float64), np.ones(300, np.float64))"
    file = tmp_path / "adding.py"
    file.write_text(ADDING, encoding="utf-8")
    assert main(["explain", f"{file}::add_kernel", "--run", run, "--json", "-o", str(path)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(document, schema())
    assert document["arguments"]["x"] == "ptr<f64>"
    assert document["arguments"]["BLOCK"] == "128"


ADDING = """
import numpy as np
import mytriton as triton
import mytriton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(out + i, total, mask=i < n)


def add(x, y):
    out = np.empty_like(x)
    add_kernel[(triton.cdiv(x.size, 128),)](x, y, out, x.size, BLOCK=128)
    return out
"""


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["examples/none.py::kernel"], "there is no file"),
        ([ADD, "--gpu", "H10"], "did you mean `H100`?"),
        ([ADD, "--gpu", "Voodoo"], "there are T4, A100"),
        ([ADD, "--run", "1 +"], "is no expression"),
        ([ADD, "--run", "1 + 1"], "did not launch add_kernel"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments]) == 1
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["explain", "export", "show"])
def test_of_several_kernels_one_must_be_named(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kernels are listed as the commands that take them."""
    path = "examples/gallery/flash_attention.py"
    status = main([verb, path])
    printed = "".join(capsys.readouterr())
    assert status == (0 if verb == "show" else 1)
    assert f"mytriton {verb} {path}::forward_kernel --sig 'q_ptr=*fp32" in printed
