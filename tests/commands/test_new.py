"""`leobench new`: lists of templates, and copies of them."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli, templates
from leobench.campaign import Campaign
from leobench.papers import papers
from leobench.templates import places, starlink
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.templates import Template

    Capture = pytest.CaptureFixture[str]

CATALOGUE = templates.catalogue()


def named(name: str) -> Template:
    return next(template for template in CATALOGUE if template.name == name)


def test_every_shipped_file_is_a_template_with_one_line_about_it() -> None:
    shipped = {path.stem for path in (ROOT / "scenarios").glob("*.toml")}
    assert {each.name for each in CATALOGUE if each.group == "scenarios"} == shipped
    shipped = {f"campaigns/{path.stem}" for path in (ROOT / "campaigns").glob("*.toml")}
    assert {each.name for each in CATALOGUE if each.group == "campaigns"} == shipped
    assert {each.group for each in CATALOGUE} == {"scenarios", "campaigns", *(each.name for each in papers())}
    for template in CATALOGUE:
        assert len(template.description().splitlines()) == 1, template.name


def files_of(table: object) -> set[str]:
    """The files that a scenario or a campaign names."""
    if isinstance(table, list):
        return set().union(*map(files_of, table))
    if not isinstance(table, dict):
        return set()
    keys = {"scenario", "extends", "file", "delay_file", "elements", "gateway_list", "track"}
    own = {value for key, value in table.items() if key.rpartition(".")[2] in keys and isinstance(value, str)}
    return own.union(*map(files_of, table.values()))


@pytest.mark.parametrize("template", CATALOGUE, ids=lambda template: template.name)
def test_a_copy_needs_nothing_but_what_was_written(template: Template, tmp_path: Path) -> None:
    copied = templates.copies(template, tmp_path).write(force=False)
    assert copied[0] == tmp_path / template.place.name
    for file in (file for file in copied if file.suffix == ".toml"):
        for name in files_of(tomllib.loads(file.read_text())):
            assert tmp_path / name in copied, file
        if not template.is_campaign:
            assert file.read_text() == (ROOT / template.place).read_text()


@pytest.mark.parametrize(
    "name",
    [
        "campaigns/batch-offsets",  # its scenario is that of a paper
        "campaigns/handover-cost",  # its scenario has the same name
        "campaigns/two-quic-stacks-s",  # extends another and has a scenario of its own
        "khan2023delay/fig5-6-bdp",  # extends one that extends one of another paper
        "khan2023es/fig7",  # its figure has the number of another in that paper
        "mazilu2025/fairness",
        "hypatia2020/fig6-7",  # its variants have data of their own
    ],
)
def test_a_copied_campaign_is_the_original(name: str, tmp_path: Path) -> None:
    template = named(name)
    main, *others = templates.copies(template, tmp_path / "mine.toml").write(force=False)
    copied, original = Campaign.load(main), Campaign.load(ROOT / template.place)
    assert main.name == "mine.toml"
    assert copied.scenario in others
    assert copied.scenarios == original.scenarios
    assert (copied.seed, copied.replicates) == (original.seed, original.replicates)


def test_a_copied_campaign_has_the_data_of_all_its_variants(tmp_path: Path) -> None:
    written = templates.copies(named("hypatia2020/fig6-7"), tmp_path).write(force=False)
    for constellation in ("kuiper-k1", "telesat-t1", "starlink-s1"):
        for file in (f"{constellation}.csv", f"{constellation}-lasers.txt"):
            assert tmp_path / file in written


def test_a_copied_scenario_runs_where_nothing_else_is(tmp_path: Path) -> None:
    main = templates.copies(named("trace"), tmp_path).write(force=False)[0]
    result = leobench.run(main, overrides={"duration": "1 s"})
    assert result.summary["flows"][0]["goodput_bps"] > 0


def test_the_list_has_a_line_for_each_and_papers_on_demand(capsys: Capture) -> None:
    assert cli.main(["new"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for template in CATALOGUE:
        found = [line for line in lines if line.split()[:1] == [template.name]]
        assert len(found) == (template.group in ("scenarios", "campaigns")), template.name
    assert any(line.startswith("  starlink ") for line in lines)
    assert cli.main(["new", "khan2023", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["khan2023"]["khan2023/fig5"] == named("khan2023/fig5").description()


def test_nothing_is_overwritten_unless_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ka.toml").write_text("mine")
    assert cli.main(["new", "ka"]) == 2
    told = "leobench: ka.toml: already exists; choose another file, or add --force to replace it\n"
    assert capsys.readouterr().err == told
    assert (tmp_path / "ka.toml").read_text() == "mine"
    assert cli.main(["new", "ka", "--force"]) == 0
    assert (tmp_path / "ka.toml").read_bytes() == (ROOT / "scenarios/ka.toml").read_bytes()


def test_a_file_that_a_campaign_needs_is_not_overwritten_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "khan2023-ka.toml").write_text("mine")
    assert cli.main(["new", "campaigns/buffers"]) == 2
    assert capsys.readouterr().err.startswith("leobench: khan2023-ka.toml: already exists")
    assert [path.name for path in tmp_path.iterdir()] == ["khan2023-ka.toml"]


def test_what_a_campaign_needs_and_is_there_already_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "khan2023-ka"]) == 0
    assert cli.main(["new", "buffers", "mine.toml"]) == 0
    assert capsys.readouterr().out.endswith("wrote mine.toml; next: leobench sweep mine.toml\n")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["starlnk"], "starlnk: no such template; `leobench new` lists them; did you mean `starlink`?"),
        (["bufers"], "bufers: no such template; `leobench new` lists them; did you mean `buffers`?"),
        (["../secret"], "../secret: no such template; `leobench new` lists them"),
        (["ka", "ka.json"], "ka.json: a template is TOML; allowed: a name that ends in `.toml`, or a folder"),
        (["ka", "no/ka.toml"], "no/ka.toml: cannot be written: there is no folder `no`"),
        (["ka", "--at", "1,2"], "--at: is for the template `starlink` only; leave it out"),
        (["ka", "--json"], "--json: is for lists; leave it out, or leave TEMPLATE out"),
        (["khan2023", "a.toml"], "FILE: is for the copy of one template; name one that `leobench new` lists"),
        (["--at", "1,2"], "--at: is for the copy of one template; name one that `leobench new` lists"),
    ],
)
def test_bad_input_is_refused_by_one_line(
    args: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", *args]) == 2
    assert capsys.readouterr().err == f"leobench: {told}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("city", "pop"),
    [
        ("Munich", "Frankfurt, Germany"),
        ("Rome", "Milan, Italy"),
        ("Boston", "New York, NY"),
        ("Nairobi", "Nairobi, Kenya"),
    ],
)
def test_the_point_of_presence_is_the_nearest(city: str, pop: str) -> None:
    """Locations of facilities in PeeringDB where Starlink is present, by the names in its addresses."""
    listed = places.ground_stations("pop")
    place = templates.city(city)
    assert min(listed, key=place.distance_km).name == pop


@pytest.mark.parametrize("at", ["48.14", "91,0", "0,181", "nan,0", "1,2,3", "", "Munchn", "Munich,FR"])
def test_a_place_that_is_none_is_refused(at: str, tmp_path: Path, capsys: Capture) -> None:
    assert cli.main(["new", "starlink", str(tmp_path / "a.toml"), "--at", at]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"leobench: --at {at}: ")
    assert "allowed: degrees such as `48.14,11.58`" in told
    assert len(told.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_distances_are_those_of_the_haversine_formula() -> None:
    # A widely used example: the airports of Nashville and Los Angeles, 2,887.26 km on a radius of 6,372.8 km.
    nashville, los_angeles = places.Place("BNA", 36.12, -86.67), places.Place("LAX", 33.94, -118.40)
    expected = 2_887.26 * 6_371.0088 / 6_372.8
    assert nashville.distance_km(los_angeles) == pytest.approx(expected, abs=0.01)
    assert los_angeles.distance_km(los_angeles) == 0
    poles = places.Place("N", 90, 0), places.Place("S", -90, 77)
    assert poles[0].distance_km(poles[1]) == pytest.approx(20_015.1, abs=0.1)


def test_seattle_gets_the_gateways_that_were_chosen_by_hand() -> None:
    by_hand = tomllib.loads((ROOT / "scenarios/starlink-hour.toml").read_text())["constellation"]
    seattle = by_hand["terminals"]["seattle"]
    text = templates.scenario_at(templates.place("47.66,-122.31"))
    made = tomllib.loads(text)["constellation"]
    assert made["terminals"]["roof"]["latitude"] == seattle["latitude"]

    def told(gateways: dict[str, dict[str, str]]) -> dict[str, float]:
        return {name.split("-")[0]: float(each["delay"].split()[0]) for name, each in gateways.items()}

    assert told(made["gateways"]) == told(by_hand["gateways"])


def test_gateways_are_the_nearest_and_lasers_serve_where_none_is_near() -> None:
    munich = templates.city("Munich")
    ground = starlink.ground(munich)
    distances = [munich.distance_km(each) for each in ground.gateways]
    assert distances == sorted(distances)
    everywhere = sorted(map(munich.distance_km, places.ground_stations("gateway")))
    assert distances == everywhere[: len(distances)]
    assert not ground.over_lasers
    ocean = templates.place("-5,-140")
    assert starlink.ground(ocean).over_lasers
    assert min(map(ocean.distance_km, places.ground_stations("gateway"))) > 1_500


def test_cities_are_found_in_any_case_without_accents_and_by_country() -> None:
    assert templates.city("zurich") == templates.city("Zürich ")
    assert templates.city("London").latitude == pytest.approx(51.51)
    assert templates.city("london, ca").longitude == pytest.approx(-81.23)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("New York", "New York City, US"),
        ("München", "Munich, DE"),
        ("Munchen", "Munich, DE"),
        ("Muenchen,DE", "Munich, DE"),
        ("Köln", "Köln, DE"),
        ("cologne", "Köln, DE"),
        ("Wien", "Vienna, AT"),
        ("Firenze", "Florence, IT"),
        ("Lisboa", "Lisbon, PT"),
        ("Kiev", "Kyiv, UA"),
        ("Bombay", "Mumbai, IN"),
        ("Lodz", "Łódź, PL"),
        ("Las Palmas", "Las Palmas de Gran Canaria, ES"),
        ("Paris", "Paris, FR"),
        ("Barcelona,ES", "Barcelona, ES"),
        ("Mogi das", "Mogi das Cruzes, BR"),  # the first words of one name only
    ],
)
def test_cities_are_found_by_local_names_and_first_words(given: str, name: str) -> None:
    assert templates.city(given).name == name


def test_first_words_of_several_cities_are_refused_with_their_names() -> None:
    with pytest.raises(leobench.InputError, match=r"--at Sao: several cities begin so: `São Paulo,BR`, `São"):
        templates.city("Sao")
    assert templates.city("São Luís,BR").name == "São Luís, BR"


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("Santander", "`London,CA`"),
        ("Sevenoaks", "`London,CA`"),
        ("Munchn", "did you mean `Munich,DE`?"),
        ("Munich,FR", "did you mean `Munich,DE`?"),
        ("Barcelna", "did you mean `Barcelona,ES`?"),
    ],
)
def test_unknown_cities_are_told_the_size_of_the_list_and_only_very_near_names(
    given: str, advice: str
) -> None:
    with pytest.raises(leobench.InputError, match="at least 250,000 inhabitants; allowed: degrees") as told:
        templates.city(given)
    assert str(told.value).endswith(advice)


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["santander.toml", "--at", "43.46,-3.80"], "santander"),
        (["Cape Town.toml", "--at", "Cape Town"], "cape-town"),
        (["東京.toml", "--at", "35.7,139.7"], "starlink-35-7n-139-7e"),  # nothing is left of the stem
        (["--at", "43.46,-3.80"], "starlink-43-46n-3-8w"),
        ([".", "--at", "-33.9,18.4"], "starlink-33-9s-18-4e"),
        (["--at", "Cape Town"], "starlink-cape-town"),
    ],
)
def test_scenarios_of_places_have_names_of_their_own(
    args: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "starlink", *args]) == 0
    (file,) = tmp_path.iterdir()
    assert leobench.check(file)["name"] == name


@pytest.mark.parametrize("at", ["Munich", "-33.92,18.42", "-5,-140", "64.15,-21.94"])
def test_starlink_from_a_place_runs(at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "starlink", "--at", at]) == 0
    result = leobench.run("starlink.toml", overrides={"duration": "20 s"})
    assert result.summary["flows"][0]["goodput_bps"] > 1e6
