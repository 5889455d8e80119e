"""leobench's QUIC and aioquic follow each other's client when a NAT gives it another address."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.quic.rebinding import RebindingMeeting, plan_of


def hold(seeds: range, *, own_is_client: bool) -> None:
    """Holds the meetings with these seeds, every second one through losses; a failure names the seed."""
    tally: Counter[str] = Counter()
    for seed in seeds:
        plan = plan_of(seed, own_is_client=own_is_client, lost=0.04 * (seed % 2))
        try:
            RebindingMeeting(plan, tally).hold()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}"[:2_000]) from error
    needed = ["datagrams lost", *(f"rebindings: {what}" for what in ("port", "address", "both"))]
    needed += [f"datagrams to an address of {when}" for when in ("before", "later")]
    for what in needed:
        assert tally[what] > 0, f"no meeting had: {what}"


@pytest.mark.parametrize("own_is_client", [True, False], ids=["aioquic-follows", "own-follows"])
def test_a_server_follows_its_client(own_is_client: bool) -> None:
    hold(range(6), own_is_client=own_is_client)


@pytest.mark.slow
@pytest.mark.parametrize("own_is_client", [True, False], ids=["aioquic-follows", "own-follows"])
def test_a_server_follows_its_client_150_times(own_is_client: bool) -> None:
    hold(range(100, 250), own_is_client=own_is_client)
