"""The summary of a run: what `summary.json` holds, as classes.

Every class is a dictionary with the keys of the file; the documented ones are attributes, too. What was not
measured is `None`.
"""

# Written by tools/summary_types.py from the structs of crates/sim/src/summary; change those instead.

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import ClassVar

from leobench.records import Named, Record

Parts = Mapping[str, type[Record]]
Absent = Mapping[str, Callable[[], object]]

__all__ = [
    "AgeSummary",
    "AudienceSummary",
    "CallSummary",
    "CancelledSummary",
    "CompetitionSummary",
    "CompetitorSummary",
    "DelaySummary",
    "FlowSummary",
    "HandoverSummary",
    "HandoversSummary",
    "HopSummary",
    "HopsSummary",
    "LinkSummary",
    "LossSummary",
    "LossesSummary",
    "ObjectSummary",
    "OrbitSummary",
    "PageSummary",
    "PairSummary",
    "PathSummary",
    "PictureSummary",
    "QueueDelaySummary",
    "RttSummary",
    "SatelliteSummary",
    "SlowdownSummary",
    "Spread",
    "StreamSummary",
    "Summary",
    "TrafficSummary",
    "TransportShareSummary",
    "VideoSummary",
    "VoiceSummary",
    "WaitSummary",
]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class DelaySummary(Record):
    """Delays in milliseconds, quantiles within 0.1 % (exact up to 1,000); `None` without any message.

    Attributes:
        mean: Mean. [ms]
        p50: Median. [ms]
        p95: 95th percentile. [ms]
        p99: 99th percentile. [ms]
        max: Maximum. [ms]
    """

    __slots__ = ()

    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class RttSummary(Record):
    """Round-trip times in milliseconds, quantiles within 0.1 % (exact up to 1,000); `None` without any.

    Attributes:
        mean: Mean. [ms]
        p50: Median. [ms]
        p95: 95th percentile. [ms]
    """

    __slots__ = ()

    mean: float | None
    p50: float | None
    p95: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LossesSummary(Record):
    """Packets of the sender of a flow by what became of them, and what it concluded.

    Attributes:
        noticed_packets: Dropped, and declared lost. [packets]
        unnoticed_packets: Dropped, and never declared lost. [packets]
        spurious_packets: Declared lost, but not dropped. [packets]
    """

    __slots__ = ()

    noticed_packets: int
    unnoticed_packets: int
    spurious_packets: int


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Spread(Record):
    """Mean and maximum over handovers, in the unit of the key that has them; `None` without a value.

    Attributes:
        mean: Mean.
        max: Maximum.
    """

    __slots__ = ()

    mean: float | None
    max: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class HandoverSummary(Record):
    """A handover as a flow noticed it.

    Attributes:
        name: Table and number of the handover, such as `backhaul-0`.
        path: The path whose satellite it changed, where the flow has several. Left out of the file where it
            does not apply.
        at_s: When it began, in seconds from the start of the run. [s]
        outage_ms: Longest gap between deliveries around it; `None` if the flow had delivered everything. [ms]
        recovery_ms: Time from its beginning until the flow reaches 90 % of its later rate; `None` if it does
            not. [ms]
        no_way_ms: Until packets have a way again. [ms]
        detection_ms: From there until an end notices: it moves to another address, gives its connection up,
            or declares lost or repeats a packet that the handover took. Zero if nothing was lost and no
            address changed. [ms]
        validation_ms: From there until the end that sends data may send it: the address of its peer is
            validated, or the other connection is open. Zero if it never had to wait. [ms]
        retransmission_ms: From there until all data is delivered that had been sent when the last packet was
            lost to the handover. Zero if none was. [ms]
        slow_start_ms: From there until the flow reaches 90 % of its later rate, whatever phase its controller
            is in. [ms]
        dip_depth: Share of the rate that is missing at the lowest point. [ratio]
        dip_ms: How long the rate is below 90 %; `None` if that does not end. [ms]
        lost_bytes: Bytes of the sender's packets that the network dropped because of it. [bytes]
        retransmitted_bytes: Bytes that the sender sent again up to the next handover, but for what the
            network dropped for other causes. [bytes]
        retransmitted_in_vain_bytes: Those of them that the network had not dropped. [bytes]
    """

    __slots__ = ()

    _absent: ClassVar[Absent] = {"path": NoneType}
    name: str
    path: int | None
    at_s: float
    outage_ms: float | None
    recovery_ms: float | None
    no_way_ms: float | None
    detection_ms: float | None
    validation_ms: float | None
    retransmission_ms: float | None
    slow_start_ms: float | None
    dip_depth: float | None
    dip_ms: float | None
    lost_bytes: int
    retransmitted_bytes: int
    retransmitted_in_vain_bytes: int


