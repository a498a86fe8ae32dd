"""The lane rule: lane i of every block is thread i of a CUDA block, so a block is one scalar local
per thread.

One idea: with that rule each op has a scalar meaning per thread, and a kernel's text is its SSA
read aloud. A scalar is computed by every thread alike. An address is no local but a base and an
index (`CudaPtrRef`) until memory uses it.

    %3 = add %1, %2 : vector<256 x i32>            int v3 = (v1 + v2);
    %4 = addptr x, %3 : vector<256 x ptr<f32>>     (nothing: %4 is CudaPtrRef("x", "v3"))
    %6 = load %4, %5, 0.0 : vector<256 x f32>      float v6 = (v5 ? x[v3] : 0.0f);

What the rule cannot express (two widths, rank 2, anything that moves values between lanes) is
refused at the op's line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...errors import CompileValueError
from ...ir.nodes import Const, Function, Op, Operand, Param, Region, Value, number, walk
from ...ir.text import SSAPrinter
from ...ir.types import VectorType, shape_of
from .order import Order
from .source import CudaSource, Parameter
from .spelling import legal_name, literal, local_type

TILED = "num_warps= selects the tiled lowering, which can"
MOST_THREADS = 1024


@dataclass(frozen=True)
class CudaPtrRef:
    """An address that waits for memory to use it: `base[index]`."""

    base: str
    index: str

    @property
    def address(self) -> str:
        """The address as a C pointer."""
        return self.base if self.index == "0" else f"({self.base} + {self.index})"

    @property
    def element(self) -> str:
        """What lies at the address."""
        return f"{self.base}[{self.index}]"


@dataclass(frozen=True)
class Options:
    """What else the text shows: asserts (`debug`), each op's SSA line, `#line` of the Python
    kernel."""

    debug: bool = False
    comments: bool = False
    lineinfo: bool = False


def generate(
    function: Function, *, debug: bool = False, comments: bool = False, lineinfo: bool = False
) -> CudaSource:
    """The kernel as CUDA C++ by the lane rule.

    debug: device asserts stop the launch. comments: each op under its SSA line. lineinfo: `#line`
    of the Python kernel. Raises CompileValueError, at the op's kernel line, for what the rule
    cannot lower.
    """
    threads = threads_per_block(function)
    return Lane(function, threads, Options(debug, comments, lineinfo)).source()


def threads_per_block(function: Function) -> int:
    """The one width of the function's blocks; 1 where there is none.

    A block of one element is held by every thread alike, like a scalar, so it goes with any width.
    """
    widths: dict[int, Op] = {}
    for op in walk(function.body):
        for ty in op.types:
            if isinstance(ty, VectorType):
                if len(ty.shape) > 1:
                    message = f"the lane rule has one axis, got a block of type {ty}; {TILED}"
                    raise CompileValueError(message, op.where)
                widths.setdefault(ty.size, op)
    wide = sorted(width for width in widths if width > 1)
    if len(wide) > 1:
        rendered = ", ".join(map(str, wide))
        message = f"CUDA lowering requires one vector width, got: {rendered}; {TILED}"
        raise CompileValueError(message, list(widths.values())[-1].where)
    threads = wide[0] if wide else 1
    if threads > MOST_THREADS:
        message = (
            f"CUDA lowering allows 1 to {MOST_THREADS} threads a block, got: {threads}; {TILED}"
        )
        raise CompileValueError(message, widths[threads].where)
    return threads


class Lane:
    """The lowering of one function: the value table, the lines so far, and where barriers are
    due."""

    def __init__(self, function: Function, threads: int, options: Options) -> None:
        self.function = function
        self.threads = threads
        self.options = options
        self.numbers = number(function)
        self.printer = SSAPrinter(self.numbers)
        self.name = legal_name(function.name)
        self.parameters = _parameters(function)
        names = (parameter.name for parameter in self.parameters)
        self.values: dict[Value | Param, str | CudaPtrRef] = dict(zip(function.params, names))
        self.order = Order(function, threads)
        self.used = _used(function.body)
        self.lines: list[str] = []
        self.depth = 1
        self.line = 0

    def source(self) -> CudaSource:
        self.body(self.function.body)
        signature = ", ".join(f"{p.c_type} {p.name}" for p in self.parameters)
        head = ['extern "C" __global__', f"void {self.name}({signature}) {{"]
        text = "\n".join([*head, *self.lines, "}"])
        return CudaSource(self.name, text, self.parameters, self.threads)

    # -- operands

    def operand(self, operand: Operand) -> str | CudaPtrRef:
        """What stands for an operand that is there."""
        assert operand is not None
        if isinstance(operand, Const):
            return literal(operand.value, operand.ty)
        assert operand in self.values, f"SSA value %{self.numbers.get(operand)} is not defined"
        return self.values[operand]

    def expression(self, operand: Operand) -> str:
        """The operand as a C expression; an address as a pointer."""
        value = self.operand(operand)
        return value.address if isinstance(value, CudaPtrRef) else value

    def pointer(self, operand: Operand) -> CudaPtrRef:
        """The operand as an address."""
        value = self.operand(operand)
        return CudaPtrRef(value, "0") if isinstance(value, str) else value

    # -- lines

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line if not line.startswith("#") else line)

    def local(self, value: Value | Param) -> str:
        return f"v{self.numbers[value]}"

    def assign(self, result: Value | Param, expression: str) -> None:
        """Names an expression: one local of the lane's type."""
        self.put(f"{local_type(result.ty)} {self.local(result)} = {expression};")
        self.values[result] = self.local(result)

    @contextmanager
    def block(self, head: str, close: bool = True) -> Iterator[None]:
        """What is put inside stands indented between `head {` and `}`."""
        self.put(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        if close:
            self.put("}")

    @contextmanager
    def guarded(self, mask: Operand) -> Iterator[None]:
        """What is put inside happens where the mask is true, always without one."""
        if mask is None:
            yield
        else:
            with self.block(f"if ({self.expression(mask)})"):
                yield

    def barrier(self) -> None:
        self.put("__syncthreads();")

    def is_uniform(self, value: Value) -> bool:
        """Whether every thread holds the same value, by type: scalars and blocks of one element."""
        return shape_of(value.ty) in ((), (1,))

    # -- ops

    def body(self, region: Region) -> None:
        """The ops of a region, without the final yield."""
        for op in region.ops[:-1]:
            self.emit(op)

    def emit(self, op: Op) -> None:
        self._show(op)
        RULES[op.name](self, op)

    def _show(self, op: Op) -> None:
        if self.options.comments:
            self.put(f"// {self.printer.head(op)}")
        if self.options.lineinfo and op.where and op.where[0].line != self.line:
            self.line = op.where[0].line
            file = op.where[0].file.replace("\\", "\\\\").replace('"', '\\"')
            self.put(f'#line {self.line} "{file}"')


def _parameters(function: Function) -> tuple[Parameter, ...]:
    taken: set[str] = set()
    parameters = []
    for param in function.params:
        name = legal_name(param.name, taken)
        taken.add(name)
        parameters.append(Parameter(name, local_type(param.ty), param.ty))
    return tuple(parameters)


def _used(region: Region) -> frozenset[Value]:
    """The op results that anything uses."""
    return frozenset(
        operand for op in walk(region) for operand in op.operands if isinstance(operand, Value)
    )


Rule = Callable[[Lane, Op], None]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers the lowering of ops by name."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


@rule(
    "trans", "join", "split", "cat", "gather", "slice", "reduce", "scan", "sort", "histogram", "dot"
)
def refuse(lane: Lane, op: Op) -> None:
    """An op that needs other lanes' values."""
    moves = f"`{op.name}` moves values between lanes, and the lane rule keeps each in its thread"
    raise CompileValueError(f"{moves}; {TILED}", op.where)
