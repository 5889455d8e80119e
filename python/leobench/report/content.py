"""The content of a page: what it says, and the tables that its series come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Described = dict[str, Any]

Kind = Literal["run", "runs", "campaign", "reproduction", "passport"]


@dataclass(frozen=True)
class Table:
    """A table of a run.

    Attributes:
        rows: Its number of rows.
        data: The table as a Parquet file.
    """

    rows: int
    data: bytes


@dataclass(frozen=True)
class Run:
    """A run on a page.

    Attributes:
        label: Its name among the runs of the page.
        folder: Where its results lie, as the user named it.
        command: The command that repeats it from `scenario_file`, the file that the page offers.
        scenario_file: Name of that file.
        manifest: Its manifest, or what is known of it while it runs.
        summary: Its summary; `None` while it runs.
        tables: Its tables by name, without empty ones.
        omitted: Rows of the tables that were left out on request.
    """

    label: str
    folder: str
    command: str
    scenario_file: str
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any] | None
    tables: Mapping[str, Table]
    omitted: Mapping[str, int] = field(default_factory=dict)

    def described(self, number: int) -> Described:
        """The run as JSON; `number` is its place on the page."""
        return {
            "id": number,
            "label": self.label,
            "folder": self.folder,
            "command": self.command,
            "scenario_file": self.scenario_file,
            "manifest": {key: value for key, value in self.manifest.items() if key != "scenario"},
            "scenario": self.manifest["scenario"],
            "summary": self.summary,
            "tables": {name: table.rows for name, table in self.tables.items()},
            "omitted": dict(self.omitted),
        }


@dataclass(frozen=True)
class Content:
    """The content of a page.

    Attributes:
        kind: What the page is about.
        title: Its title.
        description: A sentence on it; may be empty.
        runs: Runs with their series.
        campaigns: Campaigns, as `campaigns.describe` makes them.
        figures: Reproduced figures with their claims, as `reproductions.describe` makes them.
        passports: Passports of controllers, as `passports.content` makes them.
        globe: The constellation of the first run, as `globe.describe` makes it.
        notes: Remarks on what the page lacks and why.
        live: Of a folder that is being written: how far it is.
    """

    kind: Kind
    title: str
    description: str = ""
    runs: list[Run] = field(default_factory=list)
    campaigns: list[Described] = field(default_factory=list)
    figures: list[Described] = field(default_factory=list)
    passports: list[Described] = field(default_factory=list)
    globe: Described | None = None
    notes: list[str] = field(default_factory=list)
    live: Described | None = None

    def described(self) -> Described:
        """Everything but the tables, as JSON."""
        from leobench import _core

        return {
            "leobench": _core.__version__,
            "kind": self.kind,
            "title": self.title,
            "description": self.description,
            "runs": [run.described(number) for number, run in enumerate(self.runs)],
            "campaigns": self.campaigns,
            "figures": self.figures,
            "passports": self.passports,
            "globe": self.globe,
            "notes": self.notes,
            "live": self.live,
        }

    def tables(self) -> Iterator[tuple[str, Table]]:
        """All tables by their names on the page: `<number of the run>-<name>`."""
        for number, run in enumerate(self.runs):
            for name, table in run.tables.items():
                yield f"{number}-{name}", table
