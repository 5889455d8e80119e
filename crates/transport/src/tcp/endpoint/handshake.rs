//! The three-way handshake (RFC 9293 section 3.5), its options and its retransmissions.

use leobench_base::segment::{Flags, Options, Segment};
use leobench_base::{Ecn, Meta, SimDuration, SimTime};

use super::{State, TcpEndpoint};
use crate::tcp::sender::Agreed;
use crate::tcp::sequence::Sequence;
use crate::tcp::unmatched;

/// Bytes of the timestamps option in every segment, with padding (RFC 7323 appendix A).
const TIMESTAMPS: u64 = 12;
/// Segment size of an end without the MSS option (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// Maximum time between two SYNs.
const LONGEST_WAIT: SimDuration = SimDuration::from_secs(120);

/// The state of a handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    /// When the SYN or SYN-ACK was last sent.
    sent: SimTime,
    /// Its timeout.
    wait: SimDuration,
    /// The number of transmissions.
    times: u32,
    /// The window in the other end's SYN, which is never scaled.
    window: u64,
}

impl Handshake {
    pub(super) fn new(wait: SimDuration) -> Self {
        Self { sent: SimTime::ZERO, wait, times: 0, window: 0 }
    }
}

impl TcpEndpoint {
    /// The client opens the connection.
    #[cold]
    pub(super) fn connect(&mut self, now: SimTime) -> SimTime {
        self.state = State::SynSent;
        self.send_syn(now)
    }

    /// Retransmits the SYN or SYN-ACK when its timeout expires; returns the next expiry. It never gives up: the
    /// application decides how long to retry (R2 of RFC 9293 section 3.8.3), and ours retries until the end of the run.
    #[cold]
    pub(super) fn insist(&mut self, now: SimTime) -> SimTime {
        let due = self.handshake.sent + self.handshake.wait;
        if now < due {
            return due;
        }
        self.handshake.wait = (self.handshake.wait * 2).min(LONGEST_WAIT);
        self.sender.control.totals.timeouts += 1;
        self.sender.control.event("timeout", "of the handshake".into());
        self.send_syn(now)
    }

    fn send_syn(&mut self, now: SimTime) -> SimTime {
        let answer = self.state == State::SynReceived;
        let ecn = if answer { self.agreed.ecn } else { self.spec.ecn };
        let flags = Flags::SYN
            .with_if(answer, Flags::ACK)
            // RFC 3168 section 6.1.1.
            .with_if(ecn, Flags::ECE)
            .with_if(ecn && !answer, Flags::CWR);
        let stamps = if answer { self.agreed.timestamps } else { self.spec.timestamps };
        let mss = self.spec.mss.get() + if self.spec.timestamps { TIMESTAMPS } else { 0 };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let window = self.receiver.offer(0);
        let segment = Segment {
            seq: self.ours.initial(),
            ack: if answer { self.theirs.wire(0) } else { 0 },
            flags,
            window,
            options: Options {
                mss: Some(u16::try_from(mss).unwrap_or(u16::MAX)),
                window_scale: Some(self.our_scale),
                sack_permitted: if answer { self.agreed.sack } else { self.spec.sack },
                timestamps: stamps.then(|| self.timestamps(now)),
                ..Options::default()
            },
            ..Segment::default()
        };
        self.retransmitted_packets += u64::from(self.handshake.times > 0);
        self.handshake.sent = now;
        self.handshake.times += 1;
        self.emit(now, segment, Ecn::NotEct);
        now + self.handshake.wait
    }

    /// A server waits for a SYN (RFC 9293 section 3.10.7.2).
    #[cold]
    pub(super) fn listen(&mut self, now: SimTime, meta: &Meta, segment: &Segment) {
        if segment.flags.contains(Flags::ACK) {
            self.reject(now, meta, segment);
        } else if unmatched::opens(segment) {
            // Behind a NAT, the source is not the client's own address.
            (self.remote, self.local) = (meta.source, meta.destination);
            let ecn = segment.flags.contains(Flags::ECE.with(Flags::CWR));
            self.agree(segment, ecn);
            self.state = State::SynReceived;
            self.send_syn(now);
        }
    }

    /// The client waits for an answer (RFC 9293 section 3.10.7.3).
    #[cold]
    pub(super) fn syn_sent(&mut self, now: SimTime, segment: &Segment) {
        let acknowledges = segment.flags.contains(Flags::ACK) && segment.ack == self.ours.wire(0);
        if segment.flags.contains(Flags::RST) {
            // "If the ACK was acceptable, then signal to the user 'error: connection reset'", else "drop the segment".
            if acknowledges {
                self.lose(now, "refused by the other end");
            }
            return;
        }
        if !acknowledges || !segment.flags.contains(Flags::SYN) {
            return;
        }
        let marked = segment.flags.contains(Flags::CWR);
        self.agree(segment, segment.flags.contains(Flags::ECE) && !marked);
        self.establish(now, segment);
        self.acknowledge(now);
    }

    /// The server waits for the final acknowledgement (RFC 9293 section 3.10.7.4).
    #[cold]
    pub(super) fn syn_received(&mut self, now: SimTime, meta: &Meta, segment: &Segment) {
        if !self.matches(meta) {
            self.relisten();
            return self.listen(now, meta, segment);
        }
        if segment.flags.contains(Flags::RST) {
            // The number is checked as on an open connection (RFC 5961 section 3.2).
            if segment.seq == self.theirs.wire(0) {
                self.relisten();
            }
        } else if segment.flags.contains(Flags::SYN) {
            self.send_syn(now);
        } else if segment.flags.contains(Flags::ACK) && segment.ack == self.ours.wire(0) {
            self.establish(now, segment);
        }
    }

    /// Processes the other end's SYN.
    fn agree(&mut self, segment: &Segment, ecn: bool) {
        let options = &segment.options;
        self.theirs = Sequence::new(segment.seq);
        let timestamps = self.spec.timestamps && options.timestamps.is_some();
        // RFC 6691: the MSS option does not account for other options.
        let taken = if timestamps { TIMESTAMPS } else { 0 };
        let theirs = u64::from(options.mss.unwrap_or(DEFAULT_MSS)).saturating_sub(taken);
        self.agreed = Agreed {
            mss: self.spec.mss.get().min(theirs),
            timestamps,
            sack: self.spec.sack && options.sack_permitted,
            ecn: self.spec.ecn && ecn,
        };
        if let Some(scale) = options.window_scale {
            // RFC 7323 section 2.3.
            self.their_scale = scale.min(14);
        } else {
            (self.their_scale, self.our_scale) = (0, 0);
        }
        if let Some(stamps) = options.timestamps.filter(|_| timestamps) {
            self.receiver.on_stamp(0, stamps.value);
        }
        self.handshake.window = segment.window.into();
        self.receiver.set_mss(self.agreed.mss);
    }

    fn establish(&mut self, now: SimTime, segment: &Segment) {
        let Handshake { sent, times, window, .. } = self.handshake;
        self.sender.open(now, self.agreed, window, times);
        let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps);
        let rtt = match stamps {
            _ if times == 1 => Some(now.saturating_since(sent)),
            // Karn's rule (RFC 6298 section 3).
            stamps => stamps.map(|stamps| self.stamps.since(now, stamps.echo)),
        };
        self.sender.on_handshake(rtt);
        if let Some(rtt) = rtt {
            self.receiver.sample(rtt);
        }
        self.state = State::Open;
    }
}
