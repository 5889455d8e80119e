"""A tutorial of leobench in Python: a marimo notebook, which also runs as a program."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="leobench in Python")


@app.cell
def _():
    import marimo as mo

    return (mo,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # leobench in Python

    This notebook describes a link, runs a transfer over it, reads the results by name, and compares three congestion
    controllers over several seeds. It takes about ten seconds. Nothing is written but a temporary folder.
    """)
    return


@app.cell
def _():
    import tempfile
    from pathlib import Path

    import leobench
    import polars as pl
    from leobench import plots

    return Path, leobench, pl, plots, tempfile


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A link

    A scenario is a text in TOML. This one has a link whose rate and delay change every 15 s, as a satellite terminal sees
    it, and loses one packet in 2,000. A transfer without an end goes over it.
    """)
    return


@app.cell
def _(Path, tempfile):
    scenario = Path(tempfile.mkdtemp()) / "mine.toml"
    scenario.write_text("""
    name = "mine"
    duration = "20 s"

    [nodes.laptop]
    [nodes.server]

    [links.sky]
    between = ["laptop", "server"]
    delay = "5 ms"
    loss = { kind = "bernoulli", probability = 0.0005 }
    queue = { kind = "fifo", limit = "300 kB" }

    [links.sky.channel]
    kind = "reconfiguration"
    rate = { kind = "uniform", from = "30 Mbps", to = "60 Mbps" }
    delay = { kind = "uniform", from = "15 ms", to = "30 ms" }
    outage = "100 ms"

    [flows.upload]
    transport = { kind = "quic", congestion = "cubic" }
    from = "laptop"
    to = "server"
    source = "bulk"
    """)
    return (scenario,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A run

    The same seed gives the same numbers on every machine. A result is shown as tables of its flows and links.
    """)
    return


@app.cell
def _(leobench, scenario):
    result = leobench.run(scenario, seed=1)
    result
    return (result,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Flows and links go by their names. Every number has a unit: rates are in bit/s, delays in ms.
    `help(leobench.FlowSummary)` lists all keys.
    """)
    return


@app.cell
def _(result):
    upload = result.flows["upload"]
    sky = result.links["sky/laptop->server"]
    share = upload.goodput_bps / sky.mean_rate_bps
    print(f"{upload.goodput_bps / 1e6:.1f} Mbit/s, which is {share:.0%} of the link")
    print(
        f"{upload.lost_packets} of {upload.sent_packets} packets lost, {upload.congestion_events} reductions"
    )
    return (share,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The tables of a run are Polars frames: here the congestion window and the queue, ten times a second.
    """)
    return


@app.cell
def _(pl, result):
    windows = result.tables.transport.select(
        pl.col("t_ns") / 1e9, pl.col("cwnd_bytes") / 1e3, pl.col("in_flight_bytes") / 1e3
    )
    windows.describe()
    return (windows,)


@app.cell
def _(plots, result):
    timeline = plots.kind("timeline")(result)
    timeline
    return (timeline,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A comparison

    Overrides replace values of the scenario by place. Each controller meets the same channel, seed by seed, so the
    differences are the controllers'.
    """)
    return


@app.cell
def _(leobench, pl, scenario):
    rows = [
        {"controller": controller, "seed": seed, "goodput": run.flows["upload"].goodput_bps / 1e6}
        for controller in ("newreno", "cubic", "bbr")
        for seed in (1, 2, 3)
        for run in [
            leobench.run(
                scenario, seed, {"flows.upload.transport.congestion": controller, "record.series": False}
            )
        ]
    ]
    compared = (
        pl.DataFrame(rows)
        .group_by("controller", maintain_order=True)
        .agg(
            pl.col("goodput").mean().alias("mean (Mbit/s)"),
            pl.col("goodput").std().alias("standard deviation"),
        )
    )
    compared
    return (compared,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    BBR does not take a random loss for congestion. For intervals, paired differences and many runs, let a campaign do it:
    `leobench.sweep`, and the functions of `leobench.stats`.

    ## A mistake

    What is wrong with a scenario is told by place, value, and what would be right. What is wrong with your program is found
    by a type checker: `result.flows["upload"].goodput` has no such attribute.
    """)
    return


@app.cell
def _(leobench, scenario):
    try:
        leobench.run(scenario, overrides={"links.sky.delay": "5"})
    except leobench.ScenarioError as error:
        mistake = str(error).removeprefix(f"{scenario}: ")
    print(mistake)
    return (mistake,)


if __name__ == "__main__":
    app.run()
