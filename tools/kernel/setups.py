"""The setups that both run: a path, a transfer, and what is done to the path meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, replace

MSS = 1_448
MTU = 1_500
CONGESTION = {
    "reno": '"newreno"',
    "cubic": '{ kind = "cubic", slow_start = "hystart", full_reno_slope = false }',  # as in Linux
}


@dataclass(frozen=True)
class Step:
    """A change of the path: `rate` in bit/s, `delay` in ms one way. What is `None` stays as it was."""

    at_ms: int
    rate: int | None = None
    delay_ms: int | None = None
    up: bool | None = None


@dataclass(frozen=True)
class Setup:
    """A path between two hosts and a transfer over it, as long as `duration_s`.

    Rates are in bit/s. `queue` is the limit in packets for data; acknowledgements have no limit. `loss` is
    the probability that a data packet is lost. `steps` change both directions; they start again after
    `repeat_ms`. The application writes one segment at a time at the rate `source`, or as much as it can.
    """

    name: str
    congestion: str
    rate: int
    delay_ms: int
    duration_s: int
    queue: int | None = None
    loss: float = 0.0
    steps: tuple[Step, ...] = ()
    repeat_ms: int | None = None
    outage_ms: tuple[int, int] | None = None
    source: int | None = None

    @property
    def title(self) -> str:
        """Its name and the controller."""
        return f"{self.name} {self.congestion}"

    def changes(self) -> list[Step]:
        """All changes until the end of the run, the first at time 0, in full."""
        now = Step(0, self.rate, self.delay_ms, up=True)
        changes = [now]
        first = 0
        while True:
            for step in self.steps:
                at = first + step.at_ms
                if at >= self.duration_s * 1000:
                    return changes
                if step.at_ms == 0 and first == 0:
                    raise ValueError(f"{self.name}: the path at 0 s is told by rate and delay, not by a step")
                now = Step(
                    at,
                    now.rate if step.rate is None else step.rate,
                    now.delay_ms if step.delay_ms is None else step.delay_ms,
                    now.up if step.up is None else step.up,
                )
                changes.append(now)
            if not self.repeat_ms:
                return changes
            first += self.repeat_ms

    def start_ms(self, seed: int) -> int:
        """When the transfer starts. Seeds differ in it, so that runs differ also where nothing is random."""
        return 37 * (seed - 1)

    def interval_ns(self) -> int:
        """Time between two segments that the application writes; 0 if it writes as much as it can."""
        return MSS * 8 * 1_000_000_000 // self.source if self.source else 0

    def toml(self, seed: int = 1) -> str:
        """The same as a scenario of leobench."""
        rows = ", ".join(
            f'{{ at = "{step.at_ms} ms", rate = "{step.rate} bps", delay = "{step.delay_ms} ms",'
            f" up = {'true' if step.up else 'false'} }}"
            for step in self.changes()
        )
        forward = (
            [] if self.queue is None else [f'queue = {{ kind = "fifo", limit = "{self.queue} packets" }}']
        )
        if self.loss:
            forward.append(f'loss = {{ kind = "bernoulli", probability = {self.loss} }}')
        source = (
            f'kind = "cbr", rate = "{self.source} bps", size = "{MSS} B"'
            if self.source
            else 'kind = "bulk", size = "1 GB"'
        )
        lines = [
            f'name = "{self.name}-{self.congestion}"',
            f'duration = "{self.duration_s} s"',
            "record = { packets = true }",
            "[nodes.sender]",
            "[nodes.receiver]",
            "[links.path]",
            'between = ["sender", "receiver"]',
            f'mtu = "{MTU} B"',
            "overtaking = true",
            f'channel = {{ kind = "schedule", steps = [{rows}] }}',
            *(["[links.path.forward]", *forward] if forward else []),
            "[flows.main]",
            f'transport = {{ kind = "tcp", congestion = {CONGESTION[self.congestion]}, mss = "{MSS} B",'
            ' receive_buffer = "3 MB" }',
            'from = "sender"',
            'to = "receiver"',
            f'start = "{self.start_ms(seed)} ms"',
            f"source = {{ {source} }}",
        ]
        return "\n".join(lines) + "\n"


def _both(setup: Setup) -> list[Setup]:
    return [setup, replace(setup, congestion="cubic")]


def _outage(name: str, step: Step, back: Step) -> Setup:
    span = (step.at_ms, back.at_ms)
    return Setup(name, "reno", 10_000_000, 25, 20, queue=100, steps=(step, back), outage_ms=span)


_DOWN, _UP = 5_000, 8_000
_FALLS = (Step(2_000, delay_ms=20), Step(4_000, delay_ms=60))

SETUPS: tuple[Setup, ...] = (
    *_both(Setup("loss", "reno", 10_000_000, 50, 40, loss=0.01)),
    *_both(Setup("queue", "reno", 10_000_000, 25, 40, queue=52)),
    *_both(_outage("outage-drop", Step(_DOWN, up=False), Step(_UP, up=True))),
    *_both(_outage("outage-hold", Step(_DOWN, rate=0), Step(_UP, rate=10_000_000))),
    *_both(
        Setup("steps", "reno", 20_000_000, 60, 10, queue=200, steps=_FALLS, repeat_ms=4_000, source=8_000_000)
    ),
    *_both(Setup("steps-bulk", "reno", 8_000_000, 60, 20, queue=200, steps=_FALLS, repeat_ms=4_000)),
)
