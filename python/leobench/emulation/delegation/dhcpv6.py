"""The server's half of prefix delegation by DHCPv6 (RFC 8415): messages in, answers out, no socket, no clock.

`Delegator.answer` reads a message (`_Message.read`) and calls the method for its type, which finds out which
prefix is whose (`_reserve`). Bindings last as long as the delegator: nobody else asks for their prefixes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv6Address, IPv6Network
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# RFC 8415 section 7.1 and 7.2: where servers listen, and where clients do.
SERVERS = IPv6Address("ff02::1:2")
SERVER_PORT, CLIENT_PORT = 547, 546


class Kind(IntEnum):
    """Types of messages (section 7.3)."""

    SOLICIT = 1
    ADVERTISE = 2
    REQUEST = 3
    CONFIRM = 4
    RENEW = 5
    REBIND = 6
    REPLY = 7
    RELEASE = 8
    DECLINE = 9
    INFORMATION_REQUEST = 11


class Code(IntEnum):
    """Codes of options (section 21)."""

    CLIENT_ID = 1
    SERVER_ID = 2
    IA_NA = 3
    IA_TA = 4
    STATUS = 13
    RAPID_COMMIT = 14
    IA_PD = 25
    IA_PREFIX = 26


class Status(IntEnum):
    """Status codes (section 21.13)."""

    SUCCESS = 0
    NO_ADDRESSES = 2
    NO_BINDING = 3
    USE_MULTICAST = 5
    NO_PREFIX = 6


@dataclass(frozen=True)
class Lifetimes:
    """Lifetimes of a prefix, in seconds."""

    preferred: int = 3_600
    valid: int = 7_200

    @property
    def renewals(self) -> tuple[int, int]:
        """T1 and T2: 0.5 and 0.8 of the preferred lifetime (section 21.21)."""
        return self.preferred // 2, self.preferred * 4 // 5


_HEAD = struct.Struct("!HH")
_IA = struct.Struct("!III")
_PREFIX = struct.Struct("!IIB16s")
# Messages that a server discards unless they come by multicast (section 18.4).
_MULTICAST_ONLY = {Kind.SOLICIT, Kind.CONFIRM, Kind.REBIND, Kind.INFORMATION_REQUEST}
# Messages that have to name a server, and those that must not (section 16).
_FOR_ONE = {Kind.REQUEST, Kind.RENEW, Kind.RELEASE, Kind.DECLINE}
_FOR_ALL = {Kind.SOLICIT, Kind.CONFIRM, Kind.REBIND}


def option(code: Code, body: bytes) -> bytes:
    """An option."""
    return _HEAD.pack(code, len(body)) + body


def status(code: Status) -> bytes:
    """The status option without a text."""
    return option(Code.STATUS, struct.pack("!H", code))


def prefix_option(prefix: IPv6Network, preferred: int, valid: int) -> bytes:
    """The option of a prefix (section 21.22)."""
    return option(
        Code.IA_PREFIX, _PREFIX.pack(preferred, valid, prefix.prefixlen, prefix.network_address.packed)
    )


def read_options(data: bytes) -> list[tuple[int, bytes]]:
    """The options of a message or of an option, each with its code.

    Raises:
        ValueError: If they end too early.
    """
    options = []
    while data:
        if len(data) < _HEAD.size:
            raise ValueError("an option without a length")
        code, length = _HEAD.unpack_from(data)
        body, data = data[_HEAD.size : _HEAD.size + length], data[_HEAD.size + length :]
        if len(body) < length:
            raise ValueError("an option that is cut off")
        options.append((code, body))
    return options


@dataclass(frozen=True)
class _Association:
    """An identity association for prefixes: its identifier, and the prefixes that the client names."""

    identifier: int
    prefixes: tuple[IPv6Network, ...]

    @classmethod
    def read(cls, body: bytes) -> _Association:
        """One from the body of an option."""
        if len(body) < _IA.size:
            raise ValueError("an association that is cut off")
        prefixes = []
        for code, held in read_options(body[_IA.size :]):
            if code == Code.IA_PREFIX:
                if len(held) < _PREFIX.size:
                    raise ValueError("a prefix that is cut off")
                *_, length, address = _PREFIX.unpack_from(held)
                # A client that wants a length but no address in particular names `::`.
                prefixes.append(IPv6Network((address, length), strict=False))
        return cls(_IA.unpack_from(body)[0], tuple(prefixes))

    def answered(self, options: bytes, renewals: tuple[int, int] = (0, 0)) -> bytes:
        """The same with other contents, for the client."""
        return option(Code.IA_PD, _IA.pack(self.identifier, *renewals) + options)


@dataclass(frozen=True)
class _Message:
    """A message of a client."""

    kind: Kind
    transaction: bytes
    options: tuple[tuple[int, bytes], ...]

    @classmethod
    def read(cls, data: bytes) -> _Message:
        """One from its bytes.

        Raises:
            ValueError: If it is malformed, or none of a client.
        """
        if len(data) < 4:
            raise ValueError("a message that is cut off")
        return cls(Kind(data[0]), data[1:4], tuple(read_options(data[4:])))

    def find(self, code: Code) -> bytes | None:
        """The body of its first option of a code."""
        return next((body for its, body in self.options if its == code), None)

    def associations(self) -> list[_Association]:
        """Its associations for prefixes."""
        return [_Association.read(body) for code, body in self.options if code == Code.IA_PD]


class Delegator:
    """A server that delegates the prefixes of a pool, in order, one for each association of a client."""

    def __init__(
        self, pool: IPv6Network, length: int, identifier: bytes, lifetimes: Lifetimes | None = None
    ) -> None:
        """Makes one.

        Args:
            pool: The prefixes together.
            length: The length of each.
            identifier: The server's DUID.
            lifetimes: Those of prefixes.
        """
        self._pool, self._length, self._identifier = pool, length, identifier
        self._lifetimes = lifetimes or Lifetimes()
        self._reserved: dict[tuple[bytes, int], IPv6Network] = {}
        self._bound: set[tuple[bytes, int]] = set()

    def answer(self, data: bytes, *, by_multicast: bool = True) -> bytes | None:
        """The answer to a message; `None` for one that a server has to discard."""
        try:
            message = _Message.read(data)
            if not self._is_for_this(message):
                return None
            if by_multicast:
                return self._answer(message)
        except ValueError:
            return None
        return None if message.kind in _MULTICAST_ONLY else self._reply(message, status(Status.USE_MULTICAST))

    def _answer(self, message: _Message) -> bytes | None:
        match message.kind:
            case Kind.SOLICIT:
                return self._offer(message)
            case Kind.REQUEST:
                return self._reply(message, self._bind(message) + _no_addresses(message))
            case Kind.RENEW | Kind.REBIND:
                return self._extend(message)
            case Kind.RELEASE | Kind.DECLINE:
                return self._reply(message, status(Status.SUCCESS) + self._release(message))
            case Kind.INFORMATION_REQUEST:
                return self._reply(message, b"")
        return None  # a Confirm without addresses has no answer (section 18.3.3)

    def _is_for_this(self, message: _Message) -> bool:
        """Whether its identifiers are as section 16 demands."""
        server = message.find(Code.SERVER_ID)
        if message.kind is Kind.INFORMATION_REQUEST:
            return server in (None, self._identifier) and not message.associations()
        if message.find(Code.CLIENT_ID) is None:
            return False
        if message.kind in _FOR_ONE:
            return server == self._identifier
        return message.kind in _FOR_ALL and server is None

    def _offer(self, message: _Message) -> bytes:
        """An Advertise, or at once the Reply that a client allows (section 18.3.1)."""
        if message.find(Code.RAPID_COMMIT) is not None:
            done = option(Code.RAPID_COMMIT, b"")
            return self._reply(message, done + self._bind(message) + _no_addresses(message))
        client = message.find(Code.CLIENT_ID) or b""
        offered = b"".join(
            self._contents(each, self._reserve(client, each)) for each in message.associations()
        )
        return self._reply(message, offered + _no_addresses(message), Kind.ADVERTISE)

    def _bind(self, message: _Message) -> bytes:
        client = message.find(Code.CLIENT_ID) or b""
        answered = b""
        for each in message.associations():
            prefix = self._reserve(client, each)
            if prefix is not None:
                self._bound.add((client, each.identifier))
            answered += self._contents(each, prefix)
        return answered

    def _extend(self, message: _Message) -> bytes:
        """The answer to a Renew or a Rebind (sections 18.3.4 and 18.3.5)."""
        client = message.find(Code.CLIENT_ID) or b""
        answered = b""
        for each in message.associations():
            if (client, each.identifier) in self._bound:
                answered += self._contents(each, self._reserved[client, each.identifier])
            elif message.kind is Kind.RENEW:
                answered += each.answered(status(Status.NO_BINDING))
            else:
                answered += each.answered(_withdrawn(each.prefixes))
        return self._reply(message, answered + _no_addresses(message))

    def _release(self, message: _Message) -> bytes:
        """Takes prefixes back; the associations that had none (section 18.3.7)."""
        client = message.find(Code.CLIENT_ID) or b""
        unknown = b""
        for each in message.associations():
            key = (client, each.identifier)
            if key in self._bound:
                self._bound.remove(key)
                del self._reserved[key]
            else:
                unknown += each.answered(status(Status.NO_BINDING))
        return unknown

    def _reserve(self, client: bytes, association: _Association) -> IPv6Network | None:
        """The prefix of an association: the one that it has had, or the first that is free."""
        key = (client, association.identifier)
        if key not in self._reserved:
            taken = set(self._reserved.values())
            free = next((each for each in self._prefixes() if each not in taken), None)
            if free is None:
                return None
            self._reserved[key] = free
        return self._reserved[key]

    def _prefixes(self) -> Iterator[IPv6Network]:
        return self._pool.subnets(new_prefix=self._length)

    def _contents(self, association: _Association, prefix: IPv6Network | None) -> bytes:
        """An association with its prefix, and without others that the client names."""
        if prefix is None:
            return association.answered(status(Status.NO_PREFIX))
        lifetimes = self._lifetimes
        held = prefix_option(prefix, lifetimes.preferred, lifetimes.valid)
        others = (each for each in association.prefixes if each != prefix and not _is_hint(each))
        return association.answered(held + _withdrawn(others), lifetimes.renewals)

    def _reply(self, message: _Message, options: bytes, kind: Kind = Kind.REPLY) -> bytes:
        client = message.find(Code.CLIENT_ID)
        named = b"" if client is None else option(Code.CLIENT_ID, client)
        return (
            bytes([kind]) + message.transaction + named + option(Code.SERVER_ID, self._identifier) + options
        )


def _is_hint(prefix: IPv6Network) -> bool:
    return prefix.network_address == IPv6Address(0)


def _withdrawn(prefixes: Iterable[IPv6Network]) -> bytes:
    """Prefixes that a client must not use any more: their lifetimes are over."""
    return b"".join(prefix_option(each, 0, 0) for each in islice(prefixes, _MOST_WITHDRAWN))


# An answer stays shorter than a packet, whatever a client names.
_MOST_WITHDRAWN = 8


def _no_addresses(message: _Message) -> bytes:
    """Associations for addresses, of which there are none (section 18.3.2)."""
    refused = b""
    for code, body in message.options:
        if code == Code.IA_NA and len(body) >= _IA.size:
            refused += option(Code.IA_NA, body[:4] + struct.pack("!II", 0, 0) + status(Status.NO_ADDRESSES))
        elif code == Code.IA_TA and len(body) >= 4:
            refused += option(Code.IA_TA, body[:4] + status(Status.NO_ADDRESSES))
    return refused
