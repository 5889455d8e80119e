//! A TCP flow whose application replaces a lost connection with a new one.
//!
//! The end that opens the connection gives it up and connects anew, from its host's present address and its next port,
//! when it is reset or refused, or when nothing has progressed for some time although something should: the host has lost
//! the connection's address, data is unacknowledged, or an answer is due. An end that only receives does not know what it
//! should receive: it notices a dead connection only if its host loses the address, or by a reset.
//!
//! The other end accepts a new connection when its handshake is complete, and gives the old one up then.

mod log;

use std::net::SocketAddr;

use leobench_base::segment::Segment;
use leobench_base::{Body, LogHistogram, Packet, RngTree, SimTime};

use self::log::Log;
use super::endpoint::Earlier;
use super::spec::{ReconnectSpec, TcpSpec};
use super::{Role, TcpConfig, TcpEndpoint, unmatched};
use crate::Plugins;
use crate::buffer::{Attributes, SendBuffer};
use crate::endpoint::{
    Endpoint, EndpointError, Event, Input, MoveStep, Outbox, PathSample, Totals,
};

/// Largest number of incomplete handshakes of a server; another one replaces the oldest.
const BACKLOG: usize = 8;

/// The ports of a flow's connections: every `step` ports within a range, so that flows whose first ports differ by less
/// than a step never share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// First port of the range.
    pub first: u16,
    /// Last port of the range.
    pub last: u16,
    /// Distance between the ports of consecutive connections; at least one. The first port of a flow lies in the range.
    pub step: u16,
}

impl Ports {
    /// The port after another one.
    pub(in crate::tcp) fn after(self, port: u16) -> u16 {
        let wrapped = self.first + (port - self.first) % self.step;
        port.checked_add(self.step).filter(|next| *next <= self.last).unwrap_or(wrapped)
    }
}

/// One end of a flow over consecutive TCP connections.
pub struct ReconnectingTcp {
    spec: TcpSpec,
    role: Role,
    sends: Option<Attributes>,
    local: SocketAddr,
    remote: SocketAddr,
    rng: RngTree,
    plugins: Plugins,
    reconnect: ReconnectSpec,
    ports: Ports,
    present: TcpEndpoint,
    /// Handshakes of a server that are not complete, oldest first.
    handshakes: Vec<TcpEndpoint>,
    /// Messages to send again, if this end sends.
    log: Option<Log>,
    finished: bool,
    /// Whether any connection opened.
    opened: bool,
    /// Connections after the first.
    number: u64,
    /// Totals and round-trip times of earlier connections.
    totals: Totals,
    rtts: LogHistogram,
    /// Whether the present connection replaces another one, and does not carry data yet.
    opening: bool,
    /// Since when nothing progresses, and how far everything was then.
    stands_since: Option<SimTime>,
    progress: u64,
}

impl ReconnectingTcp {
    /// An endpoint before its first connection.
    pub fn new(config: TcpConfig<'_>, reconnect: ReconnectSpec, ports: Ports) -> Self {
        Self {
            spec: config.spec.clone(),
            role: config.role,
            sends: config.sends,
            local: config.local,
            remote: config.remote,
            rng: config.rng.clone(),
            plugins: config.plugins.clone(),
            reconnect,
            ports,
            present: TcpEndpoint::new(config),
            handshakes: Vec::new(),
            log: config.sends.map(|attributes| Log::new(attributes, !reconnect.resume)),
            finished: false,
            opened: false,
            number: 0,
            totals: Totals::default(),
            rtts: LogHistogram::new(),
            opening: false,
            stands_since: None,
            progress: 0,
        }
    }

    /// Another connection.
    fn another(&mut self, now: SimTime, local: SocketAddr) -> TcpEndpoint {
        self.number += 1;
        let mut connection = TcpEndpoint::new(TcpConfig {
            spec: &self.spec,
            role: self.role,
            sends: self.sends,
            receives: self.sends.is_none(),
            local,
            remote: self.remote,
            start: now,
            rng: &self.rng.child("connections").child(&self.number.to_string()),
            plugins: &self.plugins,
        });
        connection.set_number(self.number);
        connection
    }

