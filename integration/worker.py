"""One process that runs a library's cases under one engine: `python -m integration.worker`.

It writes a line before each case and one after it, so that its parent knows where it died.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from pathlib import Path

LIBRARIES = ("liger", "fla", "gems", "conch", "torchao", "cce", "inductor")
ENGINES = ("mytriton", "triton interpreter")


def start(engine: str) -> None:
    """Chooses what `import triton` will find."""
    if engine == "mytriton":
        importlib.import_module("mytriton.as_triton")
    else:
        os.environ["TRITON_INTERPRET"] = "1"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("library", choices=LIBRARIES)
    options.add_argument("engine", choices=ENGINES)
    options.add_argument("output", type=Path)
    options.add_argument("--ops", default="", help="only ops with this in their name")
    options.add_argument("--after", default="", help="only what comes after this case")
    given = options.parse_args()
    start(given.engine)
    from integration.harness import perform

    cases = importlib.import_module(f"integration.{given.library}").cases()
    waiting = bool(given.after)
    with given.output.open("a") as output:
        for case in cases:
            name = f"{case.op}/{case.variant}"
            if waiting:
                waiting = name != given.after
                continue
            if given.ops not in case.op:
                continue
            print(json.dumps({"start": name}), file=output, flush=True)
            outcomes = [outcome.row() for outcome in perform(case)]
            print(json.dumps({"outcomes": outcomes}), file=output, flush=True)
    sys.stdout.flush()
    # Libraries' threads and caches have nothing to finish that matters here.
    os._exit(0)


if __name__ == "__main__":
    main()
