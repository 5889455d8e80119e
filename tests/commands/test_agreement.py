"""`leobench agree`: two stacks in one scenario, seed by seed."""

from __future__ import annotations

import csv
import json
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from leobench import agreement, cli
from leobench.agreement import MEASURES, Cell, Report, Target, judge
from leobench.campaign import CampaignResult, plan
from leobench.plots import agreement as figure
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GOODPUT, DELAY, LOST, EVENTS = (measure for measure in MEASURES if measure.limit is not None)


def finding(
    measure: agreement.Measure, pairs: Sequence[tuple[float | None, float | None]]
) -> agreement.Finding:
    first, second = zip(*pairs, strict=True)
    return judge.judge("main", measure, first, second)


@pytest.mark.parametrize(
    ("measure", "pairs", "by", "verdict"),
    [
        (GOODPUT, [(1.009, 1.0)] * 3, "ratio", "agree"),
        (GOODPUT, [(1.011, 1.0)] * 3, "ratio", "differ"),
        (GOODPUT, [(0.989, 1.0)] * 3, "ratio", "differ"),
        (GOODPUT, [(1.0, 1.0), (1.02, 1.0), (0.98, 1.0)], "ratio", "cannot tell"),
        (GOODPUT, [(1.0, 1.0)], "ratio", "cannot tell"),
        (DELAY, [(10.2, 10.0), (20.4, 20.0)], "ratio", "agree"),
        # 3 % of 33 packets is less than one packet, 3 % of 34 is more.
        (LOST, [(34.0, 33.0)] * 3, "difference", "agree"),
        (LOST, [(36.0, 34.0)] * 3, "ratio", "differ"),
        (LOST, [(35.0, 34.0)] * 3, "ratio", "agree"),
        (LOST, [(2.0, 0.0)] * 3, "difference", "differ"),
        (LOST, [(0.0, 0.0)] * 3, "difference", "agree"),
        (EVENTS, [(7.0, 6.0)] * 3, "difference", "agree"),
        (EVENTS, [(8.0, 6.0)] * 3, "difference", "differ"),
        (EVENTS, [(8.0, 7.0)] * 3, "ratio", "agree"),
        # With only one side, nothing can be compared; with neither, there is nothing to compare.
        (DELAY, [(None, 10.0), (10.0, 10.0), (10.0, 10.0)], "ratio", "cannot tell"),
        (DELAY, [(None, 10.0)] * 3, None, "differ"),
        (DELAY, [(None, None)] * 3, None, None),
    ],
)
def test_an_interval_against_its_limit(
    measure: agreement.Measure,
    pairs: Sequence[tuple[float | None, float | None]],
    by: str | None,
    verdict: str | None,
) -> None:
    found = finding(measure, pairs)
    assert (found.by, found.verdict) == (by, verdict)


def test_the_interval_of_a_difference_is_students() -> None:
    found = finding(LOST, [(3.0, 2.0), (5.0, 2.0), (4.0, 4.0), (1.0, 1.0)])
    assert found.difference is not None
    # Differences 1, 3, 0, 0: mean 1, deviation sqrt(2); 3.182 is the 97.5 % quantile of t with 3 degrees.
    reach = 3.182446 * math.sqrt(2) / 2
    assert (found.difference.low, found.difference.high) == pytest.approx((1 - reach, 1 + reach), abs=1e-5)
    assert found.verdict == "cannot tell"


def test_a_cell_differs_if_one_measure_does() -> None:
    agrees, differs = finding(GOODPUT, [(1.0, 1.0)] * 3), finding(DELAY, [(2.0, 1.0)] * 3)
    unknown = finding(GOODPUT, [(1.0, 1.0), (1.1, 1.0)])
    shown = finding(MEASURES[-1], [(2.0, 1.0)] * 3)
    assert [
        judge.overall(each) for each in ([agrees, shown], [agrees, unknown], [unknown, differs], [shown])
    ] == [
        "agree",
        "cannot tell",
        "differ",
        "cannot tell",
    ]


def grid(quick: Path) -> Path:
    file = quick.with_name("grid.toml")
    file.write_text(
        f"""
        name = "grid"
        scenario = "{quick.name}"
        replicates = 1
        metrics = ["flows.main.goodput_bps"]
        [set]
        "duration" = "1 s"
        "links.uplink.forward.loss" = {{ kind = "bernoulli", probability = 0.5 }}
        [[grid]]
        "links.uplink.forward.loss.probability" = [0.02, 0]
        """,
        encoding="utf-8",
    )
    return file


