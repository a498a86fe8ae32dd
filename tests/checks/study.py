"""The study of planted faults: programs, faults that matter by an oracle that knows no check, and
what the sanitizer finds.

    python -m tests.checks.study [count] [programs …]      prints the table by kind

Programs are the gallery, the tutorials and, where it is installed, the operators of Liger Kernel. A
fault counts if the interpreter, without any check, says that it matters: the access leads out of
every array; other numbers in the lanes that lost their `other` change the result; two programs
touch an element that an atomic guarded; a narrowed offset changes the result; a division gives what
is not finite.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import mytriton as triton
from mytriton.errors import KernelFault, KernelMemoryError
from mytriton.runtime.findings import Finding
from mytriton.tools import stand_in
from tests.gallery.test_gallery import EXAMPLES, GALLERY, numbers

from . import planted
from .planted import BOUNDS, Change, Fault, module_of, of_accesses

KINDS: dict[str, Change] = {
    **BOUNDS,
    "other removed": of_accesses(planted.other_removed),
    "atomic removed": planted.atomic_removed,
    "atomic weakened": planted.atomic_weakened,
    "barrier removed": planted.barrier_removed,
    "i64 cast narrowed": planted.cast_narrowed,
    "offset narrowed": of_accesses(planted.offset_narrowed),
    "division by zero": planted.divided_by_zero,
    "stored value over zero": planted.product_divided,
}
ORDERING = ("atomic weakened", "barrier removed")
"""Kinds whose line accesses nothing itself: what they ordered is in the same kernel."""
CHECKS = ("bounds", "undefined", "races", "overflow", "nan")


@dataclass(frozen=True)
class Program:
    """A file with kernels, and a call of them on small arrays that gives its results."""

    path: Path
    call: Callable[[ModuleType], Any]


def gallery(name: str) -> Program:
    sizes = EXAMPLES[name].tiny[-1]
    return Program(
        GALLERY / f"{name}.py", lambda module: getattr(module, name)(*module.inputs(*sizes))
    )


def half(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float16)


def backward(made: Any) -> Any:
    """The results and the gradients of what was differentiated."""
    results = [made] if isinstance(made, torch.Tensor) else list(made)
    ones = [torch.ones_like(part) for part in results if part.is_floating_point()]
    torch.autograd.backward([part for part in results if part.is_floating_point()], ones)
    return [part.detach() for part in results]


def tracked(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


TUTORIALS: dict[str, Callable[[ModuleType], Any]] = {
    "vector_add": lambda m: m.add(torch.randn(1000), torch.randn(1000)),
    "fused_softmax": lambda m: m.softmax(torch.randn(7, 50)),
    "dropout": lambda m: m.dropout(torch.randn(1000), 0.3, 7),
    "matrix_multiplication": lambda m: m.matmul(half(33, 40), half(40, 50)),
    "persistent_matmul": lambda m: m.matmul(half(70, 40), half(40, 50)),
    "layer_norm": lambda m: backward(m.LayerNorm.apply(*tracked((150, 20), (20,), (20,)), 1e-5)),
}


def rotations(size: int, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    phases = torch.outer(torch.arange(steps).float(), 0.5 ** torch.arange(size // 2))
    phases = torch.cat([phases, phases], -1)[None]
    return phases.cos(), phases.sin()


def logs(*shape: int) -> torch.Tensor:
    return torch.randn(*shape).log_softmax(-1).detach().requires_grad_()


def labels(rows: int, classes: int) -> torch.Tensor:
    return torch.randint(classes, (rows,))


LIGER: dict[str, Callable[[ModuleType], Any]] = {
    "rms_norm": lambda m: backward(
        m.LigerRMSNormFunction.apply(*tracked((5, 30), (30,)), 1e-6, 0.0, "llama", False)
    ),
    "fused_add_rms_norm": lambda m: backward(
        m.LigerFusedAddRMSNormFunction.apply(
            *tracked((5, 30), (5, 30), (30,)), 1e-6, 0.0, "llama", False
        )
    ),
    "layer_norm": lambda m: backward(
        m.LigerLayerNormFunction.apply(*tracked((5, 30), (30,), (30,)), 1e-6)
    ),
    "group_norm": lambda m: backward(
        m.LigerGroupNormFunction.apply(*tracked((2, 6, 20), (6,), (6,)), 6, 3, 1e-6)
    ),
    "poly_norm": lambda m: backward(
        m.LigerPolyNormFunction.apply(*tracked((5, 30), (3,), ()), 1e-6, False)
    ),
    "softmax": lambda m: backward(m.LigerSoftmaxFunction.apply(*tracked((5, 30)))),
    "sparsemax": lambda m: backward(m.LigerSparsemaxFunction.apply(*tracked((5, 30)), -1)),
    "geglu": lambda m: backward(m.LigerGELUMulFunction.apply(*tracked((5, 30), (5, 30)))),
    "swiglu": lambda m: backward(m.LigerSiLUMulFunction.apply(*tracked((5, 30), (5, 30)))),
    "relu_squared": lambda m: backward(m.LigerReLUSquaredFunction.apply(*tracked((5, 30)))),
    "kl_div": lambda m: backward(
        m.LigerKLDivLossFunction.apply(
            logs(5, 30), torch.randn(5, 30).softmax(-1), "batchmean", False, 1e-10
        )
    ),
    "jsd": lambda m: backward(
        m.LigerJSDFunction.apply(logs(5, 30), logs(5, 30).detach(), None, 0.5, -100)
    ),
    "tvd": lambda m: backward(
        m.LigerTVDLossFunction.apply(
            torch.randn(5, 30).softmax(-1).requires_grad_(),
            torch.randn(5, 30).softmax(-1),
            None,
            "batchmean",
            -100,
        )
    ),
    "cross_entropy": lambda m: backward(
        m.LigerCrossEntropyFunction.apply(
            torch.randn(5, 50, requires_grad=True).clone(),
            labels(5, 50),
            None,
            -100,
            0.0,
            0.1,
            "mean",
        )[0]
    ),
    "rope": lambda m: backward(
        m.LigerRopeFunction.apply(
            *(x.clone() for x in tracked((2, 3, 7, 16), (2, 3, 7, 16))), *rotations(16, 7)
        )
    ),
    "dyt": lambda m: m.LigerDyTFunction.apply(*tracked((5, 30), (1,), (30,), (30,))).detach(),
    "attn_res": lambda m: backward(
        m.LigerAttnResFunction.apply(*tracked((3, 2, 4, 30), (30,), (30,)), 1e-6)
    ),
    "multi_token_attention": lambda m: backward(
        m.LigerMultiTokenAttentionFunction.apply(
            *tracked((1, 2, 9, 9), (2, 2, 3, 3), (2,)), 1, 1, 1, 1, False
        )
    ),
}


def programs() -> Iterator[Program]:
    """Every program that this machine has, without the one whose pointers come out of memory: there
    the oracle, which checks them no more than a GPU would, may crash."""
    yield from (gallery(name) for name in EXAMPLES if name != "grouped_gemm")
    for name, call in TUTORIALS.items():
        yield Program(GALLERY.parent / "tutorials" / f"{name}.py", call)
    found = find_spec("liger_kernel")
    if found is not None and found.submodule_search_locations:
        folder = Path(found.submodule_search_locations[0]) / "ops"
        for name, call in LIGER.items():
            if (folder / f"{name}.py").is_file():
                yield Program(folder / f"{name}.py", call)


@dataclass(frozen=True)
class Outcome:
    """What a run gave: the results, or the fault that ended it, and what the sanitizer found."""

    results: Sequence[torch.Tensor] = ()
    error: Exception | None = None
    findings: Sequence[Finding] = ()


def outcome(module: ModuleType, program: Program, target: str, checked: bool) -> Outcome:
    """Runs a program's call."""
    torch.manual_seed(0)
    session = triton.sanitize(*CHECKS, handler=lambda finding: None)
    try:
        with triton.target(target), session if checked else nullcontext():
            results = numbers(program.call(module))
    except (KernelFault, ArithmeticError, RuntimeError, AssertionError) as error:
        return Outcome((), error, tuple(session.findings))
    return Outcome([part.clone() for part in results], None, tuple(session.findings))


