//! The runner of scripts.

use std::net::SocketAddr;

use leobench_base::packet::Protocol;
use leobench_base::{Bytes, Ecn, Meta};
use leobench_transport::buffer::Message;
use leobench_transport::endpoint::{Input, Outbox};

use super::peer::{Peer, Read};
use super::*;
use crate::wire::Level;

/// A script on a connected end begins this long after the handshake.
const CONNECTED: u64 = 300;

pub(super) struct Player {
    role: Role,
    end: QuicEndpoint,
    pub(super) peer: Peer,
    /// When the script begins.
    start: SimTime,
    now: SimTime,
    wake: Option<SimTime>,
    record: Vec<String>,
    burst: Option<Burst>,
    last: Vec<Vec<u8>>,
    /// Whether the end marks its packets.
    marks: bool,
}

/// Packets in a row with a single STREAM frame of one size each.
struct Burst {
    at: SimTime,
    id: u64,
    len: u64,
    numbers: (u64, u64),
    bytes: (u64, u64),
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 4_433))
}

impl Player {
    pub(super) fn new(setup: &Setup) -> Self {
        let attributes = [Attributes::default()];
        let mut end = QuicEndpoint::new(&QuicConfig {
            spec: &setup.spec,
            role: setup.role,
            sends: &attributes,
            receives: setup.receives,
            datagrams: false,
            message_streams: None,
            local: address(1),
            remote: address(2),
            start: SimTime::ZERO,
            rng: &RngTree::new(1),
            plugins: &in_order(),
            qlog: None,
        })
        .unwrap();
        end.send_bytes();
        let mut player = Self {
            role: setup.role,
            end,
            peer: Peer::new(setup),
            start: SimTime::ZERO,
            now: SimTime::ZERO,
            wake: None,
            record: Vec::new(),
            burst: None,
            last: Vec::new(),
            marks: setup.spec.ecn,
        };
        player.poll();
        player
    }

    /// Plays the handshake, with round trips of 100 ms.
    pub(super) fn connect(&mut self) {
        let lines: &[(u64, &str)] = match self.role {
            Role::Client => &[
                (100, "initial: ack 0, hello"),
                (100, "handshake: crypto 0-1000"),
                (100, "handshake: crypto 1000-2000"),
                (100, "handshake: crypto 2000-2400"),
                (200, "data: ack 0, handshake-done"),
            ],
            Role::Server => &[
                (0, "initial: hello"),
                (100, "initial: ack 0"),
                (100, "handshake: finished"),
                (200, "data: ack 0"),
            ],
        };
        for (at, datagram) in lines {
            self.run(ms(*at));
            // Whoever marks expects counts.
            let counted = datagram.replace("ack 0", "ack 0 ect 1");
            self.hear(if self.marks { &counted } else { datagram });
        }
        self.run(ms(CONNECTED));
        self.start = ms(CONNECTED);
        self.peer.begin();
        self.record.clear();
    }

