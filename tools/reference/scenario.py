"""The page of all keys of a scenario, from the schema of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import leobench
from tools.reference.keys import NAME, keys_table, nested
from tools.reference.markdown import joined, prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.reference.keys import Schema


def scenario_page() -> str:
    """The page of all tables and keys of a scenario."""
    return joined(
        [
            "# Keys of a scenario",
            "Every table of a scenario file with its keys. `NAME` stands for a name of your own: "
            f"`links.{NAME}` is `[links.uplink]` in a scenario with a link `uplink`. Keys that take a model "
            "link to the models and their parameters. `leobench schema` prints the same as a JSON Schema, "
            "for editors that complete and check. [Writing a scenario](../howto/write-a-scenario.md) shows "
            "how the parts fit together.",
            QUANTITIES,
            *scenario_tables(leobench.schema(), ""),
        ]
    )


QUANTITIES = """\
## Quantities

| quantity | units | example |
|---|---|---|
| rate | `bps`, `kbps`, `Mbps`, `Gbps` (powers of ten) | `"45 Mbps"` |
| time | `ns`, `us`, `ms`, `s`, `min`, `h` | `"10 ms"` |
| size | `B`, `kB`, `MB`, `GB` (powers of ten), `KiB`, `MiB`, `GiB` | `"30 kB"` |
| limit of a queue | `packets`, a size, a time, `BDP`, or `"unlimited"` | `"1.5 BDP"` |
| probability, share | a number from 0 to 1 | `0.001` |

A time or a rate that may be random is also a table of a distribution:

| `kind` | values | keys |
|---|---|---|
| `fixed` | the same every time; `"30 ms"` is short for it | `value` |
| `uniform` | a range, equally likely | `from`, `to` |
| `normal` | a normal distribution, cut off at both ends | `mean`, `deviation`, `from`, `to` |
| `exponential` | an exponential distribution, shifted to `from` | `mean` (with the shift), `from` |
| `values` | those of a list, equally likely | `values` |"""


def scenario_tables(schema: Schema, path: str) -> Iterator[str]:
    """The sections of a table and of all tables below it that are no models."""
    heading = path or "The whole run"
    if path == "links.NAME.backward":
        yield f"## {heading}"
        yield "The same keys as [`links.NAME.forward`](#linksnameforward), for the other direction."
        return
    if path == "links.NAME.constellation.downlink":
        yield f"## {heading}"
        yield (
            "Budget of the radio link from the satellite to the terminal: the same keys as "
            "[`links.NAME.constellation.uplink`](#linksnameconstellationuplink)."
        )
        return
    if path == "traffic.link":
        yield f"## {heading}"
        yield (
            "The link of a pair: the keys of [`links.NAME`](#linksname) without `between`, and without "
            "`terminal` and `gateways` of its `constellation`. The place of the pair that comes first among "
            "the places is at the terminal."
        )
        return
    yield f"## {heading}"
    if path:
        yield prose(schema.get("description", ""))
    yield keys_table(schema, path)
    for key, value in schema["properties"].items():
        below, name = nested(value, key)
        if below is not None:
            yield from scenario_tables(below, f"{path}.{name}" if path else name)
