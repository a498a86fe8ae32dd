"""Machine code as text whose lines know the line of the LLVM text that they came from.

Each instruction of the module is given a debug location, whose line is the number of its own line
in the text. LLVM carries these through its passes and prints them as `.loc` directives, which are
read here and taken out again (LLVM Language Reference, "Source Level Debugging"). Line tables
change no instruction.

    located("…")        [("\\tvaddps\\t%zmm0, %zmm1, %zmm2", 212), …]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .host import Host
from .launch.machine_code import assembly

FUNCTIONS = ("define internal void @program(", "define void @run(")
"""The functions whose lines are told apart; what is inlined into them counts as its call."""
LOCATION = re.compile(r"\s+\.loc\s+\d+\s+(\d+)")
DEBUG_DIRECTIVE = re.compile(r"\s+\.(?:file\s+\d|cfi_|loc\s)")
DEBUG_SECTION = re.compile(r"\s+\.section\s+\.debug_")
DEBUG_LABEL = re.compile(r"\.L(?:func_(?:begin|end)|tmp|debug_)\w*:")


def located(text: str, here: Host) -> list[tuple[str, int]]:
    """The lines of a module's machine code, each with the number (from 1) of the line of the LLVM
    text that it came from; 0 where LLVM does not say."""
    return list(_read(assembly(with_line_table(text), here)))


def with_line_table(text: str) -> str:
    """The module with a debug location at every instruction of its functions."""
    lines, scopes, locations = text.splitlines(), list[str](), dict[tuple[int, int], int]()
    scope = None
    for at, line in enumerate(lines):
        if line.startswith(FUNCTIONS):
            scope = FIRST_SCOPE + len(scopes)
            scopes.append(_subprogram(scope, at + 1))
            lines[at] = f"{line.removesuffix(' {')} !dbg !{scope} {{"
        elif line == "}":
            scope = None
        elif scope is not None and line.startswith("  ") and not line.lstrip().startswith(";"):
            number = locations.setdefault((at + 1, scope), FIRST_LOCATION + len(locations))
            lines[at] = f"{line}, !dbg !{number}"
    nodes = [
        f"!{number} = !DILocation(line: {line}, scope: !{inside})"
        for (line, inside), number in locations.items()
    ]
    return "\n".join([*lines, *HEADER, *scopes, *nodes, ""])


HEADER = (
    "!llvm.module.flags = !{!0}",
    "!llvm.dbg.cu = !{!1}",
    '!0 = !{i32 2, !"Debug Info Version", i32 3}',
    "!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)",
    '!2 = !DIFile(filename: "kernel.ll", directory: "")',
    "!3 = !DISubroutineType(types: !{})",
)
FIRST_SCOPE, FIRST_LOCATION = 10, 20


def _subprogram(number: int, line: int) -> str:
    """The node of a function that begins at a line."""
    return (
        f'!{number} = distinct !DISubprogram(name: "f{number}", scope: !2, file: !2, line: {line},'
        " type: !3, unit: !1, spFlags: DISPFlagDefinition)"
    )


def _read(text: str) -> Iterator[tuple[str, int]]:
    """The lines without debug information, each with the line that was last named."""
    current, skipping = 0, False
    for line in text.splitlines():
        location = LOCATION.match(line)
        if location:
            current = int(location[1])
        elif line.lstrip().startswith(".section"):
            skipping, current = bool(DEBUG_SECTION.match(line)), 0
        elif line.startswith("\t.text"):
            skipping = False
        directive = DEBUG_DIRECTIVE.match(line) or DEBUG_LABEL.match(line)
        if not skipping and not directive:
            is_instruction = line[:1].isspace() and not line.lstrip().startswith((".", "#"))
            yield line, current if is_instruction else 0
