"""One reader for scenarios, campaigns and overrides, with one set of limits; and one rule for names."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import _core, cli, files
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DOTS = 'name = "x"\n' + ".".join("a" * 40_000) + " = 1\n"
TOO_DEEP = "is nested too deeply; allowed: at most 40 tables or arrays"
BROKEN = {
    "parts of a key": (DOTS, f":2:82: {TOO_DEEP}"),
    "arrays": ("a = " + "[" * 100_000, f":1:45: {TOO_DEEP}"),
    "tables": ("a = " + "{ a = " * 50, f":1:245: {TOO_DEEP}"),
    "both": ("a = " + ("{ " + ".".join("a" * 30) + " = ") * 30, f":1:90: {TOO_DEEP}"),
    "a header": ("[" + ".".join("a" * 90) + "]\n", f":1:83: {TOO_DEEP}"),
    "a long key": ("x" * 2_000 + " = 1\n", " (2000 characters) is too long; allowed: at most 1000 char"),
    "a date": ("a = 2026-01-01\n", "dates and times have no meaning"),
    "a key twice": ("a = 1\na = 2\n", ':2:1: the name "a" is given twice'),
    "a large number": ("a = 99999999999999999999\n", ":1:5: "),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("command", ["check", "sweep"])
def test_a_text_is_refused_by_place_whatever_it_is(
    command: str, case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, said = BROKEN[case]
    file = tmp_path / "broken.toml"
    file.write_text(text, encoding="utf-8")
    began = time.perf_counter()
    assert cli.main([command, str(file)]) == 2
    assert time.perf_counter() - began < 5, "no time that grows with the square of the text"
    err = capsys.readouterr().err
    assert err.startswith(f"leobench: {file}:")
    assert said in err
    assert err.count("\n") == 1
    assert len(err) < 1_000


def test_json_has_the_same_limits(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text('{"a[[[": "\\"[[[", "b": ' + "[" * 100, encoding="utf-8")
    with pytest.raises(leobench.ScenarioError, match=rf":1:63: {TOO_DEEP}"):
        leobench.check(file)


def test_an_override_that_is_too_deep_is_refused(quick: Path) -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(leobench.InputError, match="is nested too deeply"):
        leobench.check(quick, {"links.uplink.delay": deep})


def test_a_file_has_one_largest_size() -> None:
    assert files.LARGEST_FILE == _core.LARGEST_FILE


CHAIN, SKY = ROOT / "scenarios" / "maco-chain.toml", ROOT / "scenarios" / "starlink-frames.toml"
NONSENSE = [
    (CHAIN, "constellation.satellites.speed", 1e9, "a number above 0 and below 11.2"),
    (CHAIN, "constellation.satellites.footprint", "4294967296 km", "a length from 0 to 100000 km"),
    (CHAIN, "constellation.satellites.footprint", "30000 km", "at most 20038 km"),
    (CHAIN, "links.first.delay", "1200 h", "at most 3600 s"),
    (CHAIN, "links.first.backward.delay", "1200 h", "at most 3600 s"),
    (CHAIN, "links.first.backward.rate", "100001 Gbps", "above 100000 Gbps"),
    (CHAIN, "duration", "1000001 h", "above 1000000 h"),
    (CHAIN, "links.first.constellation.uplink.frequency", "1e30 GHz", "up to 3000 GHz"),
    (
        CHAIN,
        "links.first.constellation.uplink.atmosphere",
        {"rain": {"rate": "42 mm/h", "zero_isotherm": "1e30 km"}},
        "from 0 to 100000 km",
    ),
    (
        CHAIN,
        "links.first.constellation.uplink.atmosphere",
        {"rain": {"rate": "42 mm/h", "zero_isotherm": "11 km"}},
        "at most 10 km",
    ),
    (SKY, "constellation.gateways.prosser.delay", "2 h", "at most 3600 s"),
]


@pytest.mark.parametrize(("file", "place", "value", "allowed"), NONSENSE)
def test_a_quantity_has_an_upper_limit(file: Path, place: str, value: object, allowed: str) -> None:
    with pytest.raises(leobench.ScenarioError) as refused:
        leobench.check(file, {place: value})
    assert allowed in str(refused.value)


PARTS = {
    "nodes": {},
    "links": {},
    "flows": {},
    "handovers": {},
    "constellation.terminals": {"latitude": "0 deg", "longitude": "0 deg"},
    "constellation.gateways": {"latitude": "0 deg", "longitude": "0 deg"},
}


@pytest.mark.parametrize("name", ["", "..", "a b", "a\nb", "a.b", "é", "x" * 101, "\x1b[2J"])
@pytest.mark.parametrize("part", PARTS)
def test_a_name_is_a_name_everywhere(part: str, name: str) -> None:
    with pytest.raises(leobench.ScenarioError) as refused:
        leobench.check(SKY, {part: {name: PARTS[part]}})
    said = str(refused.value)
    assert "is not a valid name; allowed: letters from a to z, digits, `_` and `-`, up to 100 of them" in said
    assert said.isprintable()


@pytest.mark.parametrize("key", ["scenario", "extends"])
@pytest.mark.parametrize("name", ["a\\u0000b.toml", "\\u001b[2J.toml", "\\u202Eb.toml"])
def test_a_file_name_of_a_campaign_can_be_shown(key: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(
        f'name = "c"\nreplicates = 1\nmetrics = ["packets"]\n{key} = "{name}"\n', encoding="utf-8"
    )
    with pytest.raises(leobench.InputError, match="has characters that cannot be shown") as refused:
        leobench.sweep(file, tmp_path / "out")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("key", ["scenario", "extends"])
def test_too_long_a_file_name_of_a_campaign_is_refused(key: str, tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    text = f'name = "c"\nreplicates = 1\nmetrics = ["packets"]\n{key} = "{"x" * 5_000}"\n'
    file.write_text(text, encoding="utf-8")
    with pytest.raises(leobench.InputError, match=r"\(5002 characters\): is too long"):
        leobench.sweep(file, tmp_path / "out")
