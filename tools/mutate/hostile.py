"""Hostile stream schedulers: what a plug-in can return, raise or be, short of a loop of its own."""

from __future__ import annotations

# What `schedule` does, by name; `s` is the first stream that waits, and `room` the bytes of the packet.
BODIES = {
    "endless pairs of nothing": "return iter(lambda: (s, 0), None)",
    "endless generator of nothing": "\n        while True:\n            yield (s, 0)",
    "endless generator of bytes": "\n        while True:\n            yield (s, 1)",
    "endless repeat in C": "return itertools.repeat((s, 0))",
    "endless repeat of bytes in C": "return itertools.repeat((s, 1))",
    "endless cycle of strangers": "return itertools.cycle([(s, 0), 'x'])",
    "a long list": "return [(s, 0)] * 5_000_000",
    "a huge number": "return [(s, 10**5000)]",
    "a huge stream": "return [(10**5000, 1)]",
    "a large number": "return [(s, 2**64 - 1), (s, 2**64 - 1)]",
    "a negative number": "return [(s, -1)]",
    "a fraction": "return [(s, 1.5)]",
    "not a number": "return [(s, float('nan'))]",
    "a boolean": "return [(s, True)]",
    "a boolean as a stream": "return [(False, 1)]",
    "a length that lies": (
        "return [type('L', (), {'__len__': lambda self: 2, '__getitem__': lambda self, i: 1/0})()]"
    ),
    "a length below zero": "return [type('L', (), {'__len__': lambda self: -5})()]",
    "a huge length": "return [type('L', (), {'__len__': lambda self: 10**30})()]",
    "raises in __iter__": "return type('I', (), {'__iter__': lambda self: 1/0})()",
    "raises in __next__": (
        "return type('I', (), {'__iter__': lambda self: self, '__next__': lambda self: 1/0})()"
    ),
    "a generator that raises": "\n        yield (s, 1)\n        raise ValueError('late')",
    "raises a long text": "raise ValueError('x' * 10_000_000)",
    "raises control characters": "raise ValueError('a\\x1b[2Jb\\x00c')",
    "raises what cannot be shown": "raise type('E', (Exception,), {'__str__': lambda self: 1/0})()",
    "raises from deep": "return self.schedule(now, streams, room)",
    "no pairs": "return [s, s]",
    "text": "return 'ab'",
    "bytes": "return b'ab'",
    "a dictionary": "return {s: 1}",
    "a set in itself": "a = []; a.append(a); return a",
    "a repr that raises": "return [type('R', (), {'__repr__': lambda self: 1/0})()]",
    "a long repr": "return [type('R', (), {'__repr__': lambda self: 'x\\n' * 5_000_000})()]",
    "a repr of control characters": "return [type('R', (), {'__repr__': lambda self: '\\x1b[2J\\x00'})()]",
    "an index that raises": "return [(s, type('N', (), {'__index__': lambda self: 1/0})())]",
    "an index that is none": "return [(s, type('N', (), {'__index__': lambda self: 'x'})())]",
    "a repr that is none": "return [type('R', (), {'__repr__': lambda self: 5})()]",
    "leaves the program": "raise SystemExit(0)",
    "no memory": "return [bytes(10**15)]",
    "itself": "return self",
    "a class": "return int",
}

_MODULE = """\
import itertools


class Hostile:
    fills_packets = {fills}

    def __init__(self, streams, random):
        pass

    def schedule(self, now, streams, room):
        s = streams[0]
        {body}
"""

SCENARIO = """\
name = "hostile"
duration = "1 s"
nodes = { client = {}, server = {} }
links = { wire = { between = ["client", "server"], rate = "5 Mbps", delay = "10 ms" } }

[flows.main]
transport = { kind = "quic", scheduler = { python = "hostile:Hostile" } }
from = "client"
to = "server"
source = { kind = "cbr", rate = "1 Mbps", size = "1 kB" }
"""


def module(name: str) -> str:
    """The module whose class does what is said of it."""
    return _MODULE.format(body=BODIES[name], fills="True")