    fn receive(
        &mut self,
        now: SimTime,
        packet: &mut Packet,
        segment: &Segment,
    ) -> Result<(), EndpointError> {
        let meta = &packet.meta;
        if self.role == Role::Client || self.present.matches(meta) || self.present.is_waiting() {
            return self.present.input(now, Input::Packet(packet));
        }
        let known = self.handshakes.iter().position(|handshake| handshake.matches(meta));
        if let Some(index) = known {
            self.handshakes[index].input(now, Input::Packet(packet))?;
            if self.handshakes[index].is_waiting() {
                let reset = self.handshakes.remove(index);
                self.count(&reset);
            }
            return Ok(());
        }
        if !unmatched::opens(segment) {
            self.present.stray(now, meta, segment);
            return Ok(());
        }
        if self.handshakes.len() == BACKLOG {
            let oldest = self.handshakes.remove(0);
            self.count(&oldest);
        }
        let mut handshake = self.another(now, self.local);
        handshake.input(now, Input::Packet(packet))?;
        self.handshakes.push(handshake);
        Ok(())
    }

    /// Adds what a connection did to the totals of earlier ones.
    fn count(&mut self, connection: &TcpEndpoint) {
        self.totals += connection.totals();
        self.rtts.add(&connection.rtts());
    }

    /// Ends the present connection for a new one.
    fn replace(
        &mut self,
        now: SimTime,
        mut connection: TcpEndpoint,
        reason: &str,
        outbox: &mut Outbox,
    ) -> Result<(), EndpointError> {
        let begun = self.role == Role::Client || self.present.is_open();
        if self.present.lost().is_none() && begun {
            self.present.lose(now, reason);
        }
        self.present.poll(now, outbox)?;
        let earlier = Earlier {
            buffer: self.log.as_ref().map(Log::buffer),
            resumes: self.reconnect.resume && self.opened,
            ..self.present.bequeath()
        };
        connection.inherit(earlier);
        if self.finished {
            connection.input(now, Input::Finish)?;
        }
        *connection.interfaces() = self.present.interfaces().clone();
        let ended = std::mem::replace(&mut self.present, connection);
        self.count(&ended);
        self.stands_since = None;
        self.opening = true;
        Ok(())
    }

    /// Reports that the present connection may carry data, once it may.
    fn report_opening(&mut self, outbox: &mut Outbox) {
        if self.opening && self.present.may_send() {
            self.opening = false;
            outbox.moves.push(MoveStep::Ready);
        }
    }

    /// The client connects anew.
    fn reconnect(
        &mut self,
        now: SimTime,
        reason: &str,
        outbox: &mut Outbox,
    ) -> Result<(), EndpointError> {
        let ports = self.ports;
        let local = self.present.local();
        let connection = self.another(now, (local.ip(), ports.after(local.port())).into());
        self.replace(now, connection, reason, outbox)?;
        self.present.set_unreachable();
        let detail = format!("connection {}", self.number + 1);
        outbox.events.push(Event { kind: "reconnecting", detail });
        outbox.moves.push(MoveStep::Reconnecting);
        Ok(())
    }

    /// The server accepts the connections whose handshake is complete, and lets the others act.
    fn accept(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        while let Some(index) = self.handshakes.iter().position(TcpEndpoint::is_open) {
            let connection = self.handshakes.remove(index);
            // The client has given up what it tried before.
            for stale in self.handshakes.drain(..index).collect::<Vec<_>>() {
                self.count(&stale);
            }
            self.replace(now, connection, "replaced by a new connection", outbox)?;
            self.opened = true;
        }
        let mut wake = None;
        let reports = outbox.reports.len();
        for handshake in &mut self.handshakes {
            wake = earlier_of(wake, handshake.poll(now, outbox)?);
        }
        // They have no application yet.
        outbox.reports.truncate(reports);
        Ok(wake)
    }

