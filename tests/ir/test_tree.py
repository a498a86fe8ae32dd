"""The expression view."""

from __future__ import annotations

from mytriton.ir.build import Builder, emit, using
from mytriton.ir.nodes import Function, Operand, Param
from mytriton.ir.parse import parse
from mytriton.ir.tree import expression_ops, print_trees
from mytriton.ir.types import F32, PointerType
from tests.ir.corpus import corpus, program
from tests.ir.test_text import SEED, indented
from tests.support.counting import calls_of

OFFSETS = (
    "BinOp(op='+', lhs=BinOp(op='*', lhs=ProgramId(axis=0), rhs=Const(value=256, ty=i32)), "
    "rhs=Arange(start=0, end=256))"
)
MASK = f"BinOp(op='<', lhs={OFFSETS}, rhs=Param(name='n', ty=i32))"


def pointer(name: str) -> str:
    return f"AddPtr(base=Param(name='{name}', ty=ptr<f32>), offset={OFFSETS})"


def load(name: str) -> str:
    return f"Load(ptr={pointer(name)}, mask={MASK}, other=Const(value=0.0, ty=f32))"


def seed() -> Function:
    head = "kernel add_kernel(x: ptr<f32>, y: ptr<f32>, out: ptr<f32>, n: i32) {"
    return parse(f"{head}\n{indented(SEED)}\n}}")


def chain(length: int, shared: bool) -> Function:
    """x + x or x + 1, that many times over."""
    p = Param("p", PointerType(F32))
    with using(Builder(where=())) as builder:
        one = emit("load", emit("addptr", p, emit("program_id", axis=0)), None, None)
        value: Operand = emit("load", p, None, None)
        for _ in range(length):
            value = emit("add", value, value if shared else one)
        builder.emit("store", (p, value, None))
    return builder.function("chain", [p])


def test_the_seed_kernel_is_one_store_printed_whole() -> None:
    (store,) = expression_ops(seed())
    assert type(store).__name__ == "Store"
    value = f"BinOp(op='+', lhs={load('x')}, rhs={load('y')})"
    assert repr(store) == str(store) == f"Store(ptr={pointer('out')}, value={value}, mask={MASK})"


def test_fields_are_nodes_and_what_is_shared_is_one_node() -> None:
    (store,) = expression_ops(seed())
    assert store.ptr.base.name == "out"
    assert store.value.lhs.mask is store.mask
    assert store.value.op == "+" and store.mask.op == "<"
    assert store.ptr.offset.lhs.rhs.value == 256


def test_a_new_list_at_each_call() -> None:
    function = seed()
    expression_ops(function).clear()
    assert len(expression_ops(function)) == 1


def test_effects_stand_in_program_order_and_reads_are_not_effects() -> None:
    function = program("""
    %0 = load x, none, none : f32
    store out, 1.0, none
    barrier
    %1 = atomic counts, 1, none {kind="add"} : i32
    store out, %0, none""")
    assert [node.kind for node in expression_ops(function)] == [
        "Store",
        "Barrier",
        "Atomic",
        "Store",
    ]
    assert repr(expression_ops(function)[2]) == (
        "Atomic(ptr=Param(name='counts', ty=ptr<i32>), value=Const(value=1, ty=i32), mask=None, "
        "kind='add')"
    )


def test_a_loop_that_stores_is_an_effect_with_its_body_and_one_that_does_not_is_a_value() -> None:
    function = program("""
    %0 = for 0, n, 1, 0.0 : f32 (%1 i : i32, %2 total : f32) {
        %3 = add %2, 1.5 : f32
        yield %3
    }
    for 0, n, 1 (%4 j : i32) {
        %5 = addptr out, %4 : ptr<f32>
        store %5, %0, none
        yield
    }""")
    (loop,) = expression_ops(function)
    inside, end = loop.body
    assert (loop.kind, inside.kind, end.kind) == ("For", "Store", "Yield")
    assert repr(inside.value) == (
        "For(lo=Const(value=0, ty=i32), hi=Param(name='n', ty=i32), step=Const(value=1, ty=i32), "
        "carried=(Const(value=0.0, ty=f32),), body=(Yield(values=(BinOp(op='+', "
        "lhs=Param(name='total', ty=f32), rhs=Const(value=1.5, ty=f32)),)),))"
    )


def test_one_result_of_several_is_named_by_its_index() -> None:
    function = program("""
    %0 = broadcast n {shape=(4, 2)} : vector<4x2 x i32>
    %1, %2 = split %0 : vector<4 x i32>, vector<4 x i32>
    print %2""")
    (shown,) = expression_ops(function)
    split = "Split(value=Broadcast(value=Param(name='n', ty=i32), shape=(4, 2)))"
    assert repr(shown) == f"Print(values=(Result(of={split}, index=1),))"


def test_the_same_node_twice_in_a_tuple_is_shown_twice() -> None:
    (shown,) = expression_ops(program("print n, n, 1"))
    n = "Param(name='n', ty=i32)"
    assert repr(shown) == f"Print(values=({n}, {n}, Const(value=1, ty=i32)))"


def test_in_a_large_graph_a_shared_subtree_is_printed_once_and_named_after_that() -> None:
    text = repr(expression_ops(chain(60, shared=True))[0])
    assert text.count("Load(") == 4, "of the small subtrees below the first named one"
    assert "(e1 := BinOp(op='+', lhs=(e2 := BinOp(" in text
    assert text.endswith("rhs=e2)), rhs=e1), mask=None)")


def test_printing_takes_work_and_room_that_grow_with_the_graph_only() -> None:
    small, large = (chain(length, shared=True) for length in (2000, 8000))
    texts = [repr(expression_ops(function)[0]) for function in (small, large)]
    assert len(texts[1]) < 5 * len(texts[0])
    work = [calls_of(lambda f=f: print_trees(expression_ops(f))) for f in (small, large)]
    assert work[1] < 5 * work[0]


def test_a_deep_tree_without_sharing_is_printed_whole() -> None:
    text = repr(expression_ops(chain(3000, shared=False))[0])
    assert text.count("BinOp") == 3000


def test_many_lines_show_the_same_tree_and_share_names_across_trees() -> None:
    for function in corpus().values():
        nodes = expression_ops(function)
        text = print_trees(nodes)
        flat = "".join(text.split()).replace(",)", ")")
        if ":=" not in text:
            assert flat == "".join("".join(map(repr, nodes)).split()).replace(",)", ")")
    chain = "\n".join(f"%{k} = exp %{k - 1} : f32" for k in range(1, 9))
    stores = "\n".join("store out, %8, none" for _ in range(40))
    both = program(f"%0 = load x, none, none : f32\n{chain}\n{stores}")
    assert print_trees(expression_ops(both)).count("Exp(") == 8
