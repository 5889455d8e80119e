"""Random plans of meetings of leobench's QUIC with aioquic, drawn from a seed."""

from __future__ import annotations

import datetime as dt
import functools
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

if TYPE_CHECKING:
    from aioquic.tls import SessionTicket

    from leobench.quic import Sessions

MS = 1_000_000
SECOND = 1_000 * MS
OWN, AIO = 0, 1
NAMES = ("leobench", "aioquic")
HOST = "meeting.example"

Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True)
class Identity:
    """A server's certificate and its key."""

    certificate: x509.Certificate
    key: Key

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def key_der(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


@functools.cache
def identity(kind: str, names: int) -> Identity:
    """A self-signed certificate; with many names it exceeds what a server may send to an unproven address."""
    key: Key
    match kind:
        case "ecdsa":
            key = ec.generate_private_key(ec.SECP256R1())
        case "ed25519":
            key = ed25519.Ed25519PrivateKey.generate()
        case _:
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    hosts = [HOST, *(f"{number}.{HOST}" for number in range(names))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), critical=False)
        .sign(key, None if kind == "ed25519" else hashes.SHA256())
    )
    return Identity(certificate, key)


@dataclass(frozen=True)
class Way:
    """One way of a stream."""

    data: bytes = field(repr=False)
    # The sender abandons it when so much is written, after a while.
    reset_at: tuple[int, int] | None
    # The receiver wants no more when it has read so much.
    stop_at: int | None


@dataclass(frozen=True)
class Trouble:
    """Probabilities with which the link damages, repeats, delays or drops a datagram."""

    lost: float = 0.0
    repeated: float = 0.0
    damaged: float = 0.0
    late: float = 0.0
    by: int = 0


@dataclass
class Tickets:
    """Those of the ends' earlier meetings."""

    own: Sessions
    aioquic: dict[bytes, SessionTicket] = field(default_factory=dict)
    # The last one that an aioquic client was sent.
    last: SessionTicket | None = None
    # Whether a server accepts 0-RTT data.
    accepts: bool = True


@dataclass(frozen=True)
class Plan:
    """The course of a meeting: settings of both ends, their streams, and how it ends."""

    seed: int
    own_is_client: bool
    identity: tuple[str, int]
    delay: int
    trouble: tuple[Trouble, Trouble]
    stream_window: tuple[int | None, int]
    connection_window: tuple[int | None, int]
    allowed: tuple[int, int]
    idle: tuple[int | None, int]
    payload: tuple[int, int]
    # By the end that opens them, bidirectional and unidirectional ones: the way there and the way back.
    streams: tuple[tuple[list[tuple[Way, Way]], list[tuple[Way, Way]]], ...]
    key_updates: tuple[list[int], list[int]]
    # Unreliable datagrams: when to send them, and what.
    datagrams: tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]
    retry: bool
    # The end that closes, when unless when all is done, the code and the reason; or nobody does.
    close: tuple[int, int | None, int, str] | None
    tickets: Tickets | None = None

    def opener(self, stream: int) -> int:
        return OWN if (stream & 1 == 0) == self.own_is_client else AIO

    def way(self, sender: int, stream: int) -> Way:
        opener = self.opener(stream)
        return self.streams[opener][stream >> 1 & 1][stream >> 2][int(sender != opener)]

    def code(self, stream: int, *, stop: bool) -> int:
        return Random(f"{self.seed} {stream} {stop}").getrandbits(62)  # noqa: S311


def draw_way(random: Random, most: int) -> Way:
    size = 0 if random.random() < 0.05 else random.randint(1, most)
    reset_at = (random.randint(0, size), random.randint(0, 200) * MS) if random.random() < 0.15 else None
    stop_at = random.randint(1, size) if size > 0 and random.random() < 0.15 else None
    return Way(random.randbytes(size), reset_at, stop_at)


def draw_trouble(random: Random) -> Trouble:
    if random.random() < 0.2:
        return Trouble()

    def share(chance: float, most: float) -> float:
        return random.uniform(0, most) if random.random() < chance else 0.0

    return Trouble(
        share(0.6, 0.15), share(0.4, 0.15), share(0.4, 0.1), share(0.5, 0.3), random.randint(1, 60) * MS
    )


def draw_datagrams(random: Random) -> list[tuple[int, bytes]]:
    count = random.randint(1, 20) if random.random() < 0.4 else 0
    # Long enough that no two are alike.
    drawn = [
        (random.randint(0, 1_500) * MS, random.randbytes(random.randint(8, 1_100))) for _ in range(count)
    ]
    return sorted(drawn)


def draw(seed: int, size: int) -> Plan:
    """A plan in which the streams have about `size` bytes together each way."""
    random = Random(seed)  # noqa: S311
    many = random.random() < 0.15
    count = 64 if many else random.randint(1, 10)
    most = max(1, size // count)

    def ways(least: int) -> list[tuple[Way, Way]]:
        return [(draw_way(random, most), draw_way(random, most)) for _ in range(random.randint(least, count))]

    def window(none: int | None) -> int | None:
        return random.choice([random.randint(1_000, 4_000), random.randint(4_000, 100_000), none, none])

    huge = 1 << 40
    trouble = (draw_trouble(random), draw_trouble(random))
    updater = random.choice([OWN, AIO, None])
    # aioquic 1.7.2 drops its old keys when it starts an update, against RFC 9001 section 6.5: it understands
    # nothing until the peer has heard of the update, and may have nothing to tell it again.
    if updater == AIO and trouble[AIO].lost + trouble[AIO].damaged > 0:
        updater = OWN
    updates: tuple[list[int], list[int]] = ([], [])
    if updater is not None:
        updates[updater].append(random.randint(0, 1_500) * MS)
    close = None
    if random.random() < 0.75:
        at = random.randint(0, 1_500) * MS if random.random() < 0.3 else None
        close = (random.choice([OWN, AIO]), at, random.getrandbits(62), "x" * random.randint(0, 60))
    own_windows = [window(None), window(None)]
    aio_windows = [window(huge) or huge, window(huge) or huge]
    return Plan(
        seed=seed,
        own_is_client=random.random() < 0.5,
        identity=(random.choice(["ecdsa", "ed25519", "rsa"]), random.choice([0, 0, 200])),
        delay=random.randint(1, 100) * MS,
        trouble=trouble,
        stream_window=(own_windows[0], aio_windows[0]),
        connection_window=(own_windows[1], aio_windows[1]),
        allowed=(random.randint(1, 100), random.randint(1, 100)),
        idle=(random.choice([None, random.randint(8, 40) * SECOND]), random.randint(8, 40) * SECOND),
        payload=(random.randint(1_200, 1_500), random.randint(1_200, 1_500)),
        streams=tuple((ways(0), ways(64 if many else 0)) for _ in NAMES),
        key_updates=updates,
        datagrams=(draw_datagrams(random), draw_datagrams(random)),
        retry=random.random() < 0.3,
        close=close,
    )
