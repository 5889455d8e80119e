"""The classes of summaries: generated from the core, true of what runs write, and checked by mypy."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import re
import subprocess
import sys
import typing
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import records, summary
from leobench.errors import InputError, UnknownNameError
from leobench.records import Named, Record
from leobench.summary import FlowSummary, Summary
from tests.support import made_up
from tools import summary_types

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = leobench.summary_schema()
# Short runs that between them have nearly every key.
SHIPPED = {
    "live-frames": "2 s",
    "ten-cities": "12 s",
    "call": "2 s",
    "emergency": "12 s",
    "film": "5 s",
    "video-call": "5 s",
    "four-networks": "2 s",
    "london-new-york": "2 s",
    "maco": "2 s",
    "queue-sizing": "2 s",
    "viewers": "2 s",
    "web": "2 s",
}
# Keys that take a connection that is lost, a queue of a satellite that marks, a long run over several paths,
# routes of links of their own, a live video, or a stack of one's own.
RARE = {
    "FlowSummary.lost",
    "FlowSummary.unreported",
    "HopSummary.marked_packets",
    "SatelliteSummary.marked_packets",
    "HandoverSummary.path",
    "OrbitSummary.missing_routes",
    "OrbitSummary.rerouted_packets",
}


@pytest.fixture(scope="module")
def run_summaries(scenarios: Path) -> dict[str, dict[str, Any]]:
    """The summaries of short runs, as the core writes them."""
    from leobench import _core, scenario

    summaries = {}
    for name, duration in SHIPPED.items():
        short: dict[str, Any] = {"duration": duration, "warm_up": "0 s", "until": "time"}
        if name == "ten-cities":
            short |= {"constellation.isl.rate": "10 Mbps"}
        if name == "film":
            short |= {"flows.film.video.abandons": True, "flows.film.video.replaces_beyond": "6 s"}
        loaded = scenario.load(scenarios / f"{name}.toml", None, short)
        summaries[name] = json.loads(_core.run(loaded)[0])
    return summaries


def test_the_module_is_what_the_core_says() -> None:
    written = summary_types.MODULE.read_text(encoding="utf-8")
    assert summary_types.text() == written, "run tools/summary_types.py"


def keys(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Every key of a value as `<struct>.<key>`; fails where the value does not fit the schema."""
    if "anyOf" in schema:
        if value is not None:
            yield from keys(value, schema["anyOf"][0])
    elif "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        struct = SCHEMA["$defs"][name]
        assert set(struct["required"]) <= set(value) <= set(struct["properties"]), name
        assert list(value) == [key for key in struct["properties"] if key in value], name
        for key, held in value.items():
            yield f"{name}.{key}"
            yield from keys(held, struct["properties"][key])
    elif schema["type"] == "array":
        for held in value:
            yield from keys(held, schema["items"])
    elif schema["type"] == "object":
        for held in value.values():
            yield from keys(held, schema["additionalProperties"])
    else:
        kind = {"number": int | float, "integer": int, "string": str}[schema["type"]]
        assert isinstance(value, kind), (value, schema)


def test_summaries_of_runs_fit_the_schema_in_its_order(run_summaries: dict[str, dict[str, Any]]) -> None:
    found = {key for each in run_summaries.values() for key in keys(each, SCHEMA)}
    described = {f"{name}.{key}" for name, struct in SCHEMA["$defs"].items() for key in struct["properties"]}
    assert described - found == RARE | {f"LossSummary.{key}" for key in ("at_s", "end", "reason")}


def records_in(value: object) -> Iterator[Record]:
    """Every record within a value."""
    if isinstance(value, Record):
        yield value
        yield from (found for held in value.values() for found in records_in(held))
    elif isinstance(value, list):
        yield from (found for held in value for found in records_in(held))


def fits(value: object, kind: Any) -> bool:
    """Whether a value is of the type that its class declares."""
    origin, within = typing.get_origin(kind), typing.get_args(kind)
    if origin in (list, Named):
        return type(value) is origin and all(
            fits(each, within[0]) for each in typing.cast("list[object]", value)
        )
    if origin is dict:
        return isinstance(value, dict) and all(fits(each, within[1]) for each in value.values())
    if within:  # `X | None`
        return any(fits(value, each) for each in within)
    return isinstance(value, int | float if kind is float else kind)


def test_attributes_are_the_keys_and_of_their_types(run_summaries: dict[str, dict[str, Any]]) -> None:
    for plain in run_summaries.values():
        found = list(records_in(Summary(plain)))
        assert len(found) > 10
        for record in found:
            kinds = typing.get_type_hints(type(record))
            for field in dataclasses.fields(typing.cast("Any", record)):
                value = getattr(record, field.name)
                if field.name in record:
                    assert value is record[field.name]
                else:
                    assert not value, field.name
                assert fits(value, kinds[field.name]), (type(record), field.name, value)


