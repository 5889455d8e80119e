"""Messages that send the user to the right place, and what `leobench list` tells of numbers."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import _core, cli
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


CAMPAIGN = 'name = "c"\nscenario = "quick.toml"\nreplicates = 2\nmetrics = ["packets"]\n'


@pytest.mark.parametrize("command", ["check", "run", "plot"])
@pytest.mark.parametrize("text", [CAMPAIGN, CAMPAIGN + "unknown = 1\n"], ids=["fine", "wrong"])
def test_a_campaign_file_is_told_from_a_scenario(
    command: str, text: str, quick: Path, capsys: Capture
) -> None:
    file = quick.with_name("campaign.toml")
    file.write_text(text)
    assert cli.main([command, str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"leobench: {file}: is a campaign, no")
    assert f"`leobench sweep {file}`" in said
    assert said.count("\n") == 1


def test_a_scenario_is_told_from_a_campaign(quick: Path, capsys: Capture) -> None:
    assert cli.main(["sweep", str(quick)]) == 2
    said = f"leobench: {quick}: is a scenario, not a campaign; `leobench run {quick}` runs it\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("part", ["summary.json", "manifest.json", "messages.parquet", ""])
def test_results_are_told_from_a_scenario(part: str, quick: Path, capsys: Capture) -> None:
    out = quick.parent / "r0"
    leobench.run(quick, out=out)
    file = out / part
    assert cli.main(["run", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"leobench: {file}: is part of the results of a run, not a scenario; ")
    assert f"`leobench plot {out}`" in said
    assert f"allowed: a scenario file, or a file with the value of `scenario` in {out}/manifest.json" in said
    assert said.count("\n") == 1


def test_a_file_that_is_not_there_has_similar_ones(
    quick: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(quick.parent)
    for command, given, meant in (
        ("run", "qiuck.toml", "quick.toml"),
        ("check", "quick", "quick.toml"),
        ("run", str(quick.with_name("quikc.toml")), str(quick)),
        ("run", "two-flow.toml", str(ROOT / "scenarios" / "two-flows.toml")),
        ("sweep", "campaigns/bufers.toml", str(ROOT / "campaigns" / "buffers.toml")),
    ):
        assert cli.main([command, given]) == 2
        said = capsys.readouterr().err
        assert "no such file" in said
        assert said.endswith(f"; did you mean `{meant}`?\n")
    assert cli.main(["run", "nothing-of-the-kind.toml"]) == 2
    assert "did you mean" not in capsys.readouterr().err
    monkeypatch.chdir(ROOT)
    assert cli.main(["run", "khan2023-k.toml"]) == 2
    assert capsys.readouterr().err.endswith("; did you mean `scenarios/khan2023-ka.toml`?\n")


@pytest.mark.parametrize("command", ["check", "sweep"])
def test_broken_toml_is_shown(command: str, quick: Path, capsys: Capture) -> None:
    file = quick.with_name("broken.toml")
    file.write_text('name = "x"\n  duration = 10 s\n')
    assert cli.main([command, str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"leobench: {file}:2:")
    assert said.endswith("; in the line `duration = 10 s`\n")
    file.write_text(f"name = [{'1, ' * 100} nonsense]\n")
    assert cli.main([command, str(file)]) == 2
    said = capsys.readouterr().err
    assert "nonsense" in said
    assert len(said) < len(str(file)) + 200


def test_the_folder_of_a_campaign_is_told_from_a_result(quick: Path) -> None:
    file = quick.with_name("campaign.toml")
    file.write_text(CAMPAIGN)
    leobench.sweep(file, quick.parent / "out", workers=1)
    with pytest.raises(
        leobench.InputError, match=r"out: is the folder of a campaign, .*CampaignResult\.open"
    ):
        leobench.open(quick.parent / "out")


def test_a_flow_that_is_there_is_not_called_unknown(quick: Path, capsys: Capture) -> None:
    two = quick.read_text() + quick.read_text().partition("[flows.main]")[2].join(["[flows.call]", ""])
    quick.write_text(two.replace('{ kind = "quic", congestion = "cubic" }', '"udp"', 1))
    out = quick.parent / "out"
    leobench.run(quick, out=out)
    assert cli.main(["plot", str(out), "--kind", "shares"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("leobench: main: is a UDP flow; ")
    assert "`main`" not in said


def test_limits_of_numbers_are_shown(capsys: Capture) -> None:
    assert cli.main(["list", "congestion", "cubic"]) == 0
    said = capsys.readouterr().out
    assert "Allowed: a number above 0 and below 1." in said
    assert "Allowed: a number above 0 up to 1000000." in said


def numbers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every number that a congestion controller takes, by their names."""
    _, schema = _core.kind_schema("congestion")
    for table in json.loads(schema)["oneOf"]:
        for name, value in table.get("properties", {}).items():
            if value.get("type") in ("number", "integer"):
                yield f"{table['properties']['kind']['const']}.{name}", value