    /// Why something should progress, if it should.
    fn waits_for(&self) -> Option<&'static str> {
        if self.role == Role::Server || self.present.is_waiting() || self.is_done() {
            None
        } else if !self.present.has_address() {
            Some("its address is gone")
        } else if self.present.awaits() {
            Some("an answer is due")
        } else if self.log.as_ref().is_some_and(|log| !log.is_empty()) {
            Some("data is unacknowledged")
        } else {
            None
        }
    }

    /// Whether everything has arrived, as far as this end can tell.
    fn is_done(&self) -> bool {
        match &self.log {
            Some(log) => self.finished && log.is_empty(),
            None => self.present.has_all(),
        }
    }

    /// When the client runs out of patience, and why, unless something progresses until then.
    fn patience(&mut self, now: SimTime) -> Option<(SimTime, &'static str)> {
        let Some(reason) = self.waits_for() else {
            self.stands_since = None;
            return None;
        };
        let progress = self.present.progress();
        if self.progress != progress {
            (self.progress, self.stands_since) = (progress, None);
        }
        Some((*self.stands_since.get_or_insert(now) + self.reconnect.after, reason))
    }
}

fn earlier_of(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    one.into_iter().chain(other).min()
}

impl Endpoint for ReconnectingTcp {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        match input {
            Input::Packet(packet) => {
                // A TCP port drops all other packets, as a host does.
                if let Body::Tcp(segment) = packet.body {
                    self.receive(now, packet, &segment)?;
                    self.opened |= self.present.is_open();
                }
                return Ok(());
            }
            Input::Message { message, .. } => {
                if let Some(log) = &mut self.log {
                    log.push(message);
                }
            }
            Input::Finish => self.finished = true,
            Input::Datagram { .. }
            | Input::Open { .. }
            | Input::Interface(_)
            | Input::Carrier(_)
            | Input::Forecast(_)
            | Input::InterfaceForecast(_)
            | Input::Access(_) => {}
        }
        self.present.input(now, input)
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        let handshakes = self.accept(now, outbox)?;
        let mut wake = self.present.poll(now, outbox)?;
        if let Some(log) = &mut self.log {
            log.acknowledge(self.present.acknowledged());
        }
        let reset = self.role == Role::Client && self.present.lost().is_some() && !self.is_done();
        let mut patience = self.patience(now);
        let expired = patience.filter(|(end, _)| *end <= now).map(|(_, reason)| reason);
        if reset || expired.is_some() {
            let after = self.reconnect.after;
            let reason = format!("no progress for {after}: {}", expired.unwrap_or_default());
            self.reconnect(now, &reason, outbox)?;
            wake = self.present.poll(now, outbox)?;
            patience = self.patience(now);
        }
        self.report_opening(outbox);
        Ok(earlier_of(wake, earlier_of(handshakes, patience.map(|(end, _)| end))))
    }

    fn sample_paths(&self, now: SimTime, samples: &mut Vec<PathSample>) {
        let first = samples.len();
        self.present.sample_paths(now, samples);
        for sample in &mut samples[first..] {
            sample.totals += self.totals;
        }
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.present.send_buffer()
    }

    fn totals(&self) -> Totals {
        let mut totals = self.totals;
        for connection in self.handshakes.iter().chain([&self.present]) {
            totals += connection.totals();
        }
        totals
    }

    fn rtts(&self) -> LogHistogram {
        let mut rtts = self.rtts.clone();
        rtts.add(&self.present.rtts());
        rtts
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        self.present.finish(now)
    }
}

#[cfg(test)]
mod tests {
    use super::Ports;

    #[test]
    fn flows_never_share_a_port() {
        let ports = |first| {
            let range = Ports { first: 1_000, last: 1_010, step: 3 };
            let next = std::iter::successors(Some(first), move |port| Some(range.after(*port)));
            next.take(6).collect::<Vec<_>>()
        };
        assert_eq!(ports(1_000), [1_000, 1_003, 1_006, 1_009, 1_000, 1_003]);
        assert_eq!(ports(1_001), [1_001, 1_004, 1_007, 1_010, 1_001, 1_004]);
        assert_eq!(ports(1_002), [1_002, 1_005, 1_008, 1_002, 1_005, 1_008]);
        let last = Ports { first: 65_000, last: u16::MAX, step: 300 };
        assert_eq!(last.after(65_300), 65_000);
    }
}
