"""Every structural op has one row on this target, and the row names all that the op needs."""

from __future__ import annotations

import pytest

from mytriton.ir.ops import TABLE
from mytriton.targets.cpu.lowering import Role
from mytriton.targets.cpu.table import ELEMENTWISE, LOWERINGS, ROWS

STRUCTURAL = {name for name, row in TABLE.items() if row.element is None} - {"yield"}


def test_every_structural_op_has_a_row():
    assert set(ROWS) == STRUCTURAL


def test_other_rows_are_of_element_wise_ops():
    assert all(TABLE[name].element is not None for name in ELEMENTWISE)
    assert set(LOWERINGS.rows) == set(ROWS) | set(ELEMENTWISE)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_names_what_its_role_needs(name):
    row = ROWS[name]
    emission = {
        Role.POINTWISE: row.value,
        Role.ROOT: row.root,
        Role.LANE_BY_LANE: row.root,
        Role.REDUCTION: row.root and row.opaque,
        Role.PARTS: row.role,
        Role.ACCUMULATE: row.opaque,
        Role.LOOP: row.opaque,
        Role.OPAQUE: row.opaque,
        Role.SCALAR: row.scalar,
    }
    assert emission[row.role] is not None


@pytest.mark.parametrize("name", sorted(ROWS))
def test_an_op_whose_index_differs_says_which_operand_at_which_index(name):
    row = ROWS[name]
    assert row.index_map is not None or not row.moves
