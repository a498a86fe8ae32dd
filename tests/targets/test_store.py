"""The cache on disk within one process: what is used, what is not, and what goes first."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from mytriton.errors import CompileValueError
from mytriton.targets import store
from mytriton.targets.file_lock import file_lock

KEY = store.key("a", "b")
CONTENT = bytes(range(64))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (store.SIZE, store.KEPT_KINDS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(store.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache"


def never() -> bytes:
    raise AssertionError("it was kept, so it need not be made")


def test_what_was_made_is_kept(folder: Path) -> None:
    assert store.fetch("cpu", KEY, lambda: CONTENT) == CONTENT
    assert store.fetch("cpu", KEY, never) == CONTENT
    assert store.get("nvrtc", KEY) is None
    modes = [path.stat().st_mode for path in folder.rglob("*")]
    assert not any(stat.S_IMODE(mode) & 0o077 for mode in modes)


def test_parts_of_a_key_do_not_run_together() -> None:
    keys = {store.key("ab", "c"), store.key("a", "bc"), store.key("abc"), store.key("abc", "")}
    assert len(keys) == 4 and store.key("ab", b"c") in keys


def test_every_byte_counts() -> None:
    store.put("cpu", KEY, CONTENT)
    path = store.path_of("cpu", KEY)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in (1, 0x80):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            assert store.get("cpu", KEY) is None, place
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert store.get("cpu", KEY) is None, length
    path.write_bytes(whole + b"\0")
    assert store.get("cpu", KEY) is None
    path.write_bytes(whole)
    assert store.get("cpu", KEY) == CONTENT


def test_an_entry_under_another_name_is_none() -> None:
    other = store.key("another")
    store.put("cpu", KEY, CONTENT)
    for kind, name in (("cpu", other), ("nvrtc", KEY)):
        path = store.path_of(kind, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.link(store.path_of("cpu", KEY), path)
        assert store.get(kind, name) is None


@pytest.mark.parametrize("bits", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_made_anew(bits: int) -> None:
    store.put("cpu", KEY, CONTENT)
    store.path_of("cpu", KEY).chmod(bits)
    assert store.get("cpu", KEY) is None
    assert store.fetch("cpu", KEY, lambda: CONTENT) == CONTENT
    assert store.fetch("cpu", KEY, never) == CONTENT


def test_what_another_user_owns_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("cpu", KEY, CONTENT)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert store.get("cpu", KEY) is None


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_plain_file_is_not_used(folder: Path, tmp_path: Path, kind: str) -> None:
    store.put("cpu", KEY, CONTENT)
    path = store.path_of("cpu", KEY)
    if kind == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.unlink()
        os.mkfifo(path, 0o600) if kind == "pipe" else path.mkdir()
    assert store.get("cpu", KEY) is None
    assert store.fetch("cpu", KEY, lambda: CONTENT) == CONTENT
    assert not list(folder.rglob(".*")), "nothing half-written is left"


def test_a_failed_making_leaves_nothing_and_no_lock() -> None:
    with pytest.raises(ZeroDivisionError):
        store.fetch("cpu", KEY, lambda: bytes(1 // 0))
    start = time.monotonic()
    assert store.fetch("cpu", KEY, lambda: CONTENT) == CONTENT
    assert time.monotonic() - start < 10


def test_threads_make_an_entry_once() -> None:
    made: list[int] = []

    def make() -> bytes:
        made.append(1)
        time.sleep(0.2)
        return CONTENT

    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(store.fetch("cpu", KEY, make)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONTENT] * 8 and len(made) == 1


def test_who_cannot_have_the_lock_makes_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.05)
    with file_lock(folder / "locks" / f"cpu-{KEY[:2]}", 0) as locked:
        assert locked
        assert store.fetch("cpu", KEY, lambda: CONTENT) == CONTENT
    assert store.fetch("cpu", KEY, never) == CONTENT


def fill(count: int, nbytes: int) -> list[str]:
    keys = [store.key(str(number)) for number in range(count)]
    for age, key in enumerate(keys):
        store.put("cpu" if age % 2 else "nvrtc", key, bytes(nbytes))
        os.utime(store.path_of("cpu" if age % 2 else "nvrtc", key), (1000 + age, 1000 + age))
    return keys


def left(keys: list[str]) -> list[int]:
    kinds = ["cpu" if age % 2 else "nvrtc" for age in range(len(keys))]
    return [n for n, key in enumerate(keys) if store.path_of(kinds[n], key).exists()]


def test_what_was_used_longest_ago_goes_first_whatever_its_kind() -> None:
    keys = fill(8, 1000)
    store.get("nvrtc", keys[0])  # used just now
    store.evict(5000)
    assert left(keys) == [0, 6, 7]
    store.evict(5000)
    assert left(keys) == [0, 6, 7]


def test_a_clock_that_jumps_keeps_the_limit_and_the_content() -> None:
    keys = fill(8, 1000)
    for age in (0, 1, 2):
        path = store.path_of("cpu" if age % 2 else "nvrtc", keys[age])
        os.utime(path, (2**33, 2**33) if age else (0, 0))  # the year 2242, 1970
    store.evict(5000)
    assert left(keys) == [1, 2, 7]
    assert store.get("cpu", keys[1]) == bytes(1000)


def test_a_writer_keeps_to_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store.SIZE, "1")
    for number in range(60):
        store.put("cpu", store.key(str(number)), bytes(100_000))
    total = sum(entry.nbytes for kind in store.KINDS for entry in store.entries(kind))
    assert 500_000 < total <= 1_200_000


@pytest.mark.parametrize("text", ["-1", "²", "many", "1.5"])
def test_a_size_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(store.SIZE, text)
    with pytest.raises(CompileValueError, match="MYTRITON_CACHE_SIZE_MB must be"):
        store.size_limit()


def test_only_the_kinds_that_are_asked_for_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.KEPT_KINDS, "tuning, nvrtc")
    for kind in ("cpu", "nvrtc"):
        store.put(kind, KEY, CONTENT)
    assert (store.get("cpu", KEY), store.get("nvrtc", KEY)) == (None, CONTENT)
    assert not (folder / "cpu").exists()
    monkeypatch.setenv(store.KEPT_KINDS, "cuda")
    with pytest.raises(CompileValueError, match="MYTRITON_CACHE_KINDS must list"):
        store.get("cpu", KEY)
    monkeypatch.setenv(store.KEPT_KINDS, "")
    monkeypatch.setenv(store.SIZE, "0")
    assert store.fetch("nvrtc", KEY, lambda: b"new") == b"new"


def test_clear() -> None:
    fill(8, 10)
    assert store.clear(("cpu",)) == 4
    assert [len(list(store.entries(kind))) for kind in ("cpu", "nvrtc")] == [0, 4]
    assert store.clear() == 4


def test_the_folder_is_the_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(store.FOLDER)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in store.cache_folder().parents
    assert store.cache_folder().name == "mytriton"


def test_what_happens_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("cpu", KEY, CONTENT)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("MYTRITON_LOG", "cache")
    store.put("cpu", KEY, CONTENT)
    store.get("cpu", KEY)
    store.path_of("cpu", KEY).write_bytes(b"")
    store.get("cpu", KEY)
    said = capsys.readouterr().err
    assert all(word in said for word in ("was made and written", "was found", "is damaged"))
