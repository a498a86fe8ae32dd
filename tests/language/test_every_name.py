"""Every public name of Triton's language is run on interpret and cpu; docs/language.md says so.

The entries are in `names/`, one for each name of `tools/triton_language_names.txt`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import language_table

from .names.resolve import key_of, public_names, resolve
from .names.shown import Row
from .names.table import SHOWN, shown

KEYS = [key_of(module, name) for module, name in public_names()]
PAGE = Path(__file__).parents[2] / "docs" / "language.md"


def test_every_name_has_an_entry():
    assert not [key for key in KEYS if shown(key) is None]


def test_every_entry_is_of_a_name():
    assert not set(SHOWN) - set(KEYS) - {"standard.sort_impl"}


@pytest.mark.parametrize("key", KEYS)
def test_name(key):
    entry = shown(key)
    assert entry is not None
    entry.show(resolve(key) if isinstance(entry, Row) else None)


def test_nearly_all_work():
    exceptions = language_table.exceptions()
    assert not set(exceptions) - set(KEYS)
    assert len(exceptions) <= 0.02 * len(KEYS)


def test_the_page_is_what_the_script_prints():
    assert PAGE.read_text(encoding="utf-8") == language_table.page(), (
        "python -m tools.language_table > docs/language.md"
    )
