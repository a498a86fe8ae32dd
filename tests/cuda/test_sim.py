"""cudasim: one program per text, kept on disk, in any order, for any host compiler."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from mytriton.errors import CompileError
from mytriton.targets import store
from mytriton.targets.cuda import generate, sim
from mytriton.targets.cuda.sim import build
from tests.support.cuda import ssa
from tests.support.memory import arguments_of

WHO = """
    who(out: ptr<i32>, turn: ptr<i32>) {
        %0 = program_id {axis=0} : i32
        %1 = arange {start=0, end=4} : vector<4 x i32>
        %2 = mul %0, 4 : i32
        %3 = add %2, %1 : vector<4 x i32>
        %4 = broadcast turn {shape=(4,)} : vector<4 x ptr<i32>>
        %5 = atomic %4, 1, none {kind="add", sem="relaxed"} : vector<4 x i32>
        %6 = addptr out, %3 : vector<4 x ptr<i32>>
        store %6, %5, none
    }
"""


def turns(order: str | None) -> list[int]:
    function = ssa(WHO)
    out, turn = np.zeros(8, np.int32), np.zeros(1, np.int32)
    given = arguments_of(function, (out, turn))
    sim.run(generate(function), (2, 1, 1), given, order=order)
    return out.tolist()


def test_orders_of_threads_and_programs():
    assert turns("forward") == [0, 1, 2, 3, 4, 5, 6, 7]
    assert turns("reverse") == [7, 6, 5, 4, 3, 2, 1, 0]
    shuffled = [tuple(turns(f"shuffle:{seed}")) for seed in range(5)]
    assert len(set(shuffled)) > 1
    assert all(sorted(turn) == list(range(8)) for turn in shuffled)
    assert shuffled[0] == tuple(turns("shuffle"))


def test_an_order_may_be_chosen_by_the_environment(monkeypatch):
    for order in ("reverse", "shuffle:3"):
        monkeypatch.setenv("MYTRITON_CUDASIM_ORDER", order)
        assert turns(None) == turns(order)
    monkeypatch.setenv("MYTRITON_CUDASIM_ORDER", "backwards")
    with pytest.raises(CompileError, match="must be forward, reverse, shuffle or shuffle:SEED"):
        turns(None)


def test_every_program_of_a_grid_runs_once():
    function = ssa("""
        k(out: ptr<i32>) {
            %0 = program_id {axis=0} : i32
            %1 = program_id {axis=1} : i32
            %2 = program_id {axis=2} : i32
            %3 = num_programs {axis=0} : i32
            %4 = num_programs {axis=1} : i32
            %5 = mul %2, %4 : i32
            %6 = add %5, %1 : i32
            %7 = mul %6, %3 : i32
            %8 = add %7, %0 : i32
            %9 = addptr out, %8 : ptr<i32>
            %10 = atomic %9, 1, none {kind="add"} : i32
        }
    """)
    out = np.zeros(2 * 3 * 5, np.int32)
    sim.run(generate(function), (2, 3, 5), arguments_of(function, (out,)))
    assert (out == 1).all()


VISIBLE = 'extern "C" __attribute__((visibility("default"))) '


def test_objects_are_kept_on_disk_by_what_they_are_made_of(tmp_path, monkeypatch):
    monkeypatch.setenv(store.FOLDER, str(tmp_path))
    monkeypatch.setenv(store.KEPT_KINDS, "cudasim")
    compiled, made = build._compile, []
    monkeypatch.setattr(build, "_compile", lambda *given: made.append(1) or compiled(*given))
    text = VISIBLE + "int number() { return 11; }"
    for _ in range(2):
        build.build.cache_clear()
        assert build.build(text).number() == 11
        assert len(made) == 1 and len(list(store.entries("cudasim"))) == 1
    assert build.build(text.replace("11", "12")).number() == 12 and len(made) == 2
    for entry in store.entries("cudasim"):
        entry.path.write_bytes(entry.path.read_bytes()[:-100])
    build.build.cache_clear()
    assert build.build(text).number() == 11 and len(made) == 3
    build.build.cache_clear()


def test_without_a_cache_folder_objects_are_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.FOLDER, str(tmp_path / "file"))
    build.build.cache_clear()
    assert build.build(VISIBLE + "int number() { return 13; }").number() == 13
    build.build.cache_clear()


def test_without_a_compiler_the_message_says_what_to_do(monkeypatch):
    build.compiler.cache_clear()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(CompileError, match=r"needs a C\+\+ compiler .* or use target cpu"):
        build.compiler()
    build.compiler.cache_clear()


def test_a_trap_is_an_error():
    function = ssa("k(x: ptr<i32>) {\nstore x, 1, none\n}")
    source = generate(function)
    broken = dataclasses.replace(source, kernel=source.kernel.replace("x[0] = 1;", "__trap();"))
    with pytest.raises(AssertionError, match="stopped itself"):
        sim.run(broken, (1, 1, 1), arguments_of(function, (np.zeros(1, np.int32),)))
