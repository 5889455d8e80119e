"""Which host is the user's and which the server's, and what they are called."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leobench.emulation import ends
from leobench.scenario import load, load_text
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench

if TYPE_CHECKING:
    from pathlib import Path

ROW = """
nodes = { left = {}, middle = {}, right = {} }
[links]
near = { between = ["left", "middle"], rate = "100 Mbps", delay = "1 ms" }
far = { between = ["middle", "right"], rate = "100 Mbps", delay = "1 ms" }
"""


def flow(start: str, end: str, more: str = "") -> str:
    name = f"{start}-{end}"
    ends_ = f'from = "{start}"\nto = "{end}"'
    return f'[flows.{name}]\ntransport = "tcp"\n{ends_}\nsource = "bulk"\n{more}\n'


@pytest.mark.parametrize(
    ("flows", "near", "far"),
    [
        ("", "left", "right"),
        (flow("middle", "right"), "middle", "right"),
        (flow("middle", "right", 'opened_by = "to"'), "right", "middle"),
        (flow("middle", "right", "background = true") + flow("left", "middle"), "left", "middle"),
        (flow("middle", "right", "background = true"), "left", "right"),
        (flow("right", "left") + flow("left", "middle"), "right", "left"),
    ],
    ids=["none", "first", "opened by the receiver", "background", "background only", "two"],
)
def test_the_first_flow_says_which_is_which(flows: str, near: str, far: str) -> None:
    found = ends.of(load_text(ROW + flows, "row", flows="unused"))
    assert (found.near, found.far, found.aliases) == (near, far, {"server": far})


def test_a_node_called_server_is_one() -> None:
    """Whichever flow comes first, and the name leads nowhere else."""
    renamed = ROW.replace("left", "server")
    for flows in ("", flow("server", "right"), flow("right", "server")):
        found = ends.of(load_text(renamed + flows, "row", flows="unused"))
        assert (found.near, found.far, found.aliases) == ("right", "server", {})
    beside = ends.of(load_text(renamed + flow("right", "middle"), "row", flows="unused"))
    assert (beside.near, beside.far, beside.aliases) == ("right", "middle", {})


@pytest.mark.parametrize(
    ("name", "near", "far"),
    [("starlink-hour", "roof", "pop"), ("web", "client", "server"), ("emergency", "device", "office")],
)
def test_shipped_scenarios_have_the_ends_that_they_describe(name: str, near: str, far: str) -> None:
    found = ends.of(load(ROOT / "scenarios" / f"{name}.toml"))
    assert (found.near, found.far) == (near, far)


@pytest.mark.usefixtures("hosts")
def test_the_far_host_is_called_server(tmp_path: Path) -> None:
    """Over both families and on all hosts; its own name stays the first."""
    scenario = tmp_path / "row.toml"
    scenario.write_text(ROW, encoding="utf-8")
    command = "hostname; getent ahostsv4 server server.v6 | head -1; getent ahostsv6 server.v6 | head -1"
    ended = leobench("emulate", scenario, *PATIENT, "--out", "out", "--", "sh", "-c", command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    host, old, new = ended.stdout.splitlines()
    assert host == "left"
    assert old.split()[-1] == "right"
    assert ":" in new.split()[0]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert [program["host"] for program in manifest["programs"]] == ["left"]
