from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from leobench import InputError, folder

if TYPE_CHECKING:
    from pathlib import Path


def write(target: Path, *, force: bool = False, text: str = "{}") -> None:
    with folder.writing(target, force=force) as partial:
        (partial / folder.MANIFEST).write_text(text, encoding="utf-8")


def test_a_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "run"
    with folder.writing(target, force=False) as partial:
        assert not target.exists()
        assert partial.parent == target.parent
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_of_a_run_that_fails(tmp_path: Path, failure: type[BaseException]) -> None:
    def fail() -> None:
        with folder.writing(tmp_path / "run", force=False) as partial:
            (partial / "half").write_text("written")
            raise failure

    with pytest.raises(failure):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    target = tmp_path / "run"
    write(target, text="1")
    with pytest.raises(InputError, match=r"exists already; .*--out, .*--force"):
        write(target, text="2")
    assert (target / folder.MANIFEST).read_text() == "1"
    write(target, force=True, text="2")
    assert (target / folder.MANIFEST).read_text() == "2"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_replacement_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "run"
    write(target, text="1")
    with pytest.raises(ValueError, match="halfway"), folder.writing(target, force=True):
        raise ValueError("halfway")
    assert (target / folder.MANIFEST).read_text() == "1"


def test_force_replaces_nothing_but_results(tmp_path: Path) -> None:
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is no result folder, so --force does not replace it"):
        write(precious, force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is no folder"):
        write(tmp_path / "file", force=True)
    (tmp_path / "under").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        write(tmp_path / "under" / "run")


def test_tables_become_parquet_unchanged_and_in_order(tmp_path: Path) -> None:
    arrow = tmp_path / "arrow"
    arrow.mkdir()
    rows = 250_000
    frame = pl.DataFrame(
        {
            "t_ns": pl.int_range(rows, eager=True),
            "label": ["line-of-sight", None] * (rows // 2),
        }
    )
    frame.write_ipc(arrow / "channel.arrow")
    frame.clear().write_ipc(arrow / "events.arrow")
    folder.fill(tmp_path, arrow, {"seed": 1}, json.dumps({"scenario": "s"}))
    assert not arrow.exists()
    result = leobench.open(tmp_path)
    assert result.tables.channel.equals(frame)
    assert result.tables.events.schema == frame.schema
    assert set(result.tables) == {"channel", "events"}
    assert result.manifest == {"seed": 1}


def test_folders_that_are_no_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        leobench.open(tmp_path / "absent")
    with pytest.raises(InputError, match=r"is no result folder: it has no manifest\.json"):
        leobench.open(tmp_path)
    for text in ("{", "[]", "\x00"):
        (tmp_path / folder.MANIFEST).write_text(text)
        with pytest.raises(InputError, match=r"manifest\.json: (cannot be read|holds no JSON object)"):
            leobench.open(tmp_path)
