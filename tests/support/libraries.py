"""Shared libraries for leobench, built by the compilers of this machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import leobench
from tests.support.paths import ROOT

HEADERS = Path(leobench.__file__).parent / "include"


def of_crate(name: str, file: str, target: Path) -> Path:
    """The library `file` of a crate in `examples/`, built in `target`; the test is skipped without cargo."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not installed")
    manifest = ROOT / "examples" / name / "Cargo.toml"
    command = [cargo, "build", "--release", "--locked", "--quiet", "--manifest-path", str(manifest)]
    done = subprocess.run(
        [*command, "--target-dir", str(target)], capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return target / "release" / file


def of_c(source: Path, library: Path, **defined: str) -> Path:
    """A library of a file in C, with macros defined; the test is skipped without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is installed")
    macros = [f"-D{name}={text}" for name, text in defined.items()]
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    command = [
        compiler,
        *strict,
        *macros,
        "-shared",
        "-fPIC",
        "-I",
        str(HEADERS),
        "-o",
        str(library),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return library
