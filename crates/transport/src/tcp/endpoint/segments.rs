//! The segments that an end sends once the connection is open.

use std::net::SocketAddr;

use leobench_base::packet::IPV4_HEADER;
use leobench_base::segment::{Flags, MOST_SACK_BLOCKS, Options, Segment, Timestamps};
use leobench_base::{Body, Bytes, Ecn, Meta, Packet, Protocol, SimTime};

use super::TcpEndpoint;
use crate::tcp::sender::Departure;

impl TcpEndpoint {
    /// Answers an input with an acknowledgement.
    pub(super) fn acknowledge(&mut self, now: SimTime) {
        let segment = self.acknowledgement(now);
        if self.packets.is_empty() && self.answer.is_none() {
            self.count_sent(&segment);
            self.answer = Some(segment);
        } else {
            self.emit(now, segment, Ecn::NotEct);
        }
    }

    /// An acknowledgement.
    pub(super) fn acknowledgement(&mut self, now: SimTime) -> Segment {
        let mut segment = self.header(now, self.sender.nxt());
        if self.agreed.sack && self.receiver.has_blocks() {
            let most = MOST_SACK_BLOCKS - usize::from(self.agreed.timestamps);
            let (theirs, sack) = (self.theirs, &mut segment.options.sack);
            let report = |start, end| sack.push(theirs.wire(start), theirs.wire(end));
            self.receiver.blocks(most, report);
        }
        segment
    }

    /// Sends the segments that the sending half releases.
    pub(super) fn depart(&mut self, now: SimTime, departure: &Departure) {
        let &Departure { start, payload, fin, new, reduced, transmission } = departure;
        let mut segment = self.header(now, start);
        segment.payload = payload as u32;
        segment.mark = self.outgoing.mark(start, payload);
        let last = payload > 0 && self.outgoing.available(start + payload) == 0;
        segment.flags = segment
            .flags
            .with_if(fin, Flags::FIN)
            .with_if(last, Flags::PSH)
            .with_if(reduced, Flags::CWR);
        if !new || self.repeats(start, payload) {
            self.retransmitted += Bytes::new(payload);
            // A zero-window probe carries no data.
            self.retransmitted_packets += u64::from(!segment.is_empty());
        }
        // RFC 3168 sections 6.1.4 and 6.1.5: neither empty segments nor retransmissions.
        let capable = self.agreed.ecn && new && payload > 0;
        self.emit(now, segment, if capable { Ecn::Ect0 } else { Ecn::NotEct });
        if let (Some(number), Some(packet)) = (transmission, self.packets.last_mut()) {
            packet.meta.transmission = self.sender.control.number(number);
        }
    }

    /// Whether an earlier connection has sent the application data with which a segment starts.
    fn repeats(&self, start: u64, payload: u64) -> bool {
        self.sent_before > 0 && payload > 0 && self.outgoing.content_at(start) < self.sent_before
    }

    /// The header fields common to all segments.
    fn header(&mut self, now: SimTime, start: u64) -> Segment {
        let window = self.receiver.offer(self.our_scale);
        let stamps = self.agreed.timestamps.then(|| self.timestamps(now));
        self.receiver.on_ack_sent();
        Segment {
            seq: self.ours.wire(start),
            ack: self.theirs.wire(self.receiver.next()),
            flags: Flags::ACK.with_if(self.agreed.ecn && self.receiver.echo_mark, Flags::ECE),
            window,
            options: Options { timestamps: stamps, ..Options::default() },
            ..Segment::default()
        }
    }

    pub(super) fn timestamps(&self, now: SimTime) -> Timestamps {
        Timestamps { value: self.stamps.at(now), echo: self.receiver.stamp().unwrap_or(0) }
    }

    /// Puts a segment into a packet.
    pub(super) fn emit(&mut self, now: SimTime, segment: Segment, ecn: Ecn) {
        self.emit_between(now, self.local, self.remote, segment, ecn);
    }

    /// Puts a segment into a packet between two addresses.
    pub(super) fn emit_between(
        &mut self,
        now: SimTime,
        source: SocketAddr,
        destination: SocketAddr,
        segment: Segment,
        ecn: Ecn,
    ) {
        self.count_sent(&segment);
        self.put(now, source, destination, segment, ecn);
    }

    fn count_sent(&mut self, segment: &Segment) {
        self.sent_packets += 1;
        self.sent_bytes += Bytes::new(segment.len());
    }

    /// Puts a segment that is counted into a packet.
    pub(super) fn put(
        &mut self,
        now: SimTime,
        source: SocketAddr,
        destination: SocketAddr,
        segment: Segment,
        ecn: Ecn,
    ) {
        let size = Bytes::new(segment.len()) + IPV4_HEADER;
        let meta = Meta::new(now, Protocol::Tcp, source, destination, size).with_ecn(ecn);
        self.packets.push(Packet { meta, body: Body::Tcp(segment) });
    }
}
