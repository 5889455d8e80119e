"""Hosts that move: addresses that come and go with their links, as programs learn of them from the kernel."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from leobench.emulation import hosts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench._core import Emulation


def follow(emulation: Emulation, known: Sequence[hosts.Host], made: Mapping[str, hosts.Made]) -> None:
    """Changes the devices of hosts that move when the network does, in a thread, until that ends."""
    places = {
        interface.addresses[0]: (host, number)
        for host in known
        for number, interface in enumerate(host.interfaces)
        if host.moves
    }
    news, tell = os.pipe()
    emulation.report_interfaces(tell)
    os.close(tell)

    def work() -> None:
        with os.fdopen(news, encoding="ascii") as lines:
            for line in lines:
                address, state = line.split()
                if address in places:
                    host, number = places[address]
                    made[host.name].enter()
                    hosts.change(host, number, up=state == "up")

    threading.Thread(target=work, daemon=True).start()
