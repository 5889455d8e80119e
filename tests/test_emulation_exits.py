"""How programs end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from conftest import ROOT
from programs import PATIENT, leobench

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"


def test_every_program_has_its_exit_code(tmp_path: Path) -> None:
    """The last but one is asked to end, and the one before it does not listen."""
    others = ["sh -c 'exit 3'", "true", "sh -c 'trap \"\" TERM; sleep 3604'", "sleep 3604"]
    words = [word for other in others for word in ("--on", "server", other)]
    main = ("--host", "client", "--", "sh", "-c", "sleep 0.5; exit 7")
    ended = leobench("emulate", ONE_FLOW, *PATIENT, "--out", "out", *words, *main, cwd=tmp_path)
    assert ended.returncode == 7
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    codes = [(program["host"], program["exit_code"]) for program in manifest["programs"]]
    assert codes == [("server", 3), ("server", 0), ("server", None), ("server", 143), ("client", 7)]
    assert manifest["exit_code"] == 7
    said, *rest = ended.stderr.splitlines()
    assert said == "leobench: server: `sh -c exit 3` failed before the main program ended: exit code 3"
    assert not any("failed" in line for line in rest)
