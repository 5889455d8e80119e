//! One end of a TCP flow as an [`Endpoint`]: its state, its segments, and the handshake.

mod handshake;
mod matching;
mod reports;
mod rest;
mod segments;

use std::net::SocketAddr;

use leobench_base::segment::{Flags, Segment};
use leobench_base::{Body, Bytes, Ecn, LogHistogram, Meta, Packet, RngTree, SimDuration, SimTime};

use self::handshake::Handshake;
pub(super) use self::matching::Earlier;
use super::outgoing::Outgoing;
use super::receiver::{Arrival, Receiver};
use super::resume::Exchange;
use super::sender::{Ack, Agreed, Sender};
use super::sequence::{Sequence, Stamps};
use super::spec::TcpSpec;
use super::{Role, tls};
use crate::buffer::{Attributes, SendBuffer};
#[cfg(test)]
use crate::congestion::CongestionControl;
use crate::congestion::{CongestionContext, ForecastWindow};
use crate::endpoint::{
    Endpoint, EndpointError, Event, Input, Loss, Outbox, PathId, PathSample, Totals,
};
use crate::interfaces::Interfaces;
use crate::plugin::Plugins;

/// The configuration of an endpoint.
#[derive(Clone, Copy)]
pub struct TcpConfig<'a> {
    /// The flow's TCP parameters.
    pub spec: &'a TcpSpec,
    /// The role in the handshake.
    pub role: Role,
    /// Attributes of the one stream on which the application sends; none if this end only receives.
    pub sends: Option<Attributes>,
    /// Whether this end hands data of the other one to its application.
    pub receives: bool,
    /// This end's address.
    pub local: SocketAddr,
    /// The other end's address.
    pub remote: SocketAddr,
    /// When the client opens the connection.
    pub start: SimTime,
    /// Random streams of this end.
    pub rng: &'a RngTree,
    /// The host of plug-ins.
    pub plugins: &'a Plugins,
}

/// The state of a connection (RFC 9293 section 3.3.2). The two halves have their own closing states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A client before its start.
    Closed,
    /// A server before the first SYN.
    Listen,
    SynSent,
    SynReceived,
    Open,
    Lost,
}

/// One end of a TCP connection.
///
/// The fields that every segment needs come first, next to each other: with a thousand flows, each line of the cache counts.
#[repr(C, align(64))]
pub struct TcpEndpoint {
    state: State,
    /// Whether application data may follow the handshake.
    secure: bool,
    /// Whether the sending half has nothing to do, as far as nothing but data comes in.
    resting: bool,
    /// Whether TLS is used.
    tls: bool,
    /// Whether the application of this end receives data.
    receives: bool,
    /// Window scale of the other end, and of this one.
    their_scale: u8,
    our_scale: u8,
    /// Sequence numbers of this end and of the other.
    ours: Sequence,
    theirs: Sequence,
    stamps: Stamps,
    local: SocketAddr,
    /// A server learns it from the SYN.
    remote: SocketAddr,
    agreed: Agreed,
    receiver: Receiver,
    exchange: Exchange,
    /// Offset up to which application data of the other end has been reported.
    reported_delivered: u64,
    packets: Vec<Packet>,
    received_packets: u64,
    sent_packets: u64,
    sent_bytes: Bytes,
    /// An acknowledgement that waits for the next poll, before any other packet: most inputs bring no more than that.
    answer: Option<Segment>,
    events: Vec<Event>,
    /// Offset up to which application data of this end has been reported.
    reported_sent: u64,
    /// How far the application was told it may write.
    reported_room: u64,
    /// Offset up to which earlier connections have sent application data.
    sent_before: u64,
    sender: Sender,
    outgoing: Outgoing,
    spec: TcpSpec,
    role: Role,
    interfaces: Interfaces,
    /// The address at which others know that this end can be reached.
    reachable: Option<SocketAddr>,
    start: SimTime,
    loss: Option<Loss>,
    handshake: Handshake,
    retransmitted: Bytes,
    retransmitted_packets: u64,
}