@dataclass(frozen=True, init=False, eq=False, repr=False)
class HandoversSummary(Record):
    """The handovers that concerned a flow, in numbers.

    Attributes:
        count: How many there were after the warm-up. [count]
        recovered: After how many of them the flow reached 90 % of its later rate. [count]
        outage_ms: Longest gap between deliveries around each. [ms]
        recovery_ms: Time until 90 % of the later rate is reached. [ms]
        no_way_ms: Until packets have a way again. [ms]
        detection_ms: From there until an end notices: it moves to another address, gives its connection up,
            or declares lost or repeats a packet that the handover took. Zero if nothing was lost and no
            address changed. [ms]
        validation_ms: From there until the end that sends data may send it: the address of its peer is
            validated, or the other connection is open. Zero if it never had to wait. [ms]
        retransmission_ms: From there until all data is delivered that had been sent when the last packet was
            lost to the handover. Zero if none was. [ms]
        slow_start_ms: From there until the flow reaches 90 % of its later rate, whatever phase its controller
            is in. [ms]
        dip_depth: Share of the rate that is missing at the lowest point. [ratio]
        dip_ms: How long the rate is below 90 %. [ms]
        lost_bytes: Bytes of the sender's packets that the network dropped because of it. [bytes]
        retransmitted_bytes: Bytes that the sender sent again up to the next handover, but for what the
            network dropped for other causes. [bytes]
        retransmitted_in_vain_bytes: Those of them that the network had not dropped. [bytes]
        each: Each handover.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {
        "outage_ms": Spread,
        "recovery_ms": Spread,
        "no_way_ms": Spread,
        "detection_ms": Spread,
        "validation_ms": Spread,
        "retransmission_ms": Spread,
        "slow_start_ms": Spread,
        "dip_depth": Spread,
        "dip_ms": Spread,
        "lost_bytes": Spread,
        "retransmitted_bytes": Spread,
        "retransmitted_in_vain_bytes": Spread,
        "each": HandoverSummary,
    }
    count: int
    recovered: int
    outage_ms: Spread
    recovery_ms: Spread
    no_way_ms: Spread
    detection_ms: Spread
    validation_ms: Spread
    retransmission_ms: Spread
    slow_start_ms: Spread
    dip_depth: Spread
    dip_ms: Spread
    lost_bytes: Spread
    retransmitted_bytes: Spread
    retransmitted_in_vain_bytes: Spread
    each: Named[HandoverSummary]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LossSummary(Record):
    """The end of a connection before that of the run.

    Attributes:
        at_s: When, in seconds from the start of the run. [s]
        end: Which end lost it (first): `sender` or `receiver`.
        reason: Why, in the words of the stack.
    """

    __slots__ = ()

    at_s: float
    end: str
    reason: str


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ObjectSummary(Record):
    """An object of a page in numbers.

    Attributes:
        name: Name of the object and of its stream.
        requested_s: When the page asked for it, if it did. [s]
        first_byte_s: When its first byte had arrived, if it had. [s]
        delivered_s: When it had arrived, if it had. [s]
    """

    __slots__ = ()

    name: str
    requested_s: float | None
    first_byte_s: float | None
    delivered_s: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PageSummary(Record):
    """A page in numbers, all times in seconds from the start of its flow.

    Attributes:
        completion_s: How long the page took to load, from the start of its flow to the arrival of its last
            object; `None` if it never arrived whole. [s]
        first_byte_s: When the first byte of the object that was requested first had arrived, if it had. [s]
        byte_index_s: Mean time until a byte of the page had arrived: the integral over time of the share of
            its bytes that are missing (Bocchi et al. 2016); `None` if the page never arrived whole. [s]
        objects: Its objects.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"objects": ObjectSummary}
    completion_s: float | None
    first_byte_s: float | None
    byte_index_s: float | None
    objects: Named[ObjectSummary]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class VideoSummary(Record):
    """A video in numbers: what its viewer noticed.

    Attributes:
        startup_s: Time from the viewer's start until the first picture, in seconds; `None` if there was none.
            [s]
        stalls: How often pictures stood still after the first one. [stalls]
        stalled_s: How long they stood still in all, in seconds. [s]
        longest_stall_s: How long they stood still the longest time. [s]
        played_s: Content that was played up to the end of the run, in seconds. [s]
        segments: Segments that arrived. [segments]
        bitrate_bps: Their mean bitrate by length. [bit/s]
        switches: How often two in a row had different bitrates. [switches]
        replaced: Segments that took the place of others in the buffer, if the player replaces any. [segments]
            Left out of the file where it does not apply.
        abandoned: Downloads that were given up, if the player abandons any. [count] Left out of the file
            where it does not apply.
        latency_s: How far behind the event the viewer was while pictures moved, the mean in seconds; `None`
            if it was not live. [s]
        most_latency_s: The largest; `None` if it was not live. [s]
        quality_bps: Quality (Yin et al. 2015, equation 5): the mean bitrate, less its mean change between
            segments, less the highest bitrate for each second of start-up and stalls, by segment. [bit/s]
    """

    __slots__ = ()

    _absent: ClassVar[Absent] = {"replaced": NoneType, "abandoned": NoneType}
    startup_s: float | None
    stalls: int
    stalled_s: float
    longest_stall_s: float
    played_s: float
    segments: int
    bitrate_bps: float | None
    switches: int
    replaced: int | None
    abandoned: int | None
    latency_s: float | None
    most_latency_s: float | None
    quality_bps: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PictureSummary(Record):
    """The picture of a call.

    Attributes:
        frames: Frames made. [frames]
        skipped_frames: Frames that were not made as too many packets waited or were on the way. [frames]
        rendered_frames: Frames rendered. [frames]
        late_frames: Frames of them that were not complete when they were due. [frames]
        dropped_frames: Frames passed over: given up, or of no use without the frames before. [frames]
        key_requests: Key frames that the receiving end asked for. [count]
        startup_s: Time from the start of the call to the first picture; `None` if there was none. [s]
        freezes: Freezes: intervals between rendered frames, and from the last to the end of the call, of at
            least max(3 d, d + 150 ms), d the mean of the last 30 (`freezeCount` of webrtc-stats), in which
            the camera's interval stands for missing ones. [count]
        frozen_s: How long they took in all, in seconds (`totalFreezesDuration`); `None` if there was no
            picture. [s]
        longest_freeze_s: How long the longest took. [s]
        delay_ms: Times from the capture of a frame to its rendering. [ms]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"delay_ms": DelaySummary}
    frames: int
    skipped_frames: int
    rendered_frames: int
    late_frames: int
    dropped_frames: int
    key_requests: int
    startup_s: float | None
    freezes: int
    frozen_s: float | None
    longest_freeze_s: float
    delay_ms: DelaySummary


@dataclass(frozen=True, init=False, eq=False, repr=False)
class VoiceSummary(Record):
    """The voice of a call.

    Attributes:
        packets: Packets sent. [packets]
        due_packets: Packets that were due at the receiving end, whether they were there or not. [packets]
        missed_packets: Packets of them that were not there. [packets]
        late_packets: Packets of those that arrived later. [packets]
        mouth_to_ear_ms: Mouth-to-ear delays of the packets that were there. [ms]
        burst_ratio: Mean length of a run of missed packets over that of independent losses, at least 1.
            [ratio]
        rating: Rating R of the E-model (ITU-T G.107), up to 93; `None` if nothing was heard. [points]
        opinion_score: Mean opinion score of that rating, from 1 to 4.5. [points]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"mouth_to_ear_ms": DelaySummary}
    packets: int
    due_packets: int
    missed_packets: int
    late_packets: int
    mouth_to_ear_ms: DelaySummary
    burst_ratio: float
    rating: float | None
    opinion_score: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CallSummary(Record):
    """A call in numbers: what was seen and heard.

    Attributes:
        sent_bps: Bits of packets sent a second, with RTP headers, those sent again and parities; `None`
            before the call. [bit/s]
        received_bps: The same of packets that arrived. [bit/s]
        picture: Its picture, if there is one. Left out of the file where it does not apply.
        voice: Its voice, if there is one. Left out of the file where it does not apply.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"picture": PictureSummary, "voice": VoiceSummary}
    _absent: ClassVar[Absent] = {"picture": NoneType, "voice": NoneType}
    sent_bps: float | None
    received_bps: float | None
    picture: PictureSummary | None
    voice: VoiceSummary | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CancelledSummary(Record):
    """Messages that the sender cancelled because their deadline had passed.

    Those that arrived whole nevertheless do not count.

    Attributes:
        messages: How many. [messages]
        sent_bytes: Their bytes that had been sent in vain, retransmissions not included. [bytes]
        unsent_bytes: Their bytes that were never sent. [bytes]
        in_time_messages: Messages delivered in time, beside them. [messages]
    """

    __slots__ = ()

    messages: int
    sent_bytes: int
    unsent_bytes: int
    in_time_messages: int


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AgeSummary(Record):
    """Ages: time since the creation of the freshest message that arrived; `None` before the second.

    Attributes:
        mean: Mean over time, from the arrival of the first message to that of the last fresher one. [ms]
        mean_peak: Mean of the peaks, just before a fresher message arrives. [ms]
        max: Highest peak. [ms]
    """

    __slots__ = ()

    mean: float | None
    mean_peak: float | None
    max: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class StreamSummary(Record):
    """A stream in numbers, as a flow's.

    Attributes:
        name: Name of the stream.
        goodput_bps: Application bits delivered per second. [bit/s]
        messages: Messages created after the warm-up. [messages]
        undelivered_messages: Those of them that had not been delivered at the end. [messages]
        late_messages: Those that missed the stream's deadline, delivered or not; only where it has one.
            [messages] Left out of the file where it does not apply.
        cancelled: Messages that the sender cancelled; only where it does (`on_deadline = "cancel"`). Left out
            of the file where it does not apply.
        delay_ms: Their delays from creation to delivery. [ms]
        jitter_ms: Mean absolute difference of consecutive messages' delays. [ms]
        age_ms: How old the freshest data of the stream was at the receiving end; only where its source sends
            again and again. [ms] Left out of the file where it does not apply.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"cancelled": CancelledSummary, "delay_ms": DelaySummary, "age_ms": AgeSummary}
    _absent: ClassVar[Absent] = {"late_messages": NoneType, "cancelled": NoneType, "age_ms": NoneType}
    name: str
    goodput_bps: float | None
    messages: int
    undelivered_messages: int
    late_messages: int | None
    cancelled: CancelledSummary | None
    delay_ms: DelaySummary
    jitter_ms: float | None
    age_ms: AgeSummary | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PathSummary(Record):
    """A path in numbers.

    Attributes:
        path: Number of the path within its connection; of a page over HTTP/1.1, that of the connection.
        srtt_ms: Smoothed round-trip time at the end. [ms]
        cwnd_bytes: Congestion window at the end, if there have been several; zero on one that was abandoned.
            [bytes] Left out of the file where it does not apply.
        sent_bytes: Bytes sent on it, as payload of UDP or segments of TCP, if there have been several.
            [bytes] Left out of the file where it does not apply.
        reinjected_bytes: Application bytes sent on it while they were unacknowledged on another path, if the
            connection has had several; not counted as retransmitted. [bytes] Left out of the file where it
            does not apply.
        packet_delay_ms: One-way delays of its packets that arrived, from the end that sends the data, if
            there have been several. [ms] Left out of the file where it does not apply.
        sent_packets: Packets sent on it. [packets]
        lost_packets: Packets declared lost on it. [packets]
        retransmitted_packets: Packets on it that carried something sent before. [packets]
        retransmitted_bytes: Application bytes sent again on it. [bytes]
        congestion_events: Times that losses or ECN marks on it began a recovery, whatever the controller made
            of them. [count]
        timeouts: Probe timeouts on it, and TCP's retransmission timeouts. [count]
        spurious_losses: Packets declared lost on it whose first transmission had arrived. [packets]
        undos: Reductions of its window undone because the losses behind them proved spurious. [count]
        ecn_marks: Times that the sender learned of new congestion marks on it. [count]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"packet_delay_ms": DelaySummary}
    _absent: ClassVar[Absent] = {
        "cwnd_bytes": NoneType,
        "sent_bytes": NoneType,
        "reinjected_bytes": NoneType,
        "packet_delay_ms": NoneType,
    }
    path: int
    srtt_ms: float | None
    cwnd_bytes: int | None
    sent_bytes: int | None
    reinjected_bytes: int | None
    packet_delay_ms: DelaySummary | None
    sent_packets: int
    lost_packets: int
    retransmitted_packets: int
    retransmitted_bytes: int
    congestion_events: int
    timeouts: int
    spurious_losses: int
    undos: int
    ecn_marks: int


@dataclass(frozen=True, init=False, eq=False, repr=False)
class FlowSummary(Record):
    """A flow in numbers.

    Attributes:
        name: Name of the flow.
        transport: Its transport, such as `quic`.
        congestion: Its congestion controller, if it has one.
        offered_bps: Mean rate its sources offer; `None` for a transfer of a given size. [bit/s]
        goodput_bps: Application bits delivered per second, from first creation (after the warm-up) to last
            delivery. [bit/s]
        messages: Messages created after the warm-up. [messages]
        undelivered_messages: Those of them that had not been delivered at the end. [messages]
        delay_ms: Their delays from creation to delivery. [ms]
        jitter_ms: Mean absolute difference of consecutive messages' delays, in order of delivery. [ms]
        rtt_ms: Round-trip times the transport measured. [ms]
        sent_packets: Packets the sender sent. [packets]
        lost_packets: Packets it declared lost. [packets]
        retransmitted_packets: Packets that carried something sent before: application data, or TCP's SYN or
            FIN. [packets]
        retransmitted_bytes: Application bytes it sent again. [bytes]
        reinjected_bytes: Application bytes it sent on one path while they were unacknowledged on another, if
            it has had several; not counted as retransmitted. [bytes] Left out of the file where it does not
            apply.
        duplicate_bytes: Bytes of stream data that arrived at the receiver although it had received them
            before, if it has had several paths. [bytes] Left out of the file where it does not apply.
        reordering_delay_ms: How long received bytes waited for earlier ones of their stream, zero for those
            in order, if it has had several paths; each byte counts. [ms] Left out of the file where it does
            not apply.
        congestion_events: Times that losses or ECN marks began a recovery, whatever the controller made of
            them. [count]
        timeouts: Probe timeouts, and TCP's retransmission timeouts. [count]
        spurious_losses: Packets declared lost whose first transmission had arrived. [packets]
        undos: Reductions of the window undone because the losses behind them proved spurious. [count]
        ecn_marks: Times that the sender learned of new congestion marks: by an acknowledgement (QUIC), once a
            window (TCP). [count]
        unreported: Names of the counts above that its sender's stack does not report, and that are zero, if
            there are any. Left out of the file where it does not apply.
        dropped_packets: Its packets, either way, that the network dropped, by cause. [packets]
        marked_packets: Its packets, either way, that queues marked with congestion experienced. [packets]
        losses: Its sender's packets by what became of them, and what the sender concluded; not known in real
            time, and of a stack in a library.
        handovers: Effects of handovers on it; only where nodes move. Left out of the file where it does not
            apply.
        completion_s: When the last byte was delivered, in seconds from the start of the run, if all were. [s]
        lost: How it lost its connection for good, if it did. Left out of the file where it does not apply.
        page: Its page, if it is one. Left out of the file where it does not apply.
        video: The session of its viewer, if it is a video. Left out of the file where it does not apply.
        call: The picture as seen and the voice as heard, if it is a call. Left out of the file where it does
            not apply.
        streams: Its streams.
        paths: Its paths; over HTTP/1.1, its connections.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {
        "delay_ms": DelaySummary,
        "rtt_ms": RttSummary,
        "reordering_delay_ms": DelaySummary,
        "losses": LossesSummary,
        "handovers": HandoversSummary,
        "lost": LossSummary,
        "page": PageSummary,
        "video": VideoSummary,
        "call": CallSummary,
        "streams": StreamSummary,
        "paths": PathSummary,
    }
    _absent: ClassVar[Absent] = {
        "reinjected_bytes": NoneType,
        "duplicate_bytes": NoneType,
        "reordering_delay_ms": NoneType,
        "unreported": list,
        "handovers": NoneType,
        "lost": NoneType,
        "page": NoneType,
        "video": NoneType,
        "call": NoneType,
    }
    name: str
    transport: str
    congestion: str | None
    offered_bps: float | None
    goodput_bps: float | None
    messages: int
    undelivered_messages: int
    delay_ms: DelaySummary
    jitter_ms: float | None
    rtt_ms: RttSummary
    sent_packets: int
    lost_packets: int
    retransmitted_packets: int
    retransmitted_bytes: int
    reinjected_bytes: int | None
    duplicate_bytes: int | None
    reordering_delay_ms: DelaySummary | None
    congestion_events: int
    timeouts: int
    spurious_losses: int
    undos: int
    ecn_marks: int
    unreported: list[str]
    dropped_packets: dict[str, int]
    marked_packets: int
    losses: LossesSummary | None
    handovers: HandoversSummary | None
    completion_s: float | None
    lost: LossSummary | None
    page: PageSummary | None
    video: VideoSummary | None
    call: CallSummary | None
    streams: Named[StreamSummary]
    paths: list[PathSummary]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class QueueDelaySummary(Record):
    """Queueing delays in milliseconds, the quantile within 0.1 % (exact up to 1,000); `None` without any.

    Attributes:
        mean: Mean. [ms]
        p95: 95th percentile. [ms]
    """

    __slots__ = ()

    mean: float | None
    p95: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LinkSummary(Record):
    """A link in one direction in numbers.

    Attributes:
        name: Its name, `name/a->b`.
        mean_rate_bps: Mean rate it offered over the run. [bit/s]
        utilisation: Share of it that packets took, framing and those lost on the channel included. [ratio]
        delivered_packets: Packets that came out at the far end. [packets]
        dropped_packets: Packets that did not, by cause. [packets]
        marked_packets: Packets that the queue marked, by cause; only where it can mark. [packets] Left out of
            the file where it does not apply.
        queue_limit_bytes: Bytes that the queue's limit came to, if it depends on what a link carries. [bytes]
            Left out of the file where it does not apply.
        queue_delay_ms: How long packets waited in the queue. [ms]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"queue_delay_ms": QueueDelaySummary}
    _absent: ClassVar[Absent] = {"marked_packets": dict, "queue_limit_bytes": NoneType}
    name: str
    mean_rate_bps: float | None
    utilisation: float | None
    delivered_packets: int
    dropped_packets: dict[str, int]
    marked_packets: dict[str, int]
    queue_limit_bytes: int | None
    queue_delay_ms: QueueDelaySummary


@dataclass(frozen=True, init=False, eq=False, repr=False)
class WaitSummary(Record):
    """Waiting times in milliseconds, both `None` without a packet.

    Attributes:
        mean: Mean. [ms]
        max: Maximum. [ms]
    """

    __slots__ = ()

    mean: float | None
    max: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SatelliteSummary(Record):
    """The transmitter of a satellite in one direction in numbers.

    Attributes:
        name: Name of the satellite and the direction, `name/there` (towards gateways) or `name/back`.
        served_s: How long it served at least one link, in seconds. [s]
        utilisation: Share of that time in which it sent; above 1 if it went on after its last link had left.
            [ratio]
        queued_packets: Packets that entered its queue. [packets]
        sent_packets: Packets that it sent, those lost on the channel included. [packets]
        sent_bytes: Their bytes, with the framing of their links. [bytes]
        withdrawn_packets: Packets that left with their link before they were sent, to be dropped or to go
            over another satellite. [packets]
        dropped_packets: Packets that its queue dropped, by cause. [packets]
        marked_packets: Packets that its queue marked, by cause; only where it can mark. [packets] Left out of
            the file where it does not apply.
        queue_delay_ms: How long packets waited, from their arrival at the link. [ms]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"queue_delay_ms": WaitSummary}
    _absent: ClassVar[Absent] = {"marked_packets": dict}
    name: str
    served_s: float
    utilisation: float | None
    queued_packets: int
    sent_packets: int
    sent_bytes: int
    withdrawn_packets: int
    dropped_packets: dict[str, int]
    marked_packets: dict[str, int]
    queue_delay_ms: WaitSummary


