"""Congestion controllers of the user's in real time: under QUIC, and refused for the TCP of the kernel."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.emulation.real_scenarios import Link, scenario
from tests.support import libraries
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench

if TYPE_CHECKING:
    from pathlib import Path

PATH = Link.steady("path", ("client", "server"), "5 Mbps", "20 ms")
BULK = '{ kind = "bulk", size = "1 MB" }'


def plug_in(language: str, folder: Path) -> str:
    """NewReno beside a scenario, by the name that it has there."""
    if language == "python":
        shutil.copy(ROOT / "examples" / "reno.py", folder)
        return "reno:Reno"
    shutil.copy(libraries.of_crate("controller_rust", "libreno.so", folder / "target"), folder)
    return "./libreno.so"


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("language", ["python", "library"])
def test_it_controls_a_flow_over_quic(language: str, tmp_path: Path) -> None:
    congestion = f'{{ {language} = "{plug_in(language, tmp_path)}" }}'
    transport = f'{{ kind = "quic", congestion = {congestion} }}'
    text = scenario(PATH, transport=transport, source=BULK, duration="20 s", until="drained")
    (tmp_path / "t.toml").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    ended = leobench("run", tmp_path / "t.toml", "--engine", "real", "--out", out, *PATIENT, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (flow,) = json.loads((out / "summary.json").read_text(encoding="utf-8"))["flows"]
    assert flow["congestion"] in {"reno:Reno", "libreno.so"}
    assert flow["undelivered_messages"] == 0
    # A transfer of 1 MB takes 1.7 s at the rate of the path; a busy machine takes longer, none less.
    assert 1e6 < flow["goodput_bps"] < 5e6


@pytest.mark.parametrize("language", ["python", "library"])
def test_the_tcp_of_the_kernel_refuses_it(language: str, tmp_path: Path) -> None:
    name = plug_in(language, tmp_path)
    transport = f'{{ kind = "tcp", congestion = {{ {language} = "{name}" }} }}'
    text = scenario(PATH, transport=transport, source=BULK, duration="2 s", until="drained")
    (tmp_path / "t.toml").write_text(text, encoding="utf-8")
    ended = leobench("run", tmp_path / "t.toml", "--engine", "real", "--out", tmp_path / "out", cwd=tmp_path)
    assert ended.returncode == 2
    shown = name.removeprefix("./")
    assert f"is `{shown}`, which the kernel's TCP cannot run in real time" in ended.stderr
    assert ended.stderr.count("\n") == 1, "one line"