impl TcpEndpoint {
    /// An endpoint in its initial state.
    pub fn new(config: TcpConfig<'_>) -> Self {
        let TcpConfig { spec, role, sends, receives, local, remote, start, rng, plugins } = config;
        let mut numbers = rng.child("isn").rng();
        let ours = Sequence::new(numbers.bits() as u32);
        let stamps = Stamps::new(numbers.bits() as u32);
        let buffer = sends.map(|attributes| SendBuffer::new(&[attributes]));
        let receiver = Receiver::new(spec);
        let rng = &rng.child("congestion");
        let context = CongestionContext { rng, paced: spec.pacing, plugins };
        let algorithm = spec.congestion.model().build(&context);
        let algorithm = ForecastWindow::around(algorithm, spec.on_forecast);
        Self {
            spec: spec.clone(),
            role,
            local,
            remote,
            interfaces: Interfaces::new(local.ip()),
            reachable: Some(local),
            start,
            loss: None,
            state: if role == Role::Client { State::Closed } else { State::Listen },
            handshake: Handshake::new(spec.initial_rto),
            ours,
            theirs: ours,
            stamps,
            agreed: Agreed::nothing(spec.mss.get()),
            resting: false,
            their_scale: 0,
            our_scale: receiver.scale(),
            sender: Sender::new(spec, stamps, algorithm),
            receiver,
            outgoing: Outgoing::new(buffer, spec),
            tls: spec.tls,
            receives,
            secure: false,
            exchange: Exchange::new(role, spec.tls, sends.is_some()),
            reported_sent: 0,
            reported_delivered: 0,
            reported_room: 0,
            sent_before: 0,
            retransmitted: Bytes::ZERO,
            retransmitted_packets: 0,
            sent_packets: 0,
            sent_bytes: Bytes::ZERO,
            received_packets: 0,
            answer: None,
            packets: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Handles a segment.
    fn receive(&mut self, now: SimTime, meta: &Meta, segment: &Segment) {
        self.received_packets += 1;
        if self.state != State::Lost && !self.accepts(meta, segment) {
            return self.reject(now, meta, segment);
        }
        match self.state {
            State::Closed | State::Lost => {}
            State::Listen => self.listen(now, meta, segment),
            State::SynSent => self.syn_sent(now, segment),
            State::SynReceived => {
                self.syn_received(now, meta, segment);
                if self.state == State::Open {
                    self.open(now, meta.ecn, segment);
                }
            }
            State::Open => self.open(now, meta.ecn, segment),
        }
    }

    /// A segment on an open connection (RFC 9293 section 3.10.7.4).
    fn open(&mut self, now: SimTime, ecn: Ecn, segment: &Segment) {
        let next = self.receiver.next();
        let start = self.theirs.offset(segment.seq, next);
        if segment.flags.contains(Flags::RST) {
            // RFC 5961 section 3.2: only the number that is expected next resets; others in the window are challenged.
            match start {
                Some(start) if start == next => self.lose(now, "reset by the other end"),
                Some(start) if (next..self.receiver.edge()).contains(&start) => {
                    self.acknowledge(now);
                }
                _ => {}
            }
            return;
        }
        let start = start.filter(|start| *start >= next || !segment.is_empty());
        let Some(start) = start.filter(|_| !segment.flags.contains(Flags::SYN)) else {
            // An old SYN, or a keep-alive or probe.
            self.acknowledge(now);
            return;
        };
        self.take_ack(now, start, segment);
        if !segment.is_empty() {
            self.take_data(now, ecn, start, segment);
        }
    }

    fn take_ack(&mut self, now: SimTime, start: u64, segment: &Segment) {
        let una = self.sender.una();
        let Some(acked) = self.ours.offset(segment.ack, una) else { return };
        let mut ack = Ack {
            start,
            next: acked,
            edge: acked + (u64::from(segment.window) << self.their_scale),
            ece: segment.flags.contains(Flags::ECE),
            empty: segment.is_empty(),
            ..Ack::default()
        };
        for &(first, last) in segment.options.sack.as_slice() {
            let ends = (self.ours.offset(first, una), self.ours.offset(last, una));
            if let (Some(first), Some(last)) = ends {
                ack.blocks[ack.count] = (first, last);
                ack.count += 1;
            }
        }
        if let Some(stamps) = segment.options.timestamps.filter(|_| self.agreed.timestamps) {
            self.receiver.on_stamp(start, stamps.value);
            ack.echo = Some(stamps.echo);
        }
        if self.resting && ack.has_no_news(una) {
            self.sender.open_window(&ack);
            return;
        }
        self.resting = false;
        self.sender.on_ack(now, &ack);
        self.outgoing.acknowledge(self.sender.una());
    }

    fn take_data(&mut self, now: SimTime, ecn: Ecn, start: u64, segment: &Segment) {
        if let Some(stamps) = segment.options.timestamps.filter(|_| self.agreed.timestamps) {
            let ticks = self.stamps.at(now).wrapping_sub(stamps.echo).max(1);
            self.receiver.sample(SimDuration::from_millis(ticks.into()));
        }
        let arrival = Arrival {
            start,
            payload: segment.payload.into(),
            fin: segment.flags.contains(Flags::FIN),
            mark: segment.mark,
            marked: ecn == Ecn::Ce && self.agreed.ecn,
            reduced: segment.flags.contains(Flags::CWR),
        };
        if self.receiver.on_data(now, &arrival, self.sender.timeout()) {
            self.acknowledge(now);
        }
        if self.receiver.is_finished() && self.outgoing.buffer().is_none() {
            // The application has read the end of the stream and has no data to send.
            self.outgoing.finish();
            self.resting = false;
        }
    }

    /// Goes on with the handshake of TLS, if it is used.
    #[cold]
    fn secure(&mut self) {
        let received = self.receiver.complete();
        self.secure = !self.tls || tls::proceed(self.role, received, &mut self.outgoing);
        if self.secure {
            self.events.push(Event { kind: "established", detail: String::new() });
        }
    }

    /// Executes due timers of an open connection; returns the next wake-up.
    fn drive(&mut self, now: SimTime) -> Option<SimTime> {
        self.sender.hold.begin(now);
        if !self.secure {
            self.secure();
        }
        if self.secure {
            self.exchange.proceed(&self.receiver, &mut self.outgoing);
        }
        if self.receiver.deadline().is_some_and(|at| at <= now) {
            let acknowledgement = self.acknowledgement(now);
            self.emit(now, acknowledgement, Ecn::NotEct);
        }
        self.sender.on_time(now);
        self.outgoing.make_room(self.sender.una());
        loop {
            while let Some(departure) = self.sender.next(now, &mut self.outgoing) {
                self.depart(now, &departure);
            }
            self.sender.grow_room(&mut self.outgoing);
            if !self.outgoing.make_room(self.sender.una()) {
                break;
            }
        }
        let sender = self.sender.settle(now, &self.outgoing);
        self.resting = sender.is_none() && self.may_rest();
        [sender, self.receiver.deadline()].into_iter().flatten().min()
    }

    /// Lets the end write its packets into the outbox, after those that inputs have brought about. Returns the end's own list,
    /// to be put back: that of the outbox is at hand for all ends, its own in memory that nobody else uses.
    fn lend(&mut self, now: SimTime, outbox: &mut Outbox) -> Vec<Packet> {
        let mut early = std::mem::replace(&mut self.packets, std::mem::take(&mut outbox.packets));
        if let Some(answer) = self.answer.take() {
            self.put(now, self.local, self.remote, answer, Ecn::NotEct);
        }
        if !early.is_empty() {
            self.packets.append(&mut early);
        }
        early
    }

    /// The client opens the connection from an address of its host, if that has one.
    fn connect_from(&mut self, now: SimTime, outbox: &mut Outbox) -> Option<SimTime> {
        let address = self.interfaces.choose(self.local.ip())?;
        self.local.set_ip(address);
        if self.reachable.replace(self.local) != Some(self.local) {
            outbox.addresses.push(self.local);
        }
        Some(self.connect(now))
    }

    fn check_controller(&mut self, now: SimTime) -> Result<(), EndpointError> {
        let Some(problem) = self.sender.control.algorithm.fault() else { return Ok(()) };
        let controller = self.spec.congestion.name().to_owned();
        Err(EndpointError::Controller { controller, at: now, problem })
    }

    fn count(&self) -> Totals {
        Totals {
            sent_packets: self.sent_packets,
            sent_bytes: self.sent_bytes,
            received_packets: self.received_packets,
            retransmitted_bytes: self.retransmitted,
            retransmitted_packets: self.retransmitted_packets,
            ..self.sender.control.totals
        }
    }

    /// Replaces the congestion controller, before the connection opens.
    #[cfg(test)]
    pub(crate) fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.sender.control.algorithm = algorithm;
    }

    /// Whether the application reads all data as it arrives, or stops reading.
    #[cfg(test)]
    pub(super) fn set_reads(&mut self, now: SimTime, reads: bool) {
        if self.receiver.set_reads(now, reads) {
            self.acknowledge(now);
        }
    }
}

impl Endpoint for TcpEndpoint {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        self.resting &= matches!(input, Input::Packet(_));
        match input {
            Input::Packet(Packet { meta, body: Body::Tcp(segment) }) => {
                self.receive(now, meta, segment);
            }
            // A TCP port drops all other packets, as a host does.
            Input::Packet(_)
            | Input::Carrier(_)
            | Input::InterfaceForecast(_)
            | Input::Open { .. } => {}
            Input::Interface(change) => self.interfaces.change(change),
            Input::Message { stream, message } => {
                if let Some(buffer) = self.outgoing.buffer_mut() {
                    buffer.push(stream, message);
                }
            }
            Input::Datagram { .. } => return Err(EndpointError::no_datagrams(now)),
            Input::Finish => self.outgoing.finish(),
            Input::Access(report) => self.sender.on_access(&report),
            Input::Forecast(forecast) => {
                let before = self.spec.on_forecast.and_then(|heeded| heeded.hold);
                self.sender.on_forecast(now, before, &forecast);
            }
        }
        Ok(())
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        if self.state == State::Closed && now < self.start {
            return Ok(Some(self.start));
        }
        if self.resting && self.state == State::Open && self.receiver.resumed().is_none() {
            return Ok(self.rest(now, outbox));
        }
        let own = self.lend(now, outbox);
        let wake = match self.state {
            State::Closed => self.connect_from(now, outbox),
            State::Listen | State::Lost => None,
            State::SynSent | State::SynReceived => Some(self.insist(now)),
            State::Open => self.drive(now),
        };
        outbox.packets = std::mem::replace(&mut self.packets, own);
        self.check_controller(now)?;
        self.report(outbox);
        // Time must advance.
        Ok(wake.map(|wake| wake.max(SimTime::from_nanos(now.as_nanos() + 1))))
    }

    fn sample_paths(&self, _now: SimTime, samples: &mut Vec<PathSample>) {
        if self.state != State::Open {
            return;
        }
        let path = PathId::default();
        let rtt = self.sender.rtt();
        samples.push(PathSample {
            path,
            cwnd: Bytes::new(self.sender.window()),
            ssthresh: self.sender.control.algorithm.ssthresh(path),
            in_flight: Some(Bytes::new(self.sender.flying())),
            smoothed_rtt: rtt.map(|rtt| rtt.smoothed),
            latest_rtt: rtt.map(|rtt| rtt.latest),
            pacing: self.sender.pacing_rate(),
            phase: self.sender.phase(),
            totals: self.count(),
        });
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.outgoing.buffer()
    }

    fn totals(&self) -> Totals {
        self.count()
    }

    fn rtts(&self) -> LogHistogram {
        self.sender.control.rtts.clone()
    }

    fn lost(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        if self.state == State::Open {
            self.sender.control.close();
        }
        self.check_controller(now)
    }
}