@dataclass(frozen=True, init=False, eq=False, repr=False)
class HopSummary(Record):
    """A hop: a transmitter on a satellite or on the ground, with its queue.

    Attributes:
        name: Name: `laser/FROM->TO`, `up/STATION`, `down/SATELLITE->ground`, `backhaul/GATEWAY/there` or
            `/back`; a link's name in place of station and ground if it has its own.
        utilisation: Share of the time in which it sent. [ratio]
        queued_packets: Packets that entered its queue. [packets]
        sent_packets: Packets that it sent. [packets]
        sent_bytes: Their bytes, with the framing of their links. [bytes]
        withdrawn_packets: Packets that were taken out because their laser or satellite was left. [packets]
        dropped_packets: Packets that its queue dropped, by cause. [packets]
        marked_packets: Packets that its queue marked, by cause; only where it can mark. [packets] Left out of
            the file where it does not apply.
        queue_delay_ms: How long packets waited. [ms]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"queue_delay_ms": WaitSummary}
    _absent: ClassVar[Absent] = {"marked_packets": dict}
    name: str
    utilisation: float | None
    queued_packets: int
    sent_packets: int
    sent_bytes: int
    withdrawn_packets: int
    dropped_packets: dict[str, int]
    marked_packets: dict[str, int]
    queue_delay_ms: WaitSummary


@dataclass(frozen=True, init=False, eq=False, repr=False)
class OrbitSummary(Record):
    """The network in orbit in numbers.

    Attributes:
        visits: How often packets came to a satellite. [count]
        looped_packets: Packets that came to a satellite again because routes had changed on their way.
            [packets]
        black_hole_packets: Packets that came to a satellite which knew no way on. [packets]
        rerouted_packets: Packets that went on by the tables of satellites, as the route that they carried
            along was interrupted; with the routing `disjoint`. [packets] Left out of the file where it does
            not apply.
        missing_routes: Searches in which a link with the second route of a pair found none, and was down;
            with the routing `disjoint`. [count] Left out of the file where it does not apply.
        hops: The hops whose queues packets entered, by name.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"hops": HopSummary}
    _absent: ClassVar[Absent] = {"rerouted_packets": NoneType, "missing_routes": NoneType}
    visits: int
    looped_packets: int
    black_hole_packets: int
    rerouted_packets: int | None
    missing_routes: int | None
    hops: Named[HopSummary]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CompetitorSummary(Record):
    """A flow's part.

    Attributes:
        name: Name of the flow.
        goodput_bps: Application bits it delivered per second of the time in common. [bit/s]
        share: Its part of what all delivered. [ratio]
        friendliness_ratio: Its goodput over the mean of the reference flows; `None` without any. [ratio]
    """

    __slots__ = ()

    name: str
    goodput_bps: float | None
    share: float | None
    friendliness_ratio: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CompetitionSummary(Record):
    """Shares of the network while all flows that are not background are there.

    That time lasts from the start of the last of them (or the end of the warm-up) until the first has
    delivered everything, in whole steps of a tenth of the scenario's `competition.window`. Values that need
    it are `None` where there is none.

    Attributes:
        from_s: When that time begins, in seconds from the start of the run. [s]
        to_s: When it ends. [s]
        friendliness_ratio: Mean goodput of the flows that are no reference over the mean of those that are;
            `None` without either. [ratio]
        convergence_s: How long after the last flow started every flow's goodput over the window before lay
            within the tolerance around the fair share, and stayed there for as long as `competition.hold`
            asks; `None` if that never came to be. The warm-up counts here. [s]
        flows: The flows.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"flows": CompetitorSummary}
    from_s: float | None
    to_s: float | None
    friendliness_ratio: float | None
    convergence_s: float | None
    flows: Named[CompetitorSummary]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AudienceSummary(Record):
    """All viewers of videos together; means are over viewers.

    Attributes:
        viewers: Viewers. [count]
        started: Viewers who saw a first picture. [count]
        undisturbed: Viewers among them for whom pictures never stood still afterwards. [count]
        startup_s: Mean time until the first picture, of those who saw one. [s]
        stalled_s: Mean time for which pictures stood still after it, of those who saw one. [s]
        longest_stall_s: The longest time for which they stood still for anybody. [s]
        bitrate_bps: Mean of their mean bitrates. [bit/s]
        least_bitrate_bps: The smallest of these. [bit/s]
        quality_bps: Mean of their qualities. [bit/s]
    """

    __slots__ = ()

    viewers: int
    started: int
    undisturbed: int
    startup_s: float | None
    stalled_s: float
    longest_stall_s: float
    bitrate_bps: float | None
    least_bitrate_bps: float | None
    quality_bps: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SlowdownSummary(Record):
    """Slowdowns, quantiles within 0.1 % (exact up to 1,000); `None` without any.

    Attributes:
        mean: Mean. [ratio]
        p50: Median. [ratio]
        p95: 95th percentile. [ratio]
        p99: 99th percentile. [ratio]
        max: Maximum. [ratio]
    """

    __slots__ = ()

    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PairSummary(Record):
    """The transfers of an ordered pair of places.

    Attributes:
        name: The names of both, such as `manila->dalian`.
        sender: The place that sends.
        receiver: The place that receives.
        started: Transfers that started. [count]
        completed: Those of them that were delivered as a whole. [count]
        delivered_bytes: Application bytes delivered, those of incomplete transfers included. [bytes]
        goodput_bps: Application bits delivered per second of the run after its warm-up. [bit/s]
        completion_ms: Times from the start of a transfer to the delivery of its last byte. [ms]
        slowdown: Completion times over ideal ones: the base round-trip time at the start, and the size over
            the rate of the bottleneck.
        fairness_jain: Jain's fairness index over the goodputs of the transfers, each from its start to its
            end; `None` with fewer than two. [ratio]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"completion_ms": DelaySummary, "slowdown": SlowdownSummary}
    name: str
    sender: str
    receiver: str
    started: int
    completed: int
    delivered_bytes: int
    goodput_bps: float | None
    completion_ms: DelaySummary
    slowdown: SlowdownSummary
    fairness_jain: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TransportShareSummary(Record):
    """The transfers over a transport.

    Attributes:
        name: Its name in the `mix`, or its kind.
        transport: The kind of the transport, such as `quic`.
        congestion: Its congestion controller, if it has one.
        started: Transfers that started. [count]
        completed: Those of them that were delivered as a whole. [count]
        delivered_bytes: Application bytes delivered, those of incomplete transfers included. [bytes]
        goodput_bps: Application bits delivered per second of the run after its warm-up. [bit/s]
        completion_ms: Times from the start of a transfer to the delivery of its last byte. [ms]
        slowdown: Completion times over ideal ones: the base round-trip time at the start, and the size over
            the rate of the bottleneck.
        fairness_jain: Jain's fairness index over the goodputs of the transfers, each from its start to its
            end; `None` with fewer than two. [ratio]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"completion_ms": DelaySummary, "slowdown": SlowdownSummary}
    name: str
    transport: str
    congestion: str | None
    started: int
    completed: int
    delivered_bytes: int
    goodput_bps: float | None
    completion_ms: DelaySummary
    slowdown: SlowdownSummary
    fairness_jain: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class HopsSummary(Record):
    """The transfers over ways of a length.

    Attributes:
        name: The number as a name.
        hops: Links between satellites on the way. [count]
        started: Transfers that started. [count]
        completed: Those of them that were delivered as a whole. [count]
        delivered_bytes: Application bytes delivered, those of incomplete transfers included. [bytes]
        goodput_bps: Application bits delivered per second of the run after its warm-up. [bit/s]
        completion_ms: Times from the start of a transfer to the delivery of its last byte. [ms]
        slowdown: Completion times over ideal ones: the base round-trip time at the start, and the size over
            the rate of the bottleneck.
        fairness_jain: Jain's fairness index over the goodputs of the transfers, each from its start to its
            end; `None` with fewer than two. [ratio]
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {"completion_ms": DelaySummary, "slowdown": SlowdownSummary}
    name: str
    hops: int
    started: int
    completed: int
    delivered_bytes: int
    goodput_bps: float | None
    completion_ms: DelaySummary
    slowdown: SlowdownSummary
    fairness_jain: float | None


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TrafficSummary(Record):
    """Traffic between places.

    Attributes:
        started: Transfers that started. [count]
        completed: Those of them that were delivered as a whole. [count]
        delivered_bytes: Application bytes delivered, those of incomplete transfers included. [bytes]
        goodput_bps: Application bits delivered per second of the run after its warm-up. [bit/s]
        completion_ms: Times from the start of a transfer to the delivery of its last byte. [ms]
        slowdown: Completion times over ideal ones: the base round-trip time at the start, and the size over
            the rate of the bottleneck.
        fairness_jain: Jain's fairness index over the goodputs of the transfers, each from its start to its
            end; `None` with fewer than two. [ratio]
        pairs_fairness_jain: Jain's fairness index over the goodputs of the pairs; `None` with fewer than two.
            [ratio]
        pairs: By ordered pair of places.
        transports: By transport.
        hops: By the number of links between satellites on the way at the start of each transfer, where links
            lead over such. Left out of the file where it does not apply.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {
        "completion_ms": DelaySummary,
        "slowdown": SlowdownSummary,
        "pairs": PairSummary,
        "transports": TransportShareSummary,
        "hops": HopsSummary,
    }
    _absent: ClassVar[Absent] = {"hops": Named}
    started: int
    completed: int
    delivered_bytes: int
    goodput_bps: float | None
    completion_ms: DelaySummary
    slowdown: SlowdownSummary
    fairness_jain: float | None
    pairs_fairness_jain: float | None
    pairs: Named[PairSummary]
    transports: Named[TransportShareSummary]
    hops: Named[HopsSummary]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Summary(Record):
    """A run in numbers.

    Attributes:
        scenario: Name of the scenario.
        seed: Seed of the run.
        engine: Engine that drove the run, such as `virtual`.
        virtual_s: Virtual time that passed, in seconds. [s]
        packets: Packets the endpoints sent into the network. [packets]
        flows: The flows, in the order of the scenario.
        links: The links, one entry per direction.
        satellites: The transmitters of satellites that served, one entry per direction, if satellites have
            queues. Left out of the file where it does not apply.
        orbit: The network in orbit, if packets take hops with queues there. Left out of the file where it
            does not apply.
        fairness_jain: Jain's fairness index over the goodputs of the flows that are not background while all
            of them are there; `None` with fewer than two, or if they never are. [ratio]
        competition: How they share the network, if there are two or more. Left out of the file where it does
            not apply.
        audience: All viewers of videos together, if there are two or more. Left out of the file where it does
            not apply.
        traffic: Traffic between places, whose flows are not among `flows`, if there is any. Left out of the
            file where it does not apply.
    """

    __slots__ = ()

    _parts: ClassVar[Parts] = {
        "flows": FlowSummary,
        "links": LinkSummary,
        "satellites": SatelliteSummary,
        "orbit": OrbitSummary,
        "competition": CompetitionSummary,
        "audience": AudienceSummary,
        "traffic": TrafficSummary,
    }
    _absent: ClassVar[Absent] = {
        "satellites": Named,
        "orbit": NoneType,
        "competition": NoneType,
        "audience": NoneType,
        "traffic": NoneType,
    }
    scenario: str
    seed: int
    engine: str
    virtual_s: float
    packets: int
    flows: Named[FlowSummary]
    links: Named[LinkSummary]
    satellites: Named[SatelliteSummary]
    orbit: OrbitSummary | None
    fairness_jain: float | None
    competition: CompetitionSummary | None
    audience: AudienceSummary | None
    traffic: TrafficSummary | None
