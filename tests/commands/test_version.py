"""The version, and how a build without real time answers."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from leobench import _core, cli, version
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


def checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks as if leobench ran from it."""
    module = folder / "python/leobench/version.py"
    module.parent.mkdir(parents=True)
    shutil.copy(version.__file__, module)
    (folder / "Cargo.toml").touch()
    monkeypatch.setattr(version, "__file__", str(module))
    return folder


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *words],  # noqa: S607
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_a_checkout_says_its_commit_and_whether_files_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkout(tmp_path, monkeypatch)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "a")
    commit = git(folder, "rev-parse", "HEAD")[:12]
    assert version.commit() == f"{commit} of this checkout"
    (folder / "Cargo.toml").write_text("changed")
    assert version.commit() == f"{commit} of this checkout, with changes"


def test_a_source_archive_inside_another_repository_does_not_take_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    checkout(tmp_path / "leobench-0.1.0", monkeypatch)
    assert version.commit() == "unknown (source archive, or git is not installed)"


@pytest.mark.parametrize(
    ("built", "told"),
    [
        ("0123456789ab", "0123456789ab"),
        ("0123456789ab+", "0123456789ab, with changes"),
        (None, "unknown (built from a source archive without git)"),
    ],
)
def test_a_wheel_says_what_its_core_was_built_from(
    built: str | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "__file__", str(tmp_path / "lib/leobench/version.py"))
    monkeypatch.setattr(_core, "COMMIT", built)
    assert version.commit() == told


def test_engines_and_features_are_those_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = version.told().splitlines()
    assert lines[0] == f"leobench {_core.__version__}"
    assert [line.split()[0] for line in lines[1:]] == ["commit", "engines", "features"]
    monkeypatch.setattr(_core, "FEATURES", ())
    assert version.told().splitlines()[2:] == [
        "engines   virtual time (this build has no real time)",
        "features  none",
    ]


@pytest.mark.parametrize("args", [["emulate", "--", "true"], ["run", "--engine", "real", "--out", "out"]])
def test_a_build_without_real_time_says_so(
    args: list[str], quick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_core, "FEATURES", ("noq",))
    assert cli.main([args[0], str(quick), *args[1:]]) == 2
    told = capsys.readouterr().err
    assert told.startswith("leobench: real time: this build for ")
    assert len(told.splitlines()) == 1


def test_the_core_names_what_it_was_built_with() -> None:
    assert version.REAL_TIME in _core.FEATURES
    features = (ROOT / "crates/py/Cargo.toml").read_text()
    assert f'default = ["{version.REAL_TIME}"]' in features