def differ(one: Outcome, two: Outcome) -> bool:
    """Whether two runs gave different bits, NaNs alike."""
    if two.error is not None:
        return isinstance(two.error, KernelMemoryError)  # others are no programs
    pairs = zip(one.results, two.results, strict=True)
    return any(not torch.equal(a.nan_to_num(3.0), b.nan_to_num(3.0)) for a, b in pairs)


class Study:
    """The faults of one program."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program, self.folder = program, folder
        self.count = 0
        self.right = self.interpreted(program.path.read_text())

    def loaded(self, source: str) -> Any:
        """The module of a changed source, in a folder of its own."""
        self.count += 1
        path = self.program.path
        folder = self.folder / f"{path.parent.name}_{path.stem}{self.count}"
        folder.mkdir()
        fault = Fault(str(self.count), self.program.path, (0, 0), source)
        return module_of(fault, folder)

    def interpreted(self, source: str) -> Outcome:
        with self.loaded(source) as module:
            return outcome(module, self.program, "interpret", checked=False)

    def matters(self, fault: Fault) -> bool:
        """Whether the fault does anything, by the interpreter without checks."""
        if fault.kind in BOUNDS:
            return isinstance(self.interpreted(fault.source).error, KernelMemoryError)
        if fault.kind == "other removed":
            return any(differ(self.right, self.interpreted(text)) for text in self.poisoned(fault))
        if fault.kind in ("i64 cast narrowed", "offset narrowed"):
            return differ(self.right, self.interpreted(fault.source))
        if "zero" in fault.kind:
            wrong = self.interpreted(fault.source)
            return wrong.error is None and finite(self.right) > finite(wrong)
        if fault.kind in ORDERING:
            return is_waited_for(fault)
        return shared_by_programs(self.program, fault)

    def poisoned(self, fault: Fault) -> Iterator[str]:
        """The source with numbers in the place of the `other` that the fault removes."""
        for value in (77, -50):
            kinds = {"": of_accesses(lambda call, v=value: planted.other_changed(call, v))}
            for changed in planted.planted(self.program.path, kinds):
                if changed.lines == fault.lines:
                    yield changed.source

    def findings(self, fault: Fault) -> tuple[Finding, ...]:
        with self.loaded(fault.source) as module:
            return tuple(outcome(module, self.program, "cpu", checked=True).findings)


def is_waited_for(fault: Fault) -> bool:
    """Whether the fault is at, or right before, an exchange of what programs of the kernel wait for
    in a loop: there it is that their accesses are ordered."""
    low, high = fault.function
    lines = fault.path.read_text().splitlines()
    waited = re.findall(r"while tl\.atomic_\w+\((\w+)", "\n".join(lines[low - 1 : high]))
    after = "\n".join(lines[fault.lines[0] - 1 : fault.lines[1] + 1])
    return any(f"atomic_xchg({name}" in after for name in waited)


def finite(run: Outcome) -> int:
    """How many numbers of the results are finite."""
    return sum(int(part.isfinite().sum()) for part in run.results)


def shared_by_programs(program: Program, fault: Fault) -> bool:
    """Whether two programs of a launch touch one address by the atomic at the fault's line."""
    from mytriton.targets.interpret import effects

    touched: dict[int, set[tuple[int, ...]]] = {}
    before = effects._read

    def read(run: Any, element: Any, lanes: Any) -> Any:
        if lanes.name == "atomic" and any(fault.is_at(frame.line) for frame in lanes.where):
            for address in lanes.addresses.tolist():
                touched.setdefault(address, set()).add(run.index)
        return before(run, element, lanes)

    effects._read = read  # type: ignore[assignment]
    try:
        spec = Fault("", program.path, (0, 0), program.path.read_text())
        with tempfile.TemporaryDirectory() as folder, module_of(spec, Path(folder)) as module:
            outcome(module, program, "interpret", checked=False)
    finally:
        effects._read = before
    return any(len(programs) > 1 for programs in touched.values())


