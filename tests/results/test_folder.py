from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import InputError, RunError, folder

if TYPE_CHECKING:
    from pathlib import Path


def write(target: Path, *, force: bool = False, seed: int = 1) -> None:
    """Writes a result folder with the files that decide whether it may be replaced."""
    keys = ("leobench", "engine", "wall_s", "validity", "scenario")
    with folder.writing(target, force=force) as partial:
        (partial / folder.MANIFEST).write_text(json.dumps(dict.fromkeys(keys) | {"seed": seed}))
        (partial / folder.SUMMARY).write_text("{}")
        (partial / "messages.parquet").write_bytes(b"PAR1")
        (partial / folder.QLOG).mkdir()
        (partial / folder.QLOG / "main-sender.sqlog").write_text("")


def seed(target: Path) -> int:
    """The seed of what `write` wrote there."""
    number: int = json.loads((target / folder.MANIFEST).read_text())["seed"]
    return number


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
    write(target, seed=1)
    with pytest.raises(InputError, match=r"exists already; .*--out, .*--force"):
        write(target, seed=2)
    assert seed(target) == 1
    (target / "timeline.png").write_bytes(b"drawn by leobench plot")
    write(target, force=True, seed=2)
    assert seed(target) == 2
    assert not (target / "timeline.png").exists()
    assert list(tmp_path.iterdir()) == [target]


def test_two_at_once_do_not_write_to_the_same_place(tmp_path: Path) -> None:
    """Whether one is to be replaced or not; names alike in their first letters are others."""
    name = 50 * "a"
    target, link = tmp_path / name, tmp_path / "link"
    link.symlink_to(name)
    said = r"another leobench is writing there; wait until it has ended, .*--out"
    for force in (False, True):
        with folder.writing(target, force=force) as partial:
            for second in (target, link):
                with pytest.raises(InputError, match=said), folder.writing(second, force=force):
                    pass
            write(tmp_path / f"{name}b", force=True)
            write(tmp_path / "a", force=True)
            (partial / folder.MANIFEST).write_text(json.dumps(dict.fromkeys(folder._MANIFEST_KEYS)))
        assert {path.name for path in tmp_path.iterdir()} == {name, f"{name}b", "a", "link"}


def test_a_failed_replacement_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "run"
    write(target, seed=1)
    with pytest.raises(ValueError, match="halfway"), folder.writing(target, force=True):
        raise ValueError("halfway")
    assert seed(target) == 1


def test_force_replaces_nothing_but_results(tmp_path: Path) -> None:
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not the result folder of a run, so --force does not replace it"):
        write(precious, force=True)
    for manifest in ('{"manifest_version": 3, "name": "an extension"}', "[]", ""):
        (precious / folder.MANIFEST).write_text(manifest)
        with pytest.raises(InputError, match="is not the result folder of a run"):
            write(precious, force=True)
    assert (precious / "thesis.tex").read_text() == "years of work"
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a folder"):
        write(tmp_path / "file", force=True)
    (tmp_path / "under").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        write(tmp_path / "under" / "run")


@pytest.mark.parametrize("name", ["notes.txt", "mine.parquet", "qlog/notes.txt", "sub/timeline.png"])
def test_force_replaces_no_result_folder_that_holds_more(tmp_path: Path, name: str) -> None:
    target = tmp_path / "run"
    write(target)
    foreign = target / name
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("of somebody")
    with pytest.raises(
        InputError, match=f"holds `{name.split('/', maxsplit=1)[0]}`, which leobench did not write"
    ):
        write(target, force=True, seed=2)
    assert foreign.read_text() == "of somebody"
    assert seed(target) == 1


def test_a_link_stands_for_the_folder_it_leads_to(tmp_path: Path) -> None:
    target, link = tmp_path / "run", tmp_path / "latest"
    write(target)
    link.symlink_to("run")
    with pytest.raises(InputError, match="latest: exists already"):
        write(link, seed=2)
    write(link, force=True, seed=2)
    assert link.is_symlink()
    assert seed(target) == 2
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    with pytest.raises(InputError, match="is not a folder"):
        write(circle, force=True)


@pytest.mark.parametrize("parent", ["", "absent"])
def test_a_name_the_system_does_not_take_is_refused_before_the_run(tmp_path: Path, parent: str) -> None:
    for name in ("a" * 300, "a\0b"):
        with pytest.raises(InputError, match="cannot be written to: "):
            folder.writing(tmp_path / parent / name, force=False).__enter__()
    long = tmp_path / ("a" * 255)
    write(long)
    assert seed(long) == 1


def test_the_manifest_and_the_summary_are_json_for_people(tmp_path: Path) -> None:
    folder.describe(tmp_path, {"seed": 1}, {"scenario": "Höhe"})
    assert json.loads((tmp_path / folder.MANIFEST).read_text()) == {"seed": 1}
    assert (tmp_path / folder.SUMMARY).read_text(encoding="utf-8") == '{\n  "scenario": "Höhe"\n}\n'
    with pytest.raises(RunError, match=r"the results cannot be written: .*absent"):
        folder.describe(tmp_path / "absent", {}, {})


def test_folders_that_are_no_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        leobench.open(tmp_path / "absent")
    with pytest.raises(InputError, match=r"is not a result folder: it has no manifest\.json"):
        leobench.open(tmp_path)
    for text in ("{", "[]", "\x00"):
        (tmp_path / folder.MANIFEST).write_text(text)
        with pytest.raises(InputError, match=r"manifest\.json: (is damaged|is not a JSON object)"):
            leobench.open(tmp_path)


@pytest.mark.parametrize("broken", ["manifest.json", "summary.json", "transport.parquet"])
def test_damaged_folders_are_refused_by_file(broken: str, quick: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    leobench.run(quick, out=folder)
    if broken.endswith(".json"):
        (folder / broken).write_text("{}")
    else:
        (folder / broken).unlink()
    with pytest.raises(leobench.InputError, match=broken):
        leobench.open(folder)