def test_the_limits_of_every_number_are_in_the_schema_and_kept(quick: Path) -> None:
    found = dict(numbers())
    assert len(found) > 15
    for place, schema in found.items():
        kind, _, name = place.partition(".")
        least = schema.get("minimum", schema.get("exclusiveMinimum"))
        assert least is not None, place
        most = schema.get("maximum", schema.get("exclusiveMaximum"))
        beyond = [least if "exclusiveMinimum" in schema else least - 1]
        if most is not None and most < 2**53:
            beyond.append(most if "exclusiveMaximum" in schema else most + 1)
        for wrong in beyond:
            with pytest.raises(leobench.ScenarioError, match=rf"congestion\.{name} = .*: is "):
                leobench.check(quick, {"flows.main.transport.congestion": {"kind": kind, name: wrong}})


def test_a_preset_shows_its_chain(capsys: Capture) -> None:
    """Khan et al. 2023, Table 1; the shares of time are those of its chain, solved by hand."""
    states = leobench.describe("presets", "ka")["states"]
    assert [state["rate_bps"] for state in states] == [80e6, 40e6, 16e6]
    assert [state["dwell_s"] for state in states] == [0.253, 0.7299, 0.1666]
    jumps = [list(state["next"].values()) for state in states]
    assert jumps[0] == pytest.approx([0, 0.93156, 0.068437], abs=1e-5)
    shares = [state["time_share"] for state in states]
    visits = [share / state["dwell_s"] for share, state in zip(shares, states, strict=True)]
    for state in range(3):
        came = sum(visits[other] * jumps[other][state] for other in range(3))
        assert came == pytest.approx(visits[state])
    assert cli.main(["list", "presets", "ka"]) == 0
    said = capsys.readouterr().out
    for part in ("line-of-sight: 80 Mbit/s", "0.253 s at a time", "moderate-shadowing 0.9316", "mean rate: "):
        assert part in said
    assert "no parameters" not in said


@pytest.mark.parametrize("command", ["check", "run", "sweep"])
def test_a_device_is_not_read(command: str, capsys: Capture) -> None:
    assert cli.main([command, "/dev/zero"]) == 2
    assert capsys.readouterr().err.startswith(
        "leobench: /dev/zero: cannot be read: is a pipe, a device or a socket; allowed: a "
    )


def test_too_long_a_name_is_refused(capsys: Capture) -> None:
    for command in ("check", "run", "sweep", "plot"):
        assert cli.main([command, "x" * 5000]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_pipe_is_not_waited_for_where_a_folder_belongs(tmp_path: Path, capsys: Capture) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert cli.main(["plot", str(tmp_path / "pipe")]) == 2
    assert "is not a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["run", "sweep", "compare", "emulate", "plot", "table", "report", "check"]
)
def test_an_empty_path_is_refused(
    command: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for args, given in (([""], ""), (["mine", "--out", ""], "--out")):
        if command == "check" and given:
            continue
        with pytest.raises(SystemExit, match="2"):
            cli.main([command, *args])
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"leobench: {given}")
        assert line.endswith(": is empty; allowed: a path, such as results/mine")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["mine.toml/x", "mine.toml/x/y"])
def test_a_file_in_place_of_a_folder_is_named(
    out: str, quick: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = quick.parent
    monkeypatch.chdir(folder)
    (folder / "mine.toml").write_bytes(quick.read_bytes())
    before = sorted(folder.iterdir())
    assert cli.main(["run", "mine.toml", "--out", out]) == 2
    said = f"leobench: {out}: cannot be written to: `mine.toml` is a file, not a folder\n"
    assert capsys.readouterr().err == said
    assert sorted(folder.iterdir()) == before
