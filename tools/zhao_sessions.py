"""Sessions of Zhao and Pan 2024 as means for each network, algorithm and target of latency.

    python -m tools.zhao_sessions FOLDER

FOLDER is a copy of the authors' data (clarkzjw/mmsys24-starlink-livestreaming-data, CC BY-SA 4.0). Writes
`python/leobench/papers/zhao2024/sessions.csv`. As in the authors' scripts, the first fifth of a session does
not count.
"""

from __future__ import annotations

import csv
import json
import re
import statistics
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

OUT = Path(__file__).parents[1] / "python" / "leobench" / "papers" / "zhao2024" / "sessions.csv"
NAMES = {"Dynamic": "dynamic", "L2A": "l2a", "LoLP": "lolp", "CMAB": "cmab"}
MEASURES = ("bitrate_mbps", "switches", "latency_s", "stalled_percent")


def later(folder: Path, name: str) -> list[float]:
    """The samples of a session after its first fifth, one each 0.1 s."""
    values = list(json.loads((folder / f"{name}.json").read_text()).values())
    return values[len(values) // 5 :]


def session(folder: Path) -> tuple[float, float, float, float]:
    """The measures of a session; pictures stand still where the buffer is empty."""
    bitrates, buffer = later(folder, "bitrates"), later(folder, "buffer")
    played = [bitrate for bitrate in bitrates if bitrate > 0]
    return (
        statistics.fmean(played) / 1e3,
        sum(one != next_one for one, next_one in pairwise(bitrates)),
        statistics.fmean(later(folder, "playback_latency")),
        100 * sum(content == 0 for content in buffer) / len(buffer),
    )


def main(folder: Path) -> None:
    """Writes a row for each network, target and algorithm."""
    found: dict[tuple[str, str, str], list[tuple[float, ...]]] = defaultdict(list)
    for path in sorted(folder.glob("data/*/target-*/*-variable-*")):
        network, target, run = path.relative_to(folder / "data").parts
        algorithm = re.match(r"abr([A-Za-z0-9]+)-", run)
        if algorithm is None:
            raise SystemExit(f"{path}: no algorithm in its name; right would be abrL2A-...")
        found[network, target.removeprefix("target-"), NAMES[algorithm[1]]].append(session(path))
    if not found:
        raise SystemExit(f"{folder}: no sessions; right would be a folder with data/NETWORK/target-3s/...")
    with OUT.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        kinds = [f"{measure}_{kind}" for measure in MEASURES for kind in ("mean", "sd")]
        rows.writerow(["network", "target", "algorithm", "sessions", *kinds])
        for key, sessions in sorted(found.items()):
            columns = list(zip(*sessions, strict=True))
            values = [
                f"{of(column):.4g}" for column in columns for of in (statistics.fmean, statistics.stdev)
            ]
            rows.writerow([*key, len(sessions), *values])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tools.zhao_sessions FOLDER")
    main(Path(sys.argv[1]))
