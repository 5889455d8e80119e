"""The source archive and the wheel: what they contain, and that they work away from the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from leobench import _core, papers
from tests.support.paths import ROOT

# Bytes of the largest wheel; package indexes and phone lines have limits.
LARGEST = 15_000_000
MATURIN = Path(sys.executable).with_name("maturin")

pytestmark = pytest.mark.skipif(not MATURIN.exists(), reason="maturin is not installed")


def maturin(*words: object) -> None:
    command = [str(MATURIN), *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, unpacked."""
    folder = tmp_path_factory.mktemp("archive")
    maturin("sdist", "--out", folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        assert all(member.isfile() or member.isdir() for member in opened.getmembers()), "no links"
        opened.extractall(folder, filter="data")
    (top,) = (path for path in folder.iterdir() if path.is_dir())
    return top


def shipped() -> set[str]:
    """The files of data that the package has, by their paths in it."""
    found = {f"templates/scenarios/{path.name}" for path in (ROOT / "scenarios").glob("*.toml")}
    found |= {f"templates/scenarios/traces/{path.name}" for path in (ROOT / "scenarios/traces").iterdir()}
    found |= {f"templates/campaigns/{path.name}" for path in (ROOT / "campaigns").glob("*.toml")}
    package = ROOT / "python/leobench"
    found |= {str(path.relative_to(package)) for path in package.glob("papers/*/*.toml")}
    found |= {str(path.relative_to(package)) for path in package.glob("templates/lists/*")}
    return found | {"py.typed", "_core.pyi"}


def installed(site: Path, *words: str, cwd: Path, code: int = 0) -> str:
    """The output of leobench from a folder of packages, away from the checkout; its messages if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "leobench", *words],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_the_source_archive_has_all_that_is_shipped_and_no_more(unpacked: Path) -> None:
    package = unpacked / "python/leobench"
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    assert shipped() <= files
    modules = {str(path.relative_to(ROOT / "python/leobench")) for path in (ROOT / "python").rglob("*.py")}
    assert {name for name in files if name.endswith(".py")} == modules
    assert {path.name for path in unpacked.iterdir()} == {
        "Cargo.lock", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "PKG-INFO", "README.md", "crates",
        "pyproject.toml", "python",
    }  # fmt: skip
    assert not list(unpacked.rglob("*.so"))
    assert (unpacked / "crates/py/build.rs").is_file()


def test_the_package_works_away_from_the_checkout(unpacked: Path, tmp_path: Path) -> None:
    """The package of the source archive with a core beside it is what a wheel installs."""
    site = tmp_path / "site"
    shutil.copytree(unpacked / "python/leobench", site / "leobench")
    shutil.copy(str(_core.__file__), site / "leobench")
    work = tmp_path / "work"
    work.mkdir()
    assert "commit    unknown" in installed(site, "--version", cwd=work)
    installed(site, "new", "ka", cwd=work)
    assert (work / "ka.toml").read_bytes() == (ROOT / "scenarios/ka.toml").read_bytes()
    assert "virtual s" in installed(site, "run", "ka.toml", "--set", "duration=2 s", "--out", "out", cwd=work)
    installed(site, "new", "buffers", cwd=work)
    listed = installed(site, "reproduce", "--list", cwd=work)
    assert all(paper.name in listed for paper in papers.papers())
    installed(site, "new", "starlink", "--at", "Munich", cwd=work)
    assert "ok: starlink-munich" in installed(site, "check", "starlink.toml", cwd=work)
    refused = installed(site, "run", "scenarios/starlink-hour.toml", cwd=work, code=2)
    assert "the template that `leobench new starlink-hour` copies" in refused


def test_a_wheel_without_symbols_is_small_enough(unpacked: Path, tmp_path: Path) -> None:
    strip = shutil.which("strip")
    if strip is None:
        pytest.skip("strip is not installed")
    stripped = tmp_path / "_core.abi3.so"
    subprocess.run([strip, "-o", stripped, str(_core.__file__)], check=True)
    with zipfile.ZipFile(tmp_path / "wheel", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(stripped, stripped.name)
        for path in (unpacked / "python").rglob("*"):
            wheel.write(path, path.relative_to(unpacked))
    assert 1_000_000 < (tmp_path / "wheel").stat().st_size < LARGEST


@pytest.mark.parametrize("words", [[], ["nowhere.whl"], ["a", "b"]])
def test_a_trial_without_an_archive_says_how_it_is_used(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/try_wheel.py"), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: try_wheel.py FILE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `LEOBENCH_WHEEL` names, or one that is built now."""
    if "LEOBENCH_WHEEL" in os.environ:
        return Path(os.environ["LEOBENCH_WHEEL"])
    folder = tmp_path_factory.mktemp("wheel")
    maturin("build", "--out", folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_has_all_that_is_shipped(wheel: Path) -> None:
    assert re.fullmatch(r"leobench-[\d.]+-cp311-abi3-(manylinux|macosx)_\w+\.whl", wheel.name)
    assert wheel.stat().st_size < LARGEST
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    assert {f"leobench/{name}" for name in shipped()} <= names
    assert {name.split("/")[0].split("-")[0] for name in names} <= {"leobench", "leobench.libs"}
    licences = {name.rsplit("/", 1)[1] for name in names if ".dist-info/licenses/" in name}
    assert {"LICENSE-APACHE", "LICENSE-MIT", "LICENSE-ground-stations"} <= licences


@pytest.mark.slow
def test_the_wheel_runs_in_an_empty_environment(wheel: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/try_wheel.py"), str(wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^commit    ([0-9a-f]{12}(, with changes)?|unknown .*)$", done.stdout, re.MULTILINE)
    assert "wrote ka.toml" in done.stdout
    assert "ok: starlink-munich" in done.stdout