    /// Plays a script and compares the record with it.
    pub(super) fn play(mut self, script: &str) {
        let mut expected = Vec::new();
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (time, action) = line.split_once(' ').unwrap();
            let millis: f64 = time.parse().unwrap();
            let time = self.start + SimDuration::from_secs_f64(millis / 1e3);
            let action = action.trim();
            self.run(time);
            if action.starts_with(['>', '!']) {
                expected.push(format!("{} {action}", self.show(time)));
            } else {
                self.act(action);
            }
        }
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert!(self.record == expected, "expected {expected:#?}\nfound {:#?}", self.record);
    }

    /// The error that the end closes with when these datagrams arrive, one a millisecond; none if it does not close.
    pub(super) fn answer(mut self, datagrams: &[&str]) -> Option<String> {
        for (at, datagram) in datagrams.iter().enumerate() {
            self.run(self.start + SimDuration::from_millis(at as u64));
            self.hear(datagram);
        }
        let closes = self.record.iter().find_map(|line| line.split_once("close "));
        closes.map(|(_, rest)| rest.split([' ', ',']).next().unwrap_or_default().to_owned())
    }

    /// Milliseconds from the start of the script.
    fn show(&self, time: SimTime) -> String {
        format!("{}", time.saturating_since(self.start).as_nanos() as f64 / 1e6)
    }

    /// Runs up to and including a time.
    pub(super) fn run(&mut self, to: SimTime) {
        while let Some(wake) = self.wake.filter(|wake| *wake <= to) {
            self.now = wake;
            self.poll();
        }
        self.now = to;
    }

    fn act(&mut self, action: &str) {
        let (verb, rest) = action.split_once(' ').unwrap_or((action, ""));
        match verb {
            "write" => {
                let (size, times) = rest.split_once(" x").unwrap_or((rest, "1"));
                let size = Bytes::new(size.parse().unwrap());
                for _ in 0..times.parse().unwrap() {
                    let message = Message { size, created: self.now };
                    self.input(Input::Message { stream: 0.into(), message });
                }
            }
            "finish" => self.input(Input::Finish),
            "close" => {
                self.end.close(self.now, rest.parse().unwrap());
                self.poll();
            }
            "again" => {
                for bytes in self.last.clone() {
                    self.deliver(&bytes, Ecn::NotEct, address(2));
                }
            }
            "retry" => {
                let (source, fault) = rest.split_once(' ').unwrap_or((rest, ""));
                let bytes = self.peer.retry(source.parse().unwrap(), fault == "corrupt");
                self.deliver(&bytes, Ecn::NotEct, address(2));
            }
            "reset" => {
                let (sequence, form) = rest.split_once(' ').unwrap_or((rest, ""));
                let bytes = Peer::reset(sequence.parse().unwrap(), form == "long");
                self.deliver(&bytes, Ecn::NotEct, address(2));
            }
            "<" => self.hear(rest),
            "=" => self.check(rest),
            other => panic!("{other}"),
        }
    }

    fn input(&mut self, input: Input<'_>) {
        self.end.input(self.now, input).unwrap();
        self.poll();
    }

    fn hear(&mut self, datagrams: &str) {
        self.last = self.peer.send(datagrams);
        let head = datagrams.split(':').next().unwrap_or_default();
        let ecn = if head.contains(" marked") { Ecn::Ce } else { Ecn::NotEct };
        let from = address(if head.contains(" elsewhere") { 3 } else { 2 });
        for bytes in self.last.clone() {
            self.deliver(&bytes, ecn, from);
        }
    }

    fn deliver(&mut self, bytes: &[u8], ecn: Ecn, from: SocketAddr) {
        let size = Bytes::new(bytes.len() as u64) + IPV4_UDP_HEADER;
        let meta = Meta::new(self.now, Protocol::Udp, from, address(1), size);
        let meta = meta.with_ecn(ecn);
        let mut packet = Packet { meta, body: Body::UdpBytes(BytesMut::from(bytes)) };
        self.input(Input::Packet(&mut packet));
    }

    fn check(&self, text: &str) {
        let (what, value) = text.split_once(' ').unwrap();
        let mut samples = Vec::new();
        self.end.sample_paths(self.now, &mut samples);
        let path = &samples[0];
        let found = match what {
            "window" => path.cwnd.get(),
            "in-flight" => path.in_flight.unwrap().get(),
            "rtt" => path.smoothed_rtt.unwrap().as_nanos() / 1_000_000,
            other => panic!("{other}"),
        };
        assert_eq!(found.to_string(), value, "{what} at {}", self.show(self.now));
    }

    fn poll(&mut self) {
        let mut outbox = Outbox::default();
        self.wake = self.end.poll(self.now, &mut outbox).unwrap();
        let time = self.show(self.now);
        for event in outbox.events.iter().filter(|event| event.kind != "phase") {
            // The packet that closes shows the error.
            let shows_error = event.detail.starts_with("closed by an error of ");
            let tells = event.kind == "lost" && !shows_error;
            let detail = if tells { format!(" {}", event.detail) } else { String::new() };
            self.record.push(format!("{time} ! {}{detail}", event.kind));
            self.burst = None;
        }
        for packet in outbox.packets {
            let Body::UdpBytes(bytes) = packet.body else { panic!("no bytes") };
            if Peer::is_reset(&bytes) {
                self.note_reset(&time);
                continue;
            }
            let packets = self.peer.read(&bytes);
            if packet.meta.destination != address(2) {
                let texts: Vec<_> = packets.iter().map(|read| self.peer.describe(read)).collect();
                self.record.push(format!("{time} > elsewhere {}", texts.join(" | ")));
                self.burst = None;
                continue;
            }
            self.note(&packets, bytes.len());
        }
    }

    /// Records a stateless reset, together with others of the same time.
    fn note_reset(&mut self, time: &str) {
        self.burst = None;
        let resets = format!("{time} > reset x");
        let before = self.record.last().and_then(|last| last.strip_prefix(&resets)?.parse().ok());
        if before.is_some() {
            self.record.pop();
        }
        self.record.push(format!("{resets}{}", before.unwrap_or(0_u32) + 1));
    }

    /// Records a datagram, as part of the burst before it if possible.
    fn note(&mut self, packets: &[Read], size: usize) {
        let next = self.burst_of(packets);
        let extends = |before: &Burst, next: &Burst| {
            (before.at, before.id, before.len) == (next.at, next.id, next.len)
                && before.numbers.1 + 1 == next.numbers.0
                && before.bytes.1 == next.bytes.0
        };
        if let (Some(before), Some(next)) = (&mut self.burst, &next)
            && extends(before, next)
        {
            (before.numbers.1, before.bytes.1) = (next.numbers.1, next.bytes.1);
            let Burst { id, numbers, bytes, .. } = before;
            let text =
                format!("data {}-{}: stream {id} {}-{}", numbers.0, numbers.1, bytes.0, bytes.1);
            self.record.pop();
            self.record.push(format!("{} > {text}", self.show(self.now)));
            return;
        }
        self.burst = next;
        let texts: Vec<_> = packets.iter().map(|read| self.peer.describe(read)).collect();
        let mut text = texts.join(" | ");
        let has_padding = packets
            .iter()
            .any(|read| read.packet.frames.iter().any(|frame| matches!(frame, Frame::Padding(_))));
        let has_initial = packets.iter().any(|read| read.packet.header.level() == Level::Initial);
        if (has_initial || has_padding) && size >= 1_200 {
            text = format!("{text} [{size}]");
        }
        self.record.push(format!("{} > {text}", self.show(self.now)));
    }

    fn burst_of(&self, packets: &[Read]) -> Option<Burst> {
        let [Read { packet, to: 0 }] = packets else { return None };
        let [Frame::Stream { id, offset, len, fin: false, .. }] = packet.frames[..] else {
            return None;
        };
        let number = packet.header.number().value.checked_sub(self.peer.bases[1])?;
        let (numbers, bytes) = ((number, number), (offset, offset + len));
        Some(Burst { at: self.now, id: id.0, len, numbers, bytes })
    }
}