def test_a_summary_is_still_parsed_json(run_summaries: dict[str, dict[str, Any]]) -> None:
    for plain in run_summaries.values():
        typed = Summary(plain)
        assert typed == plain
        assert json.dumps(typed) == json.dumps(plain)
        for again in (pickle.loads(pickle.dumps(typed)), copy.deepcopy(typed)):  # noqa: S301
            assert again == typed
            assert [type(each) for each in records_in(again)] == [type(each) for each in records_in(typed)]
        if not plain["flows"]:
            continue
        as_before = plain["flows"][0]["delay_ms"].get("p95")
        assert typed["flows"][0]["delay_ms"].get("p95") == typed.flows[0].delay_ms.p95 == as_before


def test_flows_and_streams_have_names(scenarios: Path) -> None:
    result = leobench.run(scenarios / "call.toml", overrides={"duration": "2 s", "warm_up": "0 s"})
    assert result.flows is result.summary["flows"]
    name = result.flows.names[0]
    assert result.flows[name] is result.flows[0]
    assert name in result.flows
    assert "absent" not in result.flows
    stream = result.flows[name].streams[1]
    assert result.flows[name].streams[stream.name] is stream
    link = result.links[1]
    assert result.links[link.name] is link
    with pytest.raises(UnknownNameError) as refused:
        result.flows[f"{name}s"]
    assert str(refused.value).endswith(f"did you mean `{name}`?")
    assert isinstance(refused.value, KeyError)
    assert isinstance(refused.value, InputError)


def test_an_attribute_that_is_not_there_is_named_with_the_nearest() -> None:
    flow = FlowSummary(made_up.flow("main"))
    with pytest.raises(
        AttributeError, match="FlowSummary has no attribute `goodput`; did you mean `goodput_bps`"
    ):
        flow.goodput  # type: ignore[attr-defined] # noqa: B018
    assert not hasattr(flow, "get_goodput")
    with pytest.raises(dataclasses.FrozenInstanceError):
        flow.goodput_bps = 1.0  # type: ignore[misc]


def test_a_summary_of_an_earlier_version_says_what_it_lacks() -> None:
    old = FlowSummary({key: value for key, value in made_up.flow("main").items() if key != "undos"})
    assert "undos" not in old
    with pytest.raises(AttributeError, match="`undos` is missing: another version of leobench wrote this"):
        _ = old.undos
    newer = FlowSummary(made_up.flow("main", invented=1))
    assert newer["invented"] == 1


def test_every_number_has_its_unit_in_the_docstring() -> None:
    for name, struct in SCHEMA["$defs"].items():
        documented = re.sub(r"\s+", " ", getattr(summary, name).__doc__)
        for key, member in struct["properties"].items():
            assert f" {key}: " in documented, (name, key)
            if "unit" in member:
                told = documented.partition(f" {key}: ")[2]
                assert re.match(rf"[^\[]*\[{member['unit']}\]", told), (name, key)


def test_no_key_hides_a_method_of_dictionaries() -> None:
    for name in summary.__all__:
        assert not set(getattr(summary, name)._fields()) & {*dir(dict), *dir(records.Record)}, name


GOOD = """\
import leobench

result = leobench.run("scenario.toml")
rate: float | None = result.flows["download"].goodput_bps
late: float | None = result.summary.flows[0].streams["video"].delay_ms.p95
plain = result.summary["flows"][0]["goodput_bps"]
done: leobench.Emulation = leobench.emulate("scenario.toml", [("client", "ping server")])
code: int = done.code
papers: dict[str, leobench.Reproduction] = leobench.reproduce("khan2023", quick=True)
"""

WRONG = {
    'result.flows["download"].goodput': '"FlowSummary" has no attribute "goodput"',
    "result.links[0].utilization": '"LinkSummary" has no attribute "utilization"',
    "result.summary.flows[0].delay_ms.p96": '"DelaySummary" has no attribute "p96"',
    'text: str = result.flows["download"].goodput_bps': "Incompatible types in assignment",
    "result.flows[0].undos = 0": 'Property "undos" defined in "FlowSummary" is read-only',
    "leobench.emulate([])": 'Missing positional argument "programs" in call to "emulate"',
}


def test_mypy_finds_misspelt_fields(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    wrong = "\n".join(["from good import leobench, result", *WRONG, ""])
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    # None of these is in the type of a field, and reading them takes most of the time.
    skipped = "[mypy]\n[mypy-polars.*,numpy.*,scipy.*,matplotlib.*]\nfollow_imports = skip\n"
    (tmp_path / "mypy.ini").write_text(skipped, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--implicit-reexport", "good.py", "wrong.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    told = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert {line.partition(":")[0] for line in told} == {"wrong.py"}, done.stdout + done.stderr
    for number, said in enumerate(WRONG.values(), start=2):
        assert any(line.startswith(f"wrong.py:{number}: error: {said}") for line in told), (said, told)
