"""A drawn night to measure `leobench fit` by: 12 h of pings every 20 ms and of rates every 100 ms.

python -m tools.fit_night FOLDER
time leobench fit FOLDER/pings.csv FOLDER/rates.csv --out FOLDER/fit
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench._core import Process
from tools.fit_coverage import START

if TYPE_CHECKING:
    from leobench.fitting.series import Floats

_NIGHT_S = 12 * 3_600
# Steps of the pings and of the rates, in seconds.
_PING_S, _RATE_S = 0.02, 0.1
_LOST = 0.01
_DELAY: dict[str, Any] = {
    "floor": 18.0,
    "location": 3.0,
    "scale": 0.5,
    "shares": {"drift": 0.05, "slot": 0.5, "slow": 0.15, "fast": 0.3},
    "drift_s": 700.0,
    "slow_s": 2.0,
    "fast_s": 0.05,
}
_RATES: dict[str, Any] = {
    "location": 5.5,
    "scale": 0.25,
    "skewness": -0.4,
    "shares": {"drift": 0.2, "slot": 0.35, "slow": 0.25, "fast": 0.2},
    "drift_s": 700.0,
    "slow_s": 2.0,
    "fast_s": 0.2,
    "slot_correlation": 0.3,
}


def _drawn(truth: dict[str, Any], times: Floats, seed: int) -> Floats:
    return Process(json.dumps(truth)).sample(times, seed)


def main() -> None:
    """Writes both recordings."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    sent = START + np.arange(0, _NIGHT_S, _PING_S)
    rtt = _drawn(_DELAY, sent, 1)
    lost = np.random.default_rng(1).random(len(sent)) < _LOST
    came = zip((sent + rtt / 1e3).tolist(), rtt.tolist(), lost.tolist(), strict=True)
    pings = (
        f"{at:.4f},{number},{-1 if gone else value:.6g}\n" for number, (at, value, gone) in enumerate(came)
    )
    with (folder / "pings.csv").open("w", encoding="utf-8") as file:
        file.write("unix_s,seq,rtt_ms\n")
        file.writelines(pings)
    times = START + np.arange(0, _NIGHT_S, _RATE_S)
    down, up = _drawn(_RATES, times, 2), _drawn(_RATES | {"location": 3.0}, times, 3)
    rows = zip(times.tolist(), down.tolist(), up.tolist(), strict=True)
    with (folder / "rates.csv").open("w", encoding="utf-8") as file:
        file.write("unix_time_s,downlink_mbps,uplink_mbps\n")
        file.writelines(f"{at:.3f},{each:.4g},{other:.4g}\n" for at, each, other in rows)


if __name__ == "__main__":
    main()
