"""The cost of a run on a Dask cluster: processor time of 400 short runs, in one process and over one worker.

Run it as `python benchmarks/cluster.py`. Files go to /dev/shm, so that no disk is measured. Wall times depend
on what else the machine does; processor times hardly do.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import leobench

RUNS = 400
SCENARIO = """\
name = "udp"
duration = "1 s"

[nodes.client]
[nodes.server]

[links.uplink]
between = ["client", "server"]
rate = "5 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "5 packets" }

[flows.main]
transport = "udp"
from = "client"
to = "server"
source = { kind = "poisson", rate = "2 Mbps", size = "1000 B" }
"""
CAMPAIGN = f"""\
name = "short"
scenario = "udp.toml"
replicates = {RUNS}
metrics = ["flows.main.goodput_bps"]
"""


def main() -> None:
    """Measures both, and prints milliseconds per run."""
    from distributed import Client, LocalCluster
    from psutil import Process

    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        (folder / "udp.toml").write_text(SCENARIO, encoding="utf-8")
        campaign = folder / "short.toml"
        campaign.write_text(CAMPAIGN, encoding="utf-8")
        started, used = time.perf_counter(), time.process_time()
        leobench.sweep(campaign, folder / "alone", workers=1)
        _told("one process", time.perf_counter() - started, {"cpu": time.process_time() - used})
        cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
        with cluster, Client(cluster) as client:
            leobench.sweep(campaign, folder / "warm", client.get_executor())
            workers = Process().children(recursive=True)
            before = sum(sum(each.cpu_times()[:2]) for each in workers)
            started, used = time.perf_counter(), time.process_time()
            leobench.sweep(campaign, folder / "there", client.get_executor())
            wall_s, here_s = time.perf_counter() - started, time.process_time() - used
            there_s = sum(sum(each.cpu_times()[:2]) for each in workers) - before
        _told("one worker", wall_s, {"cpu of campaign and scheduler": here_s, "of the worker": there_s})
    finally:
        shutil.rmtree(folder)


def _told(what: str, wall_s: float, cpu_s: dict[str, float]) -> None:
    shown = ", ".join(f"{name} {1e3 * value / RUNS:.1f} ms" for name, value in cpu_s.items())
    print(f"{what}: {1e3 * wall_s / RUNS:.1f} ms per run; {shown}")


if __name__ == "__main__":
    main()
