"""Pings beside a transfer over TCP: how long a path delays others while it is busy.

    iperf3 --server --one-off                  # at the other end
    python examples/under_load.py server --reverse

Prints a JSON object: `goodput_bps` of the transfer, `round_trips_ms` of the pings that were answered, and how
many were `lost`. Pings begin 2 s after the transfer, 20 a second, and end with it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time

_AFTER_S = 2


def main() -> int:
    """Runs both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("server", help="where iperf3 serves")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--after", type=float, default=0, metavar="SECONDS", help="wait before all this")
    parser.add_argument("--reverse", action="store_true", help="download (default: upload)")
    parser.add_argument("--congestion", default="cubic")
    args = parser.parse_args()
    time.sleep(args.after)
    load = ["iperf3", "--client", args.server, "--time", str(args.seconds), "--json"]
    load += ["--congestion", args.congestion, *(["--reverse"] if args.reverse else [])]
    pings = ["ping", "-n", "-i", "0.05", "-W", "2", "-c", str(20 * (args.seconds - _AFTER_S)), args.server]
    with subprocess.Popen(load, stdout=subprocess.PIPE, text=True) as transfer:
        time.sleep(_AFTER_S)
        pinged = subprocess.run(pings, stdout=subprocess.PIPE, text=True, check=False).stdout
        said = json.loads(transfer.communicate()[0])
    if "error" in said:
        print(f"under_load: iperf3: {said['error']}", file=sys.stderr)
        return 1
    # iperf3's own count of seconds includes the way of its last message.
    bits = 8 * said["end"]["sum_received"]["bytes"] / args.seconds
    round_trips = [float(each) for each in re.findall(r"time=([\d.]+)", pinged)]
    sent = int(re.search(r"(\d+) packets transmitted", pinged)[1])  # type: ignore[index]
    print(json.dumps({"goodput_bps": bits, "round_trips_ms": round_trips, "lost": sent - len(round_trips)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
