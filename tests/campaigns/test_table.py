"""`leobench table`: the means of a sweep with intervals, a row per variant."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest
from scipy import stats

from leobench import cli, means
from leobench.campaign import Campaign, CampaignResult, run_campaign
from leobench.cli import table
from leobench.plots import units
from tests.support import campaigns

if TYPE_CHECKING:
    from pathlib import Path

GOODPUT = "flows.main.goodput_bps"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> CampaignResult:
    """Four variants of a flow over a random channel, three runs each."""
    folder = tmp_path_factory.mktemp("table")
    return run_campaign(Campaign.load(campaigns.write(folder)), folder / "tiny", workers=1)


def made(values: dict[str, list[float | None]], metric: str = GOODPUT) -> CampaignResult:
    """A campaign with one metric and these values by variant; a variant without values failed."""
    names = list(values)
    rows = [
        (variant, f"the {variant}", number, number, metric, value)
        for variant, runs in values.items()
        for number, value in enumerate(runs, 1)
    ]
    columns = ["variant", "links.up.queue", "replicate", "seed", "metric", "value"]
    types = [pl.String, pl.String, pl.Int64, pl.Int64, pl.String, pl.Float64]
    identity = {
        "variants": [{"name": name} for name in names],
        "metrics": [metric],
        "replicates": max(map(len, values.values())),
    }
    result = CampaignResult(None, {"identity": identity})  # type: ignore[arg-type]
    result.__dict__["runs"] = pl.DataFrame(rows, dict(zip(columns, types, strict=True)), orient="row")
    return result


def cells(result: CampaignResult) -> list[str]:
    (column,) = means.of(result).columns
    return column.cells()


def test_a_cell_is_the_mean_and_students_interval(tiny: CampaignResult) -> None:
    text = means.as_csv(means.of(tiny))
    rows = list(csv.DictReader(text.splitlines()))
    assert [(row["limit"], row["rate"]) for row in rows] == [
        ("2 packets", "1 Mbps"),
        ("2 packets", "3 Mbps"),
        ("unlimited", "1 Mbps"),
        ("unlimited", "3 Mbps"),
    ]
    for row, (_, variant) in zip(rows, tiny.runs.group_by("variant", maintain_order=True), strict=True):
        values = variant.filter(metric=GOODPUT)["value"].to_numpy()
        low, high = stats.t.interval(0.95, 2, loc=values.mean(), scale=stats.sem(values))
        found = [float(row[name]) for name in ("goodput (Mbit/s)", "goodput low", "goodput high")]
        assert found == pytest.approx([values.mean() / 1e6, low / 1e6, high / 1e6], rel=1e-8)
        assert row["goodput runs"] == "3"


def test_every_format_has_the_same_cells(tiny: CampaignResult) -> None:
    shown = means.of(tiny)
    expected = [list(row) for row in zip(*(column.cells("+") for column in shown.columns), strict=True)]
    markdown = [line.split(" | ")[2:] for line in means.as_markdown(shown).splitlines()[2:6]]
    assert [[cell.strip(" |").replace("±", "+") for cell in row] for row in markdown] == expected
    latex = re.findall(r"^  \d.*|^  unlimited.*", means.as_latex(shown), re.MULTILINE)
    found = [line.removesuffix(r" \\").split(" & ")[2:] for line in latex]
    assert [[cell.strip("$").replace(r"\pm", "+") for cell in row] for row in found] == expected
    assert table.render(shown).count("±") == 8


def test_the_command_prints_and_writes(
    tiny: CampaignResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tiny.folder)
    assert cli.main(["table", folder]) == 0
    text = capsys.readouterr().out
    assert "Means with their 95 % confidence intervals by Student's t, 3 runs of each variant." in text
    assert "goodput" in text
    assert "mean delay" in text
    out = tmp_path / "table.tex"
    given = ["--format", "latex", "--metric", "goodput", "--confidence", "0.9", "--out", str(out)]
    assert cli.main(["table", folder, *given]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    written = out.read_text(encoding="utf-8")
    assert r"limit & rate & goodput (Mbit/s) \\" in written
    assert "90 \\% confidence" in written or "90 % confidence" in written
    assert "delay" not in written


def test_a_file_that_exists_stays(
    tiny: CampaignResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = tmp_path / "keep.toml"
    keep.write_text("mine", encoding="utf-8")
    given = ["table", str(tiny.folder), "--out", str(keep)]
    assert cli.main(given) == 2
    assert keep.read_text(encoding="utf-8") == "mine"
    refused = (
        f"leobench: {keep}: exists already; choose another file with --out, or replace it with --force\n"
    )
    assert capsys.readouterr().err == refused
    assert cli.main([*given, "--force"]) == 0
    assert "goodput" in keep.read_text(encoding="utf-8")
    assert cli.main(["table", str(tiny.folder), "--force"]) == 2
    assert "--force: is for a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--format", "latx"], "--format = latx: unknown format; allowed: `text`, `markdown`, "),
        (["--metric", "godput"], "--metric = godput: the campaign has no such metric; allowed: "),
        (["--confidence", "95"], "confidence = 95; allowed: more than 0, less than 1"),
        (["--confidence", "high"], "--confidence: high: is not a number"),
    ],
)  # fmt: skip
def test_bad_options_are_refused(
    given: list[str], message: str, tiny: CampaignResult, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = cli.main(["table", str(tiny.folder), *given])
    except SystemExit as exit_:
        code = int(str(exit_.code))
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err.startswith(f"leobench: {message}")
    assert said.err.count("\n") == 1


def test_a_folder_that_is_no_sweep_is_refused(
    quick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", str(quick), "--out", str(tmp_path / "run"), "--quiet"]) == 0
    for folder in ("run", "absent"):
        assert cli.main(["table", str(tmp_path / folder)]) == 2
        assert "is not a campaign folder" in capsys.readouterr().err


def test_numbers_share_decimals_that_their_intervals_have() -> None:
    assert cells(made({"a": [60.33e6, 60.35e6, 60.31e6], "b": [7.1e6, 7.3e6, 7.0e6]})) == [
        "60.330 ± 0.050",
        "7.133 ± 0.379",
    ]
    assert cells(made({"a": [2e9], "b": [1e6]})) == ["2.000", "0.001"], "without intervals, four digits"
    assert cells(made({"a": [5e6] * 3, "b": [4e6] * 3})) == ["5.000 ± 0.000", "4.000 ± 0.000"]


def test_a_metric_that_no_run_has_is_left_out() -> None:
    shown = means.of(made({"a": [None], "b": [None]}))
    assert (list(shown.columns), list(shown.notes)) == ([], [f"{GOODPUT}: no run has a value."])


def test_what_is_missing_is_said() -> None:
    shown = means.of(made({"a": [1e6, 2e6, None], "b": [None] * 3, "c": []}))
    assert [row[0] for row in shown.rows] == ["a", "b", "c"], "one that failed has a row"
    assert shown.columns[0].cells()[1:] == ["-", "-"]
    assert shown.notes[1:] == [
        f"{GOODPUT} of a: 2 of 3 runs have a value.",
        f"{GOODPUT} of b: 0 of 3 runs have a value.",
        f"{GOODPUT} of c: 0 of 3 runs have a value.",
    ]
    assert means.of(made({"a": [1e6]})).notes[0].startswith("One run of each variant: there is no interval")
    equal = means.of(made({"a": [1e6, 1e6]})).notes[0]
    assert equal.endswith("nothing in the scenario depends on the seed.")


def test_an_interval_that_is_not_symmetric_has_brackets() -> None:
    skewed: list[float | None] = [1e6 * 1.1**number for number in range(40)]
    (cell,) = cells(made({"a": skewed}))
    mean, low, high = (float(part) for part in re.findall(r"[\d.]+", cell))
    assert re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\]", cell)
    assert high - mean > mean - low > 0


def test_names_cannot_break_a_table() -> None:
    shown = means.of(made({"a_b & c|d $x$ \\end{tabular} 5%": [1e6, 2e6]}))
    latex = means.as_latex(shown)
    assert r"a\_b \& c|d \$x\$ \textbackslash{}end\{tabular\} 5\%" in latex
    assert latex.count(r"\end{tabular}") == 1
    row = means.as_markdown(shown).splitlines()[2]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


def test_a_wide_table_is_cut_into_blocks(tiny: CampaignResult) -> None:
    one = means.of(tiny)
    wide = one.part(list(one.columns) * 5)
    text = table.render(wide)
    assert max(map(len, text.splitlines())) <= 120
    assert text.count("goodput") == 5
    assert text.count("limit") > 1


def test_decimals_and_fixed() -> None:
    assert units.decimals([60.33], [0.021]) == 3
    assert units.decimals([123_456.0], [0.001]) == 0, "no number has more than six digits"
    assert units.decimals([0.0], [0.0]) == 3
    assert units.decimals([0.00123]) == 6
    assert [units.fixed(value, 1) for value in (-0.01, 1234.56, -2.0)] == ["0.0", "1,234.6", "-2.0"]
    assert units.fixed(1234.56, 1, grouped=False) == "1234.6"


def test_a_last_word_selects_the_metric_of_every_flow() -> None:
    frame = made({"a": [1e6, 2e6], "b": [3e6, 4e6]})
    paths = ["flows.up.goodput_bps", "flows.down.goodput_bps", "flows.up.rtt_ms.mean"]
    runs = pl.concat([frame.runs.with_columns(metric=pl.lit(path)) for path in paths])
    result = CampaignResult(frame.folder, {"identity": {**frame.manifest["identity"], "metrics": paths}})
    vars(result)["runs"] = runs
    assert [each.metric for each in means.of(result, ["goodput"]).columns] == paths[:2]
    assert [each.metric for each in means.of(result, ["rtt_ms.mean", "goodput_bps"]).columns] == [
        paths[2],
        *paths[:2],
    ]
