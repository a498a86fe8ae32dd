"""Findings of the sanitizer as JSON and as SARIF, and the line that sums them up.

JSON: `{"version": 1, "findings": […]}`, each with the fields of `Finding`, its count, and places as
lists of frames, innermost first. SARIF is the format that code hosts show beside the source (OASIS,
"Static Analysis Results Interchange Format", version 2.1.0).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import CompileValueError, Location, Where
from ..runtime.checks import sanitize, set_sanitizer
from ..runtime.findings import KINDS, Finding

ABOUT = {
    "bounds": "An access outside its array.",
    "undefined": "A value that a masked-off load left undefined is used.",
    "races": "Two accesses of one element, one of them a write, that nothing orders.",
    "overflow": "An int wraps or is cut on its way into an address.",
    "nan": "NaN or infinity made of finite operands is stored.",
    "order": "The result depends on the order of the programs.",
}


@contextmanager
def running(kinds: str, file: Path | None) -> Iterator[sanitize]:
    """Looks for faults in all launches of the process, for the extent of a `with`; then says how
    many there are on stderr, and writes them to the file.

    Raises CompileValueError for kinds or a file that are none.
    """
    if file is not None and file.suffix not in FORMATS:
        raise _no_format(file)
    session = sanitize(kinds)
    set_sanitizer(session)
    try:
        yield session
    finally:
        set_sanitizer(None)
        if session.findings:
            print(f"mytriton: {summary(session)}", file=sys.stderr)
        if file is not None:
            write(session, file)


def write(session: sanitize, file: Path) -> None:
    """Writes a session's findings to a file, in the format that its name ends in.

    Raises CompileValueError for another name than *.json or *.sarif.
    """
    make = FORMATS.get(file.suffix)
    if make is None:
        raise _no_format(file)
    file.write_text(json.dumps(make(session), indent=2, ensure_ascii=False) + "\n")


def _no_format(file: Path) -> CompileValueError:
    known = " or ".join(f"*{suffix}" for suffix in FORMATS)
    return CompileValueError(f"findings are written as {known}, not as {file.name!r}", ())


def summary(session: sanitize) -> str:
    """`2 faults found: 1 undefined, 1 races`; "" for none."""
    if not session.findings:
        return ""
    kinds = Counter(finding.kind for finding in session.findings)
    parts = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    count = len(session.findings)
    return f"{count} fault{'s' * (count > 1)} found: {parts}"


def as_json(session: sanitize) -> dict[str, Any]:
    """The findings as plain data."""
    return {"version": 1, "findings": [_plain(f, session) for f in session.findings]}


def _plain(finding: Finding, session: sanitize) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "message": finding.message,
        "help": finding.help,
        "kernel": finding.kernel,
        "program": finding.program,
        "lane": finding.lane,
        "array": finding.array,
        "count": session.counts[finding.key],
        "where": _frames(finding.where),
        "notes": [{"text": note.text, "where": _frames(note.where)} for note in finding.notes],
    }


def _frames(where: Where) -> list[dict[str, Any]]:
    return [{"file": f.file, "line": f.line, "function": f.function} for f in where]


def as_sarif(session: sanitize) -> dict[str, Any]:
    """The findings as a SARIF log of one run."""
    rules = [{"id": kind, "shortDescription": {"text": ABOUT[kind]}} for kind in KINDS]
    driver = {"name": "mytriton", "rules": rules}
    results = [_result(finding) for finding in session.findings]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(finding: Finding) -> dict[str, Any]:
    text = f"{finding.message}. {finding.help}" if finding.help else finding.message
    related = [
        {**_location(note.where[0]), "message": {"text": note.text}}
        for note in finding.notes
        if note.where
    ]
    return {
        "ruleId": finding.kind,
        "ruleIndex": KINDS.index(finding.kind),
        "level": "error",
        "message": {"text": text},
        "locations": [_location(frame) for frame in finding.where[:1]],
        "relatedLocations": related,
        "stacks": [{"frames": [{"location": _location(frame)} for frame in finding.where]}],
    }


def _location(frame: Location) -> dict[str, Any]:
    path = Path(frame.file)
    file = path.as_uri() if path.is_absolute() else path.as_posix()
    place = {"artifactLocation": {"uri": file}, "region": {"startLine": frame.line}}
    name = {"fullyQualifiedName": frame.function}
    return {"physicalLocation": place, "logicalLocations": [name]}


FORMATS: dict[str, Callable[[sanitize], dict[str, Any]]] = {".json": as_json, ".sarif": as_sarif}