def test_a_scenario_with_two_seeds(
    quick: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quick.parent)
    asked = ["agree", quick.name, "--set", "duration=500 ms", "--seeds", "2", "--workers", "1"]
    assert cli.main(asked) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0].split() == ["own", "noq", "own/noq", "95", "%"]
    shown = [re.split(r"  +", line) for line in lines[3 : 3 + len(MEASURES)]]
    assert [row[0] for row in shown] == [f"{each.name} {each.unit}".rstrip() for each in MEASURES]
    assert [row[-1] for row in shown if row[-1] != "-"] == ["agree"] * 4
    assert lines[-1] == "quick, 2 seeds, stacks own and noq: agree"
    assert list(quick.parent.iterdir()) == [quick], "nothing is kept unless asked for"

    # The numbers are those of two runs by hand.
    means = []
    for stack in ("own", "noq"):
        overrides = {"duration": "500 ms", "flows.main.transport.stack": stack}
        runs = [leobench.run(quick, plan.derive_seed(1, k), overrides) for k in (1, 2)]
        means.append(sum(run.summary["flows"][0]["goodput_bps"] for run in runs) / 2e6)
        windows = [run.tables.transport["cwnd_bytes"].mean() for run in runs]
        window = f"{sum(map(float, windows)) / 2e3:,.5g}"  # type: ignore[arg-type]
        assert window in shown[-1], "the mean over all samples"
    assert shown[0][1:3] == [f"{mean:,.5g}" for mean in means]


def test_a_campaign_gets_seeds_until_it_is_decided_and_resumes(
    quick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    asked = ["agree", str(grid(quick)), "--out", str(out), "--seeds", "2", "--workers", "1", "--json"]
    cli.main(asked)
    first = json.loads(capsys.readouterr().out)
    names = ["probability=0.02", "probability=0"]
    assert [(cell["cell"], len(cell["seeds"])) for cell in first["cells"]] == [(name, 2) for name in names]
    assert [cell["verdict"] for cell in first["cells"]] == ["cannot tell", "agree"]
    assert cli.main(asked) == 2
    assert "--resume" in capsys.readouterr().err

    code = cli.main([*asked, "--max-seeds", "4", "--resume"])
    more = json.loads(capsys.readouterr().out)
    # Only what was undecided got more.
    assert [len(cell["seeds"]) for cell in more["cells"]] == [4, 2]
    assert more["cells"][1] == first["cells"][1]
    assert code == (more["verdicts"]["differ"] > 0)
    assert json.loads((out / "agreement.json").read_text()) == more
    rows = list(csv.DictReader((out / "agreement.csv").read_text().splitlines()))
    assert len(rows) == 2 * len(MEASURES)
    assert float(rows[0]["stack_own"]) == pytest.approx(more["cells"][0]["measures"][0]["mean"]["own"])
    assert (out / "agreement.png").stat().st_size > 10_000

    # The runs are a campaign's.
    result = CampaignResult.open(out / "grid")
    assert result.runs.group_by("variant", maintain_order=True).len()["len"].to_list() == [32, 32, 16, 16]

    # In one go, the same.
    assert cli.main([*asked[:3], str(tmp_path / "again"), *asked[4:], "--max-seeds", "4"]) == code
    assert json.loads(capsys.readouterr().out) == more
    again = (tmp_path / "again" / "grid" / "runs.parquet").read_bytes()
    assert again == (out / "grid" / "runs.parquet").read_bytes()


def test_the_root_of_the_seeds_is_the_campaigns_unless_given(quick: Path) -> None:
    file, sides = grid(quick), agreement.stacks("own,noq")
    file.write_text("seed = 7\n" + file.read_text())
    roots = [Target.load(file, sides, seed=seed).campaign.seed for seed in (None, 3)]
    assert [*roots, Target.load(quick, sides).campaign.seed] == [7, 3, 1]


def reported(*ratios: float) -> Report:
    cells = [
        Cell("made-up", f"cell={ratio}", (1, 2), (finding(GOODPUT, [(ratio, 1.0)] * 2),)) for ratio in ratios
    ]
    return Report("stack", ("own", "noq"), tuple(cells))


@pytest.mark.parametrize(
    ("report", "code", "last"),
    [
        (reported(1.0), 0, "made-up, 2 seeds, stacks own and noq: agree"),
        (reported(1.0, 1.1), 1, "2 variants: 1 agree, 1 differ, 0 cannot tell"),
        (Report("stack", ("own", "noq"), (Cell("made-up", "base", (), (), ("made-up: broke",)),)), 1, ""),
    ],
)
def test_the_exit_code_tells_a_difference(
    report: Report,
    code: int,
    last: str,
    quick: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agreement, "compare", lambda *_, **__: report)
    assert cli.main(["agree", str(quick)]) == code
    said = capsys.readouterr()
    assert said.out.splitlines()[-1].endswith(last)
    assert said.err == "".join(f"leobench: failed: {failure}\n" for failure in report.cells[0].failures)


def test_the_figure_has_a_row_for_each_cell_below_its_campaign() -> None:
    drawn = figure.draw(reported(1.0, 1.1, 1.005))
    (axes,) = drawn.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "made-up", "cell=1.0", "cell=1.1", "cell=1.005",
    ]  # fmt: skip
    points = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
    assert [(np.asarray(line.get_xdata()).tolist(), line.get_marker()) for line in points] == [
        ([1.0], "o"),
        ([1.04], ">"),
        ([pytest.approx(1.005)], "o"),
    ]


