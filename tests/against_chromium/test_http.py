"""The servers' choice of the next frame, and both protocols with clients of others."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT
from tools.against_chromium import record
from tools.against_chromium.http2 import Response, chosen, priority

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("field", "urgency", "incremental"),
    # RFC 9218 section 4: the default urgency is 3, and `i` is a boolean of structured fields.
    [("", 3, False), ("u=5", 5, False), ("u=1, i", 1, True), ("i", 3, True), ("u=2, i=?0", 2, False)],
)
def test_priorities_are_read(field: str, urgency: int, incremental: bool) -> None:
    assert priority(field) == (urgency, incremental)


def test_the_most_urgent_comes_first_and_incremental_ones_take_turns() -> None:
    low = Response(1, 4, incremental=False, content=b"x")
    first, second = (Response(stream, 3, incremental=True, content=b"x") for stream in (3, 5))
    whole = Response(7, 3, incremental=False, content=b"x")
    assert chosen([low, first, second, whole]) is whole
    first.turn = 1
    assert chosen([low, first, second]) is second
    second.turn = 2
    assert chosen([low, first, second]) is first
    assert chosen([low]) is low
    assert chosen([]) is None


@pytest.mark.parametrize("protocol", ["h2", "http/1.1"])
def test_files_come_whole_over_either_protocol(protocol: str, tmp_path: Path) -> None:
    if (curl := shutil.which("curl")) is None:
        pytest.skip("there is no curl")
    folder, ready = tmp_path / "site", tmp_path / "ready"
    folder.mkdir()
    content = bytes(range(256)) * 2_000
    (folder / "file.bin").write_bytes(content)
    (folder / "other.bin").write_bytes(content[:1000])
    port = str(record.free_port())
    module = "tools.against_chromium.serve"
    words = [sys.executable, "-m", module, protocol, port, str(folder), str(ready)]
    server = subprocess.Popen(words, cwd=ROOT)
    try:
        limit = time.monotonic() + 60
        while not ready.exists():
            assert server.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.02)
        asked = [f"https://localhost:{port}/{name}.bin" for name in ("file", "other", "file")]
        version = "--http2" if protocol == "h2" else "--http1.1"
        fetch = [
            curl,
            "--silent",
            "--insecure",
            version,
            "--max-time",
            "60",
            *asked,
            "-w",
            "%{http_version} ",
        ]
        fetch += ["-o", "a", "-o", "b", "-o", "c"]
        done = subprocess.run(fetch, cwd=tmp_path, capture_output=True, check=False)
    finally:
        server.terminate()
        server.wait()
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [b"2" if protocol == "h2" else b"1.1"] * 3
    got = [(tmp_path / name).read_bytes() for name in "abc"]
    assert got == [content, content[:1000], content]
