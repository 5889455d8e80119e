"""Runs a scenario, in virtual or in real time, and writes tables and a summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options, terminal

if TYPE_CHECKING:
    import argparse

    from leobench.result import Result

NAME = "run"
HELP = "run a scenario and write its results"
EXAMPLE = 'leobench run scenarios/khan2023-ka.toml --seed 3 --set links.uplink.queue.limit="15 packets"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    options.add_scenario(parser, or_stdin=True)
    options.add_overrides(parser)
    options.add_seed(parser)
    parser.add_argument(
        "--seeds",
        metavar="N-M",
        type=options.text,
        help="run all of these seeds, such as 1-5 or 1,3,7-9, each into a folder of its own that ends in "
        "its seed, and print the means with their intervals",
    )
    options.add_workers(parser, "with --seeds: ")
    parser.add_argument(
        "--out", metavar="DIR", type=options.path, help="result folder (default: results/<scenario>-<seed>)"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing result folder")
    parser.add_argument("--qlog", action="store_true", help="write a qlog file for every QUIC endpoint")
    parser.add_argument(
        "--pcap", action="store_true", help="write packet captures at both ends of every flow"
    )
    options.add_snaplen(parser)
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        type=options.text,
        help="virtual or real: real runs flows over sockets in real time (default: the scenario's)",
    )
    options.add_real(parser, programs=False)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")


def main(args: argparse.Namespace) -> int:
    """Runs the scenario, writes the results, and prints a summary and their folder."""
    from leobench import api, engine, folder
    from leobench.cli.progress import Progress
    from leobench.errors import INVALID_RUN, InputError
    from leobench.scenario import load

    overrides = [*args.overrides, *options.real_overrides(args)]
    for name in ("seed", "engine"):
        given = getattr(args, name)
        overrides += [(name, given)] if given is not None else []
    scenario = load(args.scenario, None, dict(overrides))
    if scenario.engine != engine.REAL:
        options.refuse_real(args, "--engine real")
    if args.seeds is not None:
        from leobench import standard_input
        from leobench.cli import run_seeds

        if args.scenario == standard_input.NAME:
            raise InputError("--seeds: reads the scenario once for each seed; give it as a file, not as `-`")
        return run_seeds.main(args, scenario, overrides)
    if args.workers is not None:
        raise InputError(f"--workers {args.workers}: is for several seeds only; add --seeds, or leave it out")
    target = args.out or Path("results") / f"{scenario.name}-{scenario.seed}"
    folder.refuse_existing(target, force=args.force)

    with Progress(quiet=args.quiet) as progress:
        result = api.run_loaded(
            scenario,
            target,
            force=args.force,
            qlog=args.qlog,
            pcap=args.pcap,
            snaplen=args.snaplen,
            progress=progress,
        )
    _say(result, args)
    return INVALID_RUN if result.manifest["validity"]["verdict"] == "invalid" else 0


def _say(result: Result, args: argparse.Namespace) -> None:
    from leobench import folder
    from leobench.cli import several_paths, summary_tables

    for warning in result.warnings:
        terminal.warn(warning)
    if args.qlog and result.folder is not None and not (result.folder / folder.QLOG).exists():
        terminal.warn("--qlog: only QUIC flows write a qlog, and the scenario has none")
    secrets = result.folder / folder.PCAP / folder.SECRETS if result.folder is not None else None
    has_secrets = args.pcap and secrets is not None and secrets.exists()
    if args.json:
        said = {
            "out": str(result.folder),
            "wall_s": result.manifest["wall_s"],
            "validity": result.manifest["validity"],
            "summary": result.summary,
        }
        if has_secrets:
            said["tls_secrets"] = str(secrets)
        terminal.print_json(said)
    elif not args.quiet:
        summary, wall_s = result.summary, result.manifest["wall_s"]
        for reason in result.warnings if result.manifest["validity"]["verdict"] == "invalid" else []:
            if reason.startswith("invalid"):
                print(terminal.on_one_line(reason.upper()[:7] + reason[7:]))
        clock = result.manifest.get("clock")
        if clock is None:
            time = f"{summary['virtual_s']:.2f} virtual s"
            speed = f" ({summary['virtual_s'] / max(wall_s, 1e-3):,.0f} virtual s per second)"
        else:
            time, speed = f"{summary['virtual_s']:.2f} s in real time", ""
        print(
            f"{summary['scenario']}, seed {summary['seed']}: {time}, "
            f"{summary['packets']:,} packets in {wall_s:.2f} s{speed}\n"
        )
        print(summary_tables.render(summary) + several_paths.render(result, args))
        tables = ", ".join(result.tables)
        print(f"\nResults in {result.folder}/: summary.json, manifest.json, and as Parquet: {tables}")
        if has_secrets:
            print(f"TLS secrets, for Wireshark and captures of whole packets (--snaplen 65535): {secrets}")