def is_found(fault: Fault, findings: Sequence[Finding]) -> bool:
    """Whether a finding names the fault's line; for lost order, one of its kernel."""
    low, high = fault.function if fault.kind in ORDERING else fault.lines
    lines = {f.line for finding in findings for where in finding.places for f in where}
    return any(low <= line <= high for line in lines)


def faults(chosen: Sequence[Program]) -> list[tuple[Program, Fault]]:
    """The planted faults of programs, mixed: one of each kind, then the next of each, and so on."""
    found = [(one, fault) for one in chosen for fault in planted.planted(one.path, KINDS)]
    random.Random(0).shuffle(found)
    seen = Counter[str]()
    ranked = []
    for one, fault in found:
        seen[fault.kind] += 1
        ranked.append((seen[fault.kind], one, fault))
    return [(one, fault) for _, one, fault in sorted(ranked, key=lambda each: each[0])]


def run(count: int, chosen: Sequence[Program], folder: Path) -> Iterator[tuple[Fault, bool]]:
    """The first `count` faults that matter, and whether each is found."""
    studies: dict[Path, Study] = {}
    left = count
    for program, fault in faults(chosen):
        if not left:
            return
        if program.path not in studies:
            studies[program.path] = Study(program, folder)
        study = studies[program.path]
        if study.matters(fault):
            left -= 1
            yield fault, is_found(fault, study.findings(fault))


def main(arguments: Sequence[str]) -> None:
    count = int(arguments[0]) if arguments else 400
    with stand_in.active(), tempfile.TemporaryDirectory() as folder:
        chosen = [one for one in programs() if not arguments[1:] or one.path.stem in arguments[1:]]
        planted_, found = Counter[str](), Counter[str]()
        for fault, good in run(count, chosen, Path(folder)):
            planted_[fault.kind] += 1
            found[fault.kind] += good
            if not good:
                print(f"missed: {fault.name} in {fault.path.parent.name}", flush=True)
            if planted_.total() % 50 == 0:
                print(f"{found.total()} of {planted_.total()}", flush=True)
    print("\n".join(table(planted_, found)))


def table(planted_: Counter[str], found: Counter[str]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield "| fault | planted | found at its line |"
    yield "|---|---|---|"
    for kind in KINDS:
        if planted_[kind]:
            yield f"| {kind} | {planted_[kind]} | {found[kind]} |"
    yield f"| all | {planted_.total()} | {found.total()} |"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import_module("tests.checks.study").main(sys.argv[1:])