TCP = ("--set", 'flows.main.transport="tcp"')


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--stacks", "own,nqo"],
            "--stacks own,nqo: nqo: unknown; allowed: `own`, `noq`; did you mean `noq`?",
        ),
        (["--stacks", "own"], "--stacks own: is not two different words; allowed: two, such as own,noq"),
        (["--stacks", "noq,noq"], "is not two different words"),
        (["--stacks", "own,"], "an empty word: unknown"),
        (["--seeds", "1"], "--seeds 1: allowed: a whole number from 2 to 1,000"),
        (
            ["--seeds", "5", "--max-seeds", "4"],
            "--max-seeds 4: allowed: a whole number from --seeds, 5, to 1,000",
        ),
        (["--seeds", "many"], "--seeds: many: is not a whole number"),
        (["--workers", "0"], "workers = 0: is not positive"),
        (["--resume"], "--resume and --force: need the folder of the results: --out DIR"),
        (["--set", "flows.main.transport.stack=own"], "sets flows.main.transport.stack, which is compared"),
        (["--set", "flows.main.transport.protection=tls"], "is `tls`, which the stack `noq` lacks here"),
        (["--set", "seed=3"], "seed: the seeds of runs are derived"),
        (TCP, "has no QUIC flow, so no stack to compare; allowed: a scenario with one"),
        (["quick.toml"], "quick: two files have this name"),
        (["absent.toml"], "absent.toml: cannot be read"),
        (["--out", "quick.toml"], "quick.toml"),
    ],
)
def test_bad_input_is_one_line(
    options: Sequence[str],
    words: str,
    quick: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(quick.parent)
    try:
        code = cli.main(["agree", quick.name, *options])
    except SystemExit as exit_:
        code = int(str(exit_.code))
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert words in said.err
    assert said.err.count("\n") == 1


def test_a_transport_may_be_a_word_and_only_quic_flows_change(quick: Path) -> None:
    flow = {"transport": "quic", "from": "client", "to": "server", "source": "bulk"}
    other = flow | {"transport": "tcp"}
    sides = agreement.stacks("noq,own")
    target = Target.load(quick, sides, {"until": "time", "flows.main": flow, "flows.other": other})
    assert target.flows == {"base": ("main",)}
    assert target.cells == {"base": ("stack=noq", "stack=own")}
    stacks = [
        [
            target.campaign.scenarios[variant]["flows"][flow]["transport"].get("stack")
            for flow in ("main", "other")
        ]
        for variant in target.cells["base"]
    ]
    assert stacks == [["noq", None], ["own", None]]


def test_the_campaigns_of_the_grid_have_ninety_cells() -> None:
    sides = agreement.stacks("own,noq")
    files = sorted((ROOT / "campaigns").glob("two-quic-stacks-*.toml"))
    targets = [Target.load(file, sides) for file in files]
    assert [len(target.cells) for target in targets] == [18] * 5
    assert len({plan.derive_seed(target.campaign.seed, 1) for target in targets}) == 1
