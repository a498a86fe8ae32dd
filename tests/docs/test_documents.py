"""The reader of fenced blocks: what it finds in a page, and what it takes for equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.ci import documents

PAGE = """\
# Title
```python
x = 1
print(x)
```
```output
1
```
<!-- not run: needs a GPU -->
```console
$ nvidia-smi
```
1. a list
   ```console
   $ echo a \\
   >   b
   a b
   $ false  # exit 1
   ```
````text
```
````
```python
print(x + 1)
```
"""


def page(text: str = PAGE) -> list[documents.Block]:
    return list(documents.blocks(Path("page.md"), text))


def test_blocks_keep_language_line_and_reason() -> None:
    found = [(block.language, block.line, block.not_run) for block in page()]
    assert found == [
        ("python", 2, None),
        ("output", 6, None),
        ("console", 10, "needs a GPU"),
        ("console", 14, None),
        ("text", 20, None),
        ("python", 23, None),
    ]


def test_program_keeps_the_lines_of_the_page_and_splits_what_it_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    python = [block for block in page() if block.language == "python"]
    program = documents.program(python)
    assert program.splitlines()[23] == "print(x + 1)"
    exec(compile(program, "page.md", "exec"), {})
    assert documents.outputs(python, capsys.readouterr().out) == {2: "1\n", 23: "2\n"}


def test_commands_join_continued_lines_and_know_their_status() -> None:
    first, second = documents.commands(page()[3])
    assert (first.text, first.expected, first.status) == ("echo a \\\n  b", "a b", 0)
    assert (second.line, second.expected, second.status) == (18, "", 1)


def test_an_open_block_and_a_console_without_command_are_refused() -> None:
    with pytest.raises(ValueError, match="never closed"):
        page("```python\nx\n")
    with pytest.raises(ValueError, match="starts with"):
        list(documents.commands(page("```console\nls\n```\n")[0]))


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a", "a\nb\n", False),
        ("", "a\n", False),
        ("a\n...\nz", "a\nb\nc\nz\n", True),
        ("a\n...\nz", "a\nz\n", True),
        ("a\n...\nz", "a\nb\n", False),
        ("took … ms", "took 1.5 ms\n", True),
        ("took … ms", "took 1.5\nms\n", False),
        ("a.c", "abc\n", False),
        ("a", "a   \n\n", True),
        ("  a", "a\n", False),
    ],
)
def test_matches(expected: str, actual: str, equal: bool) -> None:
    assert documents.matches(expected, actual) is equal
