"""QUIC stacks that others wrote and registries deliver: each sends a file over an emulated link."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("hosts")]

RUST, GO = ROOT / "examples" / "quic_rust", ROOT / "examples" / "quic_x_net"


@pytest.fixture(scope="module")
def rust() -> str:
    """The program on several Rust stacks; it takes minutes to compile."""
    _deliver(["cargo", "fetch", "--locked"], RUST)
    words = ["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", "target"]
    built = subprocess.run(words, cwd=RUST, stderr=subprocess.PIPE, text=True, check=False)
    if "Unable to find libclang" in built.stderr:
        pytest.skip("quiche needs libclang to be built: install libclang-dev")
    assert built.returncode == 0, built.stderr[-2000:]
    return str(RUST / "target" / "release" / "quic_rust")


@pytest.fixture(scope="module")
def x_net(tmp_path_factory: pytest.TempPathFactory) -> str:
    _deliver(["go", "mod", "download"], GO)
    program = tmp_path_factory.mktemp("go") / "quic_x_net"
    words = ["go", "build", "-o", str(program), "."]
    subprocess.run(words, cwd=GO, check=True)
    return str(program)


@pytest.mark.parametrize("stack", ["quiche", "quinn", "s2n-quic"])
def test_a_rust_stack_sends_a_file(tmp_path: Path, rust: str, stack: str) -> None:
    _transfer(tmp_path, f"{rust} {stack}")


def test_the_stack_of_go_sends_a_file(tmp_path: Path, x_net: str) -> None:
    _transfer(tmp_path, x_net)


def _transfer(folder: Path, program: str) -> None:
    """2 MB over 10 Mbit/s and 20 ms each way: no stack beats the link, or is slower than a third of it."""
    client = [*program.split(), "fetch", "server:4433", "2000000"]
    link = ("--rate", "10Mbps", "--delay", "20ms")
    server = ("--server", f"{program} serve [::]:4433")
    ended = leobench("emulate", *link, *PATIENT, *server, "--", *client, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert said["bytes"] == 2_000_000
    assert 3.3 < said["goodput_mbps"] < 10
    # Ten megabits a second for 16 megabits, and the handshake's round trip.
    assert said["seconds"] > 1.6 + 0.04


def _deliver(words: list[str], folder: Path) -> None:
    """Skips a test if the tool or its registry is not there."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    fetched = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if fetched.returncode != 0:
        pytest.skip(f"{words[0]} cannot fetch: {fetched.stderr[-300:]}")
