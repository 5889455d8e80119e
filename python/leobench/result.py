"""The result of a run: its summary and its tables."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, UnknownNameError, allowed
from leobench.files import open_regular

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from leobench.records import Named
    from leobench.summary import FlowSummary, LinkSummary, Summary


# How the tables of a run are made again.
_AGAIN = "`leobench run --force` (force=True)"


class Tables(Mapping[str, "pl.DataFrame"]):
    """The tables of a run by name, as Polars frames; each is read when it is first asked for.

    Times are integer nanoseconds from the start of the run (`*_ns`), sizes bytes (`*_bytes`), rates bits
    per second (`*_bps`). `docs/reference/tables.md` describes every column. A table that was
    not recorded is empty.
    """

    def __init__(self, sources: Mapping[str, Callable[[], pl.DataFrame]]) -> None:
        self._sources = dict(sources)
        self._frames: dict[str, pl.DataFrame] = {}

    @classmethod
    def from_bytes(cls, tables: Mapping[str, bytes]) -> Tables:
        """Tables held in memory as Parquet files."""
        return cls({name: _InMemory(data) for name, data in tables.items()})

    @classmethod
    def from_parquet(cls, files: Mapping[str, Path], again: str = _AGAIN) -> Tables:
        """Tables that lie in Parquet files."""
        return cls({name: _InFile(file, again) for name, file in files.items()})

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._frames:
            if name not in self._sources:
                raise UnknownNameError(f"{name}: no such table; {allowed(name, self._sources)}")
            self._frames[name] = self._sources[name]()
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tables):
            return NotImplemented
        return list(self) == list(other) and all(self[name].equals(other[name]) for name in self)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Tables], tuple[Mapping[str, Callable[[], pl.DataFrame]]]]:
        return Tables, (self._sources,)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self._sources)})"

    @property
    def messages(self) -> pl.DataFrame:
        """Every application message: when it was created, first sent, and delivered in order."""
        return self["messages"]

    @property
    def transport(self) -> pl.DataFrame:
        """Congestion window, bytes in flight, round-trip time and running totals of every flow."""
        return self["transport"]

    @property
    def streams(self) -> pl.DataFrame:
        """The backlog of every stream's send buffer, a row per sample."""
        return self["streams"]

    @property
    def queues(self) -> pl.DataFrame:
        """The backlog of every link direction's queue, a row per sample."""
        return self["queues"]

    @property
    def channel(self) -> pl.DataFrame:
        """The state of every link's channel, a row per change."""
        return self["channel"]

    @property
    def paths(self) -> pl.DataFrame:
        """The true base round-trip time and bottleneck rate of every flow's paths, a row per change."""
        return self["paths"]

    @property
    def events(self) -> pl.DataFrame:
        """Rare things that happened, such as losses and their causes."""
        return self["events"]

    @property
    def packets(self) -> pl.DataFrame:
        """Every packet, where the scenario asks for it (`record.packets`)."""
        return self["packets"]

    @property
    def opportunities(self) -> pl.DataFrame:
        """Bytes that the delivery opportunities of every trace-driven link have offered so far."""
        return self["opportunities"]

    @property
    def routes(self) -> pl.DataFrame:
        """The link directions that every flow's packets take, on change."""
        return self["routes"]

    @property
    def handovers(self) -> pl.DataFrame:
        """The beginning and the end of every handover."""
        return self["handovers"]

    @property
    def losses(self) -> pl.DataFrame:
        """Every packet that was dropped, declared lost or sent again: its cause and the sender's evidence."""
        return self["losses"]

    @property
    def hops(self) -> pl.DataFrame:
        """Hops of the network in orbit, sampled; only runs whose packets take hops with queues have it."""
        return self["hops"]

    @property
    def ways(self) -> pl.DataFrame:
        """Satellites that every link's packets pass, on change; only runs with hops with queues have it."""
        return self["ways"]

    @property
    def segments(self) -> pl.DataFrame:
        """Segments that the players of videos asked for; only runs with a video have it."""
        return self["segments"]

    @property
    def frames(self) -> pl.DataFrame:
        """Frames of calls of which anything arrived; only runs with a call have it."""
        return self["frames"]

    @property
    def spin(self) -> pl.DataFrame:
        """Round-trip times that QUIC's spin bit showed; only runs in real time have it."""
        return self["spin"]

    @property
    def sockets(self) -> pl.DataFrame:
        """TCP connections of programs, as their kernel sees them; only runs of `leobench emulate` have it."""
        return self["sockets"]


@dataclass(frozen=True)
class _InMemory:
    """A table held as the bytes of a Parquet file."""

    data: bytes

    def __call__(self) -> pl.DataFrame:
        import polars as pl

        return pl.read_parquet(io.BytesIO(self.data), glob=False)


@dataclass(frozen=True)
class _InFile:
    """A table that lies in a Parquet file."""

    file: Path
    again: str

    def __call__(self) -> pl.DataFrame:
        return read_table(self.file, self.again)


def read_table(file: Path, again: str = _AGAIN) -> pl.DataFrame:
    """A table that lies in a Parquet file; `again` says how it is made again.

    Raises:
        InputError: If it was damaged or removed.
    """
    import polars as pl

    try:
        # Opened here: Polars takes `[`, `*`, `?` and `~` in a path for patterns.
        with open_regular(file) as opened:
            return pl.read_parquet(opened)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{file}: is damaged or missing; delete it and make it again with {again}"
        ) from error


@dataclass(frozen=True)
class Result:
    """A finished run.

    Attributes:
        manifest: What ran, where, for how long, and whether the numbers can be taken at face value.
        summary: What `summary.json` holds, by attribute or by key; `leobench.summary` describes it, and
            `docs/reference/results.md`.
        tables: The tables by name.
        folder: Where it lies; `None` if in memory only.
    """

    manifest: dict[str, Any]
    summary: Summary
    tables: Tables
    folder: Path | None

    @property
    def flows(self) -> Named[FlowSummary]:
        """The flows, by name or number: `result.flows["download"].goodput_bps` is in bit/s."""
        return self.summary.flows

    @property
    def links(self) -> Named[LinkSummary]:
        """The links, one entry per direction, by name or number: `result.links["uplink/client->server"]`."""
        return self.summary.links

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario that ran, every default spelled out."""
        resolved: dict[str, Any] = self.manifest["scenario"]
        return resolved

    @property
    def warnings(self) -> list[str]:
        """Reasons not to take the numbers at face value; empty for a run like any other."""
        warnings: list[str] = self.manifest["validity"]["warnings"]
        return warnings

    def __repr__(self) -> str:
        name, seed = self.summary["scenario"], self.summary["seed"]
        return f"Result({name}, seed {seed}, {self.folder or 'in memory'})"

    def _repr_html_(self) -> str:
        """Tables for a notebook: flows, links and warnings."""
        from leobench import notebook

        return notebook.of_result(self)
