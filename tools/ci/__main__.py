"""`python -m tools.ci`: run every gate, print what each finds, fail if any found something."""

from __future__ import annotations

import sys

from tools.ci import hygiene, layering, sizes
from tools.ci.source import ROOT, Gate

GATES: dict[str, Gate] = {
    "sizes": sizes.check,
    "layering": layering.check,
    "hygiene": hygiene.check,
}


def main() -> int:
    failed = False
    for name, gate in GATES.items():
        findings = gate(ROOT)
        failed = failed or bool(findings)
        print(f"{name}: {f'{len(findings)} found' if findings else 'ok'}")
        for finding in findings:
            print(f"  {finding}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
