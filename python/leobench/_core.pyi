"""The compiled core (`crates/py`). Use it through `leobench`, which adds tables, folders and figures."""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

__version__: str

COMMIT: str | None
FEATURES: tuple[str, ...]

KINDS: tuple[str, ...]
LARGEST_FILE: int

class Scenario:
    """A scenario that was read and checked, and may be run any number of times."""

    @staticmethod
    def load(
        path: str | PathLike[str], overrides: Sequence[tuple[str, str]] = ..., flows: str = ...
    ) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def engine(self) -> str:
        """What drives a run: `virtual` or `real`."""
    @property
    def duration(self) -> float:
        """Seconds during which the sources produce messages."""
    @property
    def real(self) -> tuple[float, float, float, float, float, float]:
        """Settings of a run in real time, in seconds: lateness, stall, spin, settle; `busy`, `waited`."""
    def to_json(self) -> str: ...

@final
class Process:
    """A warped Gaussian process in time with slots of 15 s (`crates/link/src/process`), by its parameters.

    Times are seconds since 1970 and ascend. Values are in the unit of the parameters; NaN is a missing value.
    """

    def __new__(cls, parameters: str, every_s: float = 15.0, phase_s: float = 12.0) -> Process: ...
    def log_likelihood(self, times: Floats, values: Floats) -> float:
        """Logarithm of the density of the values; minus infinity if one cannot be."""
    def innovations(self, times: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
        """What each value was beside what those before it let expect.

        Returns the mean and the standard deviation of the standard normal number, and the number; NaN where
        missing.
        """
    def sample(self, times: Floats, seed: int) -> Floats:
        """Values at these times."""
    def predict(self, times: Floats, values: Floats, at: Floats, seed: int, draws: int) -> Floats:
        """Joint draws of the values at later times, given a series so far: an array of draws by times."""
    def quantile(self, numbers: Floats) -> Floats:
        """The values of standard normal numbers."""

@final
class Stream:
    """A stream of a connection, as a scheduler sees it: always as it is when the packet is filled.

    There is one object per stream and connection, so it can be kept, compared and used as a key.
    """

    @property
    def number(self) -> int:
        """Counted from 0, in the order of the scenario."""
    @property
    def backlog(self) -> int:
        """Bytes waiting."""
    @property
    def held(self) -> bool:
        """Whether flow control lets none of them go."""
    @property
    def messages(self) -> int:
        """Messages waiting, a partly sent one included."""
    @property
    def head_age(self) -> float:
        """How long the oldest waiting message has waited, in seconds; 0 if none waits."""
    @property
    def sojourn_sum(self) -> float:
        """How long all waiting messages together have waited, in seconds."""
    @property
    def deadline(self) -> float | None:
        """Seconds until the oldest waiting message is due, negative afterwards; `None` if it never is."""
    @property
    def weight(self) -> float:
        """From the scheduler's `weights`; 1 unless given."""
    @property
    def urgency(self) -> int:
        """From 0, the most urgent, to 7 (RFC 9218 section 4.1)."""
    @property
    def incremental(self) -> bool:
        """Whether a part of its data is of use before the rest has come (RFC 9218 section 4.2)."""

@final
class PathView:
    """A path of a connection, as a path scheduler sees it: always as it is when the packet is to leave.

    Paths with the same number are equal. Numbers are never used again.
    """

    @property
    def id(self) -> int:
        """Its number."""
    @property
    def link(self) -> str | None:
        """The name of its link, if this end knows it."""
    @property
    def rtt(self) -> float:
        """Smoothed round-trip time in seconds (RFC 9002 section 5.3); assumed before the first sample."""
    @property
    def rtt_variation(self) -> float:
        """Its variation in seconds (RFC 9002 section 5.3)."""
    @property
    def window(self) -> int:
        """Bytes that may be in flight."""
    @property
    def in_flight(self) -> int:
        """Bytes that are in flight."""
    @property
    def payload(self) -> int:
        """Largest UDP payload in bytes."""
    @property
    def room(self) -> int:
        """Bytes that the window has left."""
    @property
    def has_room(self) -> bool:
        """Whether window and pacing let a full packet go now. Only such a path can be chosen."""
    @property
    def ready(self) -> float:
        """When pacing lets the next packet go, in seconds of virtual time; in the past if at once."""
    @property
    def slow_start(self) -> bool:
        """Whether the window is below the slow-start threshold."""
    @property
    def delivery_rate(self) -> int | None:
        """Bits per second that were acknowledged over the last round trip, once one has passed."""
    @property
    def forecast(self) -> Forecast | None:
        """The latest forecast, if the flow has forecasts."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Backlog:
    """The data that waits for a path."""

    @property
    def waiting(self) -> int:
        """New bytes of streams that wait."""
    @property
    def credit(self) -> int:
        """Bytes of new data that flow control lets the connection send (RFC 9000 section 4.1)."""

@final
class Acknowledgement:
    """An acknowledgement, as a congestion controller sees it."""

    @property
    def now(self) -> float:
        """When it arrived, in seconds of virtual time."""
    @property
    def acked(self) -> int:
        """Bytes that it acknowledges anew."""
    @property
    def packets(self) -> list[tuple[int, int, float, bool]]:
        """Number, bytes and time of sending of each; whether its round trip is in doubt (Karn's rule)."""
    @property
    def prior_in_flight(self) -> int:
        """Bytes in flight before it, without those that it shows to be lost."""
    @property
    def in_flight(self) -> int:
        """Bytes in flight after it."""
    @property
    def rtt(self) -> float:
        """Latest sample of the round-trip time in seconds."""
    @property
    def smoothed_rtt(self) -> float:
        """Smoothed round-trip time in seconds (RFC 9002, section 5.3)."""
    @property
    def min_rtt(self) -> float:
        """Smallest sample of the round-trip time in seconds."""
    @property
    def delivery_rate(self) -> int | None:
        """Bits per second delivered (draft-ietf-ccwg-bbr, section 4.1), if the sample is long enough."""
    @property
    def app_limited(self) -> bool:
        """Whether the application had left a gap, so that `delivery_rate` underestimates the path."""
    @property
    def cwnd_limited(self) -> bool:
        """Whether the window limits the sender. If not, it should not grow (RFC 9002, section 7.8)."""
    @property
    def recovering(self) -> bool:
        """Whether TCP is in recovery (RFC 6675, section 5), in which loss-based windows do not grow."""

@final
class CongestionEvent:
    """Packets found lost together, or marked by ECN, as a congestion controller sees them."""

    @property
    def now(self) -> float:
        """When it was detected, in seconds of virtual time."""
    @property
    def sent(self) -> float:
        """When the latest of these packets was sent."""
    @property
    def lost(self) -> int:
        """Bytes lost; 0 for marks."""
    @property
    def packets(self) -> list[int]:
        """Numbers of the packets lost."""
    @property
    def persistent(self) -> bool:
        """Whether everything sent over a long time was lost (RFC 9002, section 7.6)."""
    @property
    def answered(self) -> bool:
        """Whether TCP has reduced its window for it already (RFC 6675, section 5)."""

@final
class PlayerView:
    """A player of a video when it asks for a segment, as an adaptation sees it."""

    @property
    def now(self) -> float:
        """Virtual time in seconds."""
    @property
    def bits(self) -> tuple[float, ...]:
        """Size of the next segment in bits, by bitrate."""
    @property
    def buffer(self) -> float:
        """Length of the buffer's content in seconds."""
    @property
    def most_buffer(self) -> float:
        """How long the buffer may become, in seconds."""
    @property
    def last(self) -> int | None:
        """Number of the bitrate of the last segment; `None` before the first one."""

@final
class Download:
    """The download of a segment of a video, as an adaptation sees it: it has arrived or was abandoned."""

    @property
    def bytes(self) -> int:
        """The bytes of it that arrived: all, unless the player abandoned it."""
    @property
    def seconds(self) -> float:
        """Time from the request until they had arrived."""
    @property
    def is_replacement(self) -> bool:
        """Whether the player had the segment already, in another bitrate."""
    @property
    def throughput(self) -> float:
        """Bits per second over that time."""

@final
class Forecast:
    """A forecast for a path of a connection. It may be wrong."""

    @property
    def path(self) -> int:
        """The number of the path."""
    @property
    def at(self) -> float:
        """The time that rate and round-trip time are about, in seconds of virtual time."""
    @property
    def base_rtt(self) -> float | None:
        """Round-trip time without queues then, in seconds, if it can be told."""
    @property
    def bottleneck(self) -> int | None:
        """Rate of the narrowest link then, in bits per second, if it can be told."""
    @property
    def handover(self) -> tuple[float, float] | None:
        """Times at which the next handover, or the one under way, begins and at which packets go on."""

@final
class InterfaceForecast:
    """A forecast for the interface of a link, whether a path uses it or not. It may be wrong."""

    @property
    def link(self) -> str:
        """The name of the link."""
    @property
    def comes_up(self) -> float | None:
        """When the interface can be used again and has a carrier, in seconds of virtual time."""
    @property
    def goes_down(self) -> float | None:
        """When it cannot be used any more, or loses its carrier."""
    @property
    def handover(self) -> tuple[float, float] | None:
        """Times at which the next handover, or the one under way, begins and at which packets go on."""

@final
class Emulation:
    """A scenario's network between real hosts; `leobench.emulation` makes these."""

    def __init__(
        self,
        scenario: Scenario,
        hosts: Sequence[tuple[str, Sequence[tuple[Sequence[str], int]], int]],
        flows: bool,
        tables_dir: str | PathLike[str] | None,
        qlog_dir: str | PathLike[str] | None,
        pcap_dir: str | PathLike[str] | None,
        snaplen: int | None,
        lateness: float,
        stall: float,
        spin: float,
        busy: float,
        waited: float,
        offloads: str,
    ) -> None: ...
    def run(
        self, seconds: float | None
    ) -> tuple[str, str, dict[str, tuple[float, float]], list[str], str]: ...
    def report_interfaces(self, news: int) -> None: ...
    def lead_to(self, first: str, length: int, host: int) -> None: ...
    def stop(self) -> None: ...

@final
class QuicSessions:
    """Tickets of earlier connections."""

    def __init__(self, early_data: bool) -> None: ...
    def with_early(self, early_data: bool) -> QuicSessions: ...

@final
class QuicConnection:
    """One end of a QUIC connection; `leobench.quic` has the interface for programs."""

    def __init__(
        self,
        is_client: bool,
        now: int,
        parameters: str,
        server_name: str,
        certificate: bytes,
        private_key: bytes,
        protocols: Sequence[bytes],
        streams: tuple[int, int],
        datagrams: bool,
        seed: int,
        sessions: QuicSessions | None,
    ) -> None: ...
    def receive(
        self, now: int, datagram: bytes, source: tuple[IPv4Address | IPv6Address, int] | None = None
    ) -> None: ...
    def transmit(self, now: int) -> list[bytes]: ...
    def transmit_to(self, now: int) -> list[tuple[bytes, tuple[str, int]]]: ...
    def timer(self, now: int) -> int | None: ...
    def on_timer(self, now: int) -> None: ...
    def next_event(self) -> tuple[str, tuple[Any, ...]] | None: ...
    def open(self, unidirectional: bool) -> int | None: ...
    def write(self, stream: int, data: bytes) -> bool: ...
    def finish(self, stream: int) -> bool: ...
    def reset(self, stream: int, code: int) -> bool: ...
    def stop(self, now: int, stream: int, code: int) -> bool: ...
    def send_datagram(self, data: bytes) -> int | None: ...
    def largest_datagram(self) -> int | None: ...
    def close(self, now: int, code: int, reason: str) -> None: ...
    def update_keys(self, now: int) -> bool: ...
    def early_data(self) -> bool | None: ...
    def is_closed(self) -> bool: ...

class HypatiaNetwork:
    def __init__(self, folder: str) -> None: ...
    @property
    def satellites(self) -> int: ...
    @property
    def stations(self) -> list[str]: ...
    def changes(self) -> list[tuple[int, str, list[tuple[int, int, int | None]]]]: ...
    def longest_m(self, one: int, other: int) -> float: ...
    def positions(self, wanted: Sequence[tuple[int, int]]) -> list[tuple[float, float, float]]: ...

def preset(name: str) -> list[tuple[str, int, float, float, list[float]]]: ...
def read_toml(file: str, text: str) -> dict[str, Any]: ...
def notices(scenario: Scenario) -> list[tuple[str, str, str]]: ...
def schema() -> str: ...
def summary_schema() -> str: ...
def shipped_fits() -> list[str]: ...
def read_fit(place: str) -> str: ...
def kinds(kind: str) -> list[tuple[str, str]]: ...
def kind_schema(kind: str) -> tuple[str, str]: ...
def refused(kind: str) -> list[tuple[str, str]]: ...
def orbit(scenario: Scenario, interval_s: float) -> str | None: ...
def scene(scenario: Scenario, interval_s: float) -> str | None: ...
def trajectories(scenario: Scenario, interval_s: float, names: list[str]) -> str | None: ...
def places_below(scenario: Scenario, at_s: float) -> str | None: ...
def constellation_warnings(scenario: Scenario) -> list[str]: ...
def run(
    scenario: Scenario,
    tables_dir: str | PathLike[str] | None = ...,
    qlog_dir: str | PathLike[str] | None = ...,
    pcap_dir: str | PathLike[str] | None = ...,
    snaplen: int | None = ...,
    progress: Callable[[float, float, int], object] | None = ...,
) -> tuple[str, dict[str, bytes], dict[str, tuple[float, float]], list[str]]: ...
def check_kernel(scenario: Scenario) -> None: ...
def places(
    scenario: Scenario,
) -> list[tuple[str, list[str], list[tuple[str, list[str], int]]]]: ...
