"""The answers of a dish: its messages, filled from the simulated state."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench import __version__

if TYPE_CHECKING:
    from leobench.emulation.dish.measure import History
    from leobench.emulation.dish.obstructions import Map
    from leobench.emulation.dish.protocol import Protocol
    from leobench.emulation.dish.sky import Outage, Sky

# Between Unix time, which leaves out leap seconds, and GPS time, since 2017: 1980-01-06 and 18 leap seconds.
_GPS_EPOCH_S = 315_964_800 - 18


@dataclass(frozen=True)
class Place:
    """The terminal of a dish.

    Attributes:
        name: Its name in the scenario.
        map: Its obstructions.
        boresight: Azimuth and elevation of a tilted dish, in degrees.
    """

    name: str
    map: Map
    boresight: tuple[float, float] | None


class Answers:
    """The messages of a dish, each as of now."""

    def __init__(self, protocol: Protocol, place: Place | None, sky: Sky, history: History) -> None:
        self._protocol, self._place, self._sky, self._history = protocol, place, sky, history
        # When the network started, by the clock that only goes forward.
        self._started: float | None = None

    def start(self, at: float) -> None:
        """Notes when the network started."""
        self._started = at

    def device_info(self) -> Any:
        """The identity of the dish."""
        name = self._place.name if self._place is not None else "chain"
        return self._protocol["DeviceInfo"](
            id=f"leobench-{name}", hardware_version="leobench", software_version=__version__
        )

    def status(self) -> Any:
        """The state of this moment."""
        now = self._now()
        status = self._protocol["DishGetStatusResponse"](device_info=self.device_info())
        status.device_state.uptime_s = int(now)
        # All alerts are off: nothing that they are about is simulated.
        status.alerts.SetInParent()
        if (latest := self._history.latest()) is not None:
            status.pop_ping_drop_rate = latest.drop_rate
            status.pop_ping_latency_ms = latest.latency_ms
            status.downlink_throughput_bps = latest.down_bps
            status.uplink_throughput_bps = latest.up_bps
        if self._place is not None:
            status.obstruction_stats.fraction_obstructed = self._place.map.hidden_share
            status.obstruction_stats.patches_valid = self._place.map.used
            status.obstruction_stats.valid_s = now
            if self._place.boresight is not None:
                status.boresight_azimuth_deg, status.boresight_elevation_deg = self._place.boresight
        if (outage := self._sky.outage(now)) is not None:
            self._fill(status.outage, outage, now)
            if outage.end is not None:
                status.seconds_to_first_nonempty_slot = outage.end - now
        return status

    def history(self) -> Any:
        """The last seconds, and the outages in them."""
        now = self._now()
        history = self._protocol["DishGetHistoryResponse"]()
        history.current, ring = self._history.ring()
        history.pop_ping_drop_rate.extend(each.drop_rate for each in ring)
        history.pop_ping_latency_ms.extend(each.latency_ms for each in ring)
        history.downlink_throughput_bps.extend(each.down_bps for each in ring)
        history.uplink_throughput_bps.extend(each.up_bps for each in ring)
        for outage in self._sky.outages(now):
            if outage.end is None or outage.end > now - len(ring):
                self._fill(history.outages.add(), outage, now)
        return history

    def obstruction_map(self) -> Any | None:
        """The map of obstructions, of a terminal that has a place."""
        if self._place is None:
            return None
        known = self._place.map
        return self._protocol["DishGetObstructionMapResponse"](
            num_rows=known.size,
            num_cols=known.size,
            snr=known.values,
            min_elevation_deg=known.lowest_deg,
            max_theta_deg=90 - known.lowest_deg,
            map_reference_frame="FRAME_EARTH",
        )

    def _now(self) -> float:
        """Seconds of the run."""
        return 0.0 if self._started is None else time.monotonic() - self._started

    def _fill(self, message: Any, outage: Outage, now: float) -> None:
        """Describes an outage, with its length so far if it goes on."""
        ended = now if outage.end is None else min(outage.end, now)
        began = time.time() - (now - outage.begin) - _GPS_EPOCH_S
        message.cause = outage.cause.value
        message.start_timestamp_ns = int(began * 1e9)
        message.duration_ns = int((ended - outage.begin) * 1e9)
        message.did_switch = outage.did_switch and ended == outage.end
