"""One run of a loaded scenario, in the time that it asks for: virtual, or real."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench._core import Scenario

    Progress = Callable[[float, float, int], object]

REAL = "real"


@dataclass(frozen=True)
class Recording:
    """Existing folders for outputs beside the summary. An output without a folder is not written.

    Attributes:
        tables: Of the tables, as Parquet files; they are returned unless given.
        qlog: Of the qlogs of QUIC endpoints.
        pcap: Of the packet captures.
        snaplen: Bytes that captures keep of a packet; the usual number unless given.
    """

    tables: Path | None = None
    qlog: Path | None = None
    pcap: Path | None = None
    snaplen: int | None = None


@dataclass(frozen=True)
class Finished:
    """The outcome of a run.

    Attributes:
        summary: The summary, as JSON.
        tables: The tables as Parquet files, by name; empty if they went to a folder.
        stalls: By flow, from when to when (in seconds) it stood still, if it did.
        connected: Names of the flows whose handshake was completed by at least one end.
        clock: How far the times of a run in real time can be trusted; `None` in virtual time.
    """

    summary: str
    tables: Mapping[str, bytes]
    stalls: Mapping[str, tuple[float, float]]
    connected: Sequence[str]
    clock: dict[str, Any] | None = None


def run(scenario: Scenario, recording: Recording, progress: Progress | None = None) -> Finished:
    """Runs a scenario; `progress` is that of `leobench.run`.

    Raises:
        InputError: If it is for real time, and this machine cannot run it.
        RunError: If the run fails.
    """
    if scenario.engine == REAL:
        return _real(scenario, recording, progress)
    from leobench import _core

    return Finished(
        *_core.run(scenario, recording.tables, recording.qlog, recording.pcap, recording.snaplen, progress)
    )


def _real(scenario: Scenario, recording: Recording, progress: Progress | None) -> Finished:
    import dataclasses
    import tempfile

    from leobench.emulation import check, session

    check.check_flows(scenario)
    settings = session.Settings.of(scenario)
    if recording.tables is not None:
        ended = session.run(scenario, (), settings, recording, progress)
        return Finished(ended.summary, {}, ended.stalls, ended.connected, ended.verdict)
    # The run is another process: what it records goes through files.
    with tempfile.TemporaryDirectory(prefix="leobench-real-") as folder:
        recording = dataclasses.replace(recording, tables=Path(folder))
        ended = session.run(scenario, (), settings, recording, progress)
        tables = {file.stem: file.read_bytes() for file in sorted(Path(folder).glob("*.parquet"))}
    return Finished(ended.summary, tables, ended.stalls, ended.connected, ended.verdict)
