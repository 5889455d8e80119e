"""Scenarios of the tests in real time: a flow between two nodes, and links."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Link:
    """A link between two nodes, and what else its table says."""

    name: str
    ends: tuple[str, str]
    body: str

    @classmethod
    def steady(cls, name: str, ends: tuple[str, str], rate: str, delay: str, *, packets: int = 100) -> Link:
        """One with a constant rate and a queue of so many packets."""
        queue = f'queue = {{ kind = "fifo", limit = "{packets} packets" }}'
        return cls(name, ends, f'rate = "{rate}"\ndelay = "{delay}"\n{queue}')

    def losing(self, share: float) -> Link:
        """The same, which loses this share of the packets."""
        loss = f'loss = {{ kind = "bernoulli", probability = {share} }}'
        return Link(self.name, self.ends, f"{self.body}\n{loss}")


def scenario(
    *links: Link,
    transport: str = '"udp"',
    source: str = '{ kind = "cbr", rate = "1 Mbps", size = "1000 B" }',
    duration: str = "10 s",
    until: str = "time",
    more: str = "",
) -> str:
    """The text of a scenario: a flow from the first node of the first link to the last of the last link."""
    nodes = list(dict.fromkeys(node for link in links for node in link.ends))
    parts = [
        f'name = "tested"\nduration = "{duration}"\nuntil = "{until}"\n',
        *(f"[nodes.{node}]" for node in nodes),
        *(
            f'[links.{link.name}]\nbetween = ["{link.ends[0]}", "{link.ends[1]}"]\n{link.body}\n'
            for link in links
        ),
        f'[flows.main]\ntransport = {transport}\nfrom = "{links[0].ends[0]}"\nto = "{links[-1].ends[1]}"',
        f"source = {source}\n",
        more,
    ]
    return "\n".join(parts)


def two_ways(kind: str, mover: str, every: str, *, share_lost: float = 0) -> tuple[list[Link], str]:
    """Two links of different length from a node, and its handovers between them every so often."""
    ends = (mover, "office" if mover == "van" else "server")
    links = [
        Link.steady(name, ends, "20 Mbps", delay) for name, delay in (("ground", "10 ms"), ("space", "25 ms"))
    ]
    if share_lost:
        links = [link.losing(share_lost) for link in links]
    handovers = f"""\
[handovers.backhaul]
node = "{mover}"
kind = "{kind}"
links = ["ground", "space"]
every = "{every}"
outage = "50 ms"
"""
    return links, handovers
