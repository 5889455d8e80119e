//! A client and a server, and a path that does to every datagram what the input says.
//!
//! The first byte chooses the connection. Then every datagram takes a byte, the kind of its fate, and further ones as the fate
//! needs them; without more, all datagrams arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use bytes::BytesMut;
use leobench_base::packet::{IPV4_UDP_HEADER, Protocol};
use leobench_base::spec::{Whole, Window};
use leobench_base::{Body, Bytes, Ecn, Meta, Packet, RngTree, SimDuration, SimTime};
use leobench_quic::wire::{Datagram, Frame, Incoming};
use leobench_quic::{QuicConfig, QuicEndpoint, QuicSpec};
use leobench_transport::Role;
use leobench_transport::buffer::Attributes;
use leobench_transport::endpoint::Report;
use leobench_transport::{Endpoint, Input, Message, Outbox, Plugins};

use super::targets::hash;

/// Bytes written to each stream.
const WRITTEN: u64 = 8_000;
/// More events than an honest connection needs.
const MOST_EVENTS: usize = 3_000;
/// An honest connection is done by then. One whose peer is gone probes for ever, ever more rarely.
const LAST: SimTime = SimTime::from_nanos(3_600_000_000_000);
/// More packets than these bytes need, whatever is lost.
const MOST_PACKETS: usize = 3_000;
/// The bit of the first byte with which the server demands a Retry.
const RETRY: u8 = 0x10;
/// Bytes of the tag at the end of a packet.
const TAG: usize = 16;

struct Genes<'a>(std::slice::Iter<'a, u8>);

impl Genes<'_> {
    fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        self.0.by_ref().take(count).copied().collect()
    }
}

struct Net {
    now: SimTime,
    ends: [QuicEndpoint; 2],
    wakes: [Option<SimTime>; 2],
    flying: BTreeMap<(SimTime, usize), (usize, Vec<u8>, Ecn)>,
    sent: usize,
    old: Vec<Vec<u8>>,
    delivered: BTreeMap<usize, u64>,
    /// Whether any byte was changed.
    is_forged: bool,
    codes: BTreeSet<u64>,
    kinds: BTreeSet<u64>,
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433))
}

fn endpoint(choice: u8, end: usize, streams: usize) -> QuicEndpoint {
    let mut spec = QuicSpec::default();
    if choice & 0x02 != 0 {
        (spec.stream_window, spec.connection_window) =
            (Window::Bytes(Bytes::new(3_000)), Window::Bytes(Bytes::new(5_000)));
    }
    if choice & 0x04 != 0 {
        spec.max_ack_delay = SimDuration::from_millis(5);
    }
    spec.pacing = choice & 0x08 != 0;
    spec.retry = choice & RETRY != 0;
    spec.key_update = (choice & 0x20 != 0).then(|| Whole::nearest(5));
    let client_sends = choice & 0x01 != 0;
    let attributes = vec![Attributes::default(); streams];
    let sends = end == 0;
    QuicEndpoint::new(&QuicConfig {
        spec: &spec,
        role: if sends == client_sends { Role::Client } else { Role::Server },
        sends: if sends { &attributes } else { &[] },
        receives: if sends { 0 } else { streams },
        datagrams: false,
        message_streams: None,
        local: address(end),
        remote: address(1 - end),
        start: SimTime::ZERO,
        rng: &RngTree::new(u64::from(choice)).child(if sends { "sender" } else { "receiver" }),
        plugins: Plugins::NONE,
        qlog: None,
    })
    .unwrap()
}

/// Plays an input.
pub(crate) fn run(input: &[u8]) -> u64 {
    let mut genes = Genes(input.iter());
    let choice = genes.next();
    let streams = 1 + usize::from(choice >> 6);
    let mut net = Net {
        now: SimTime::ZERO,
        ends: [0, 1].map(|end| endpoint(choice, end, streams)),
        wakes: [Some(SimTime::ZERO); 2],
        flying: BTreeMap::new(),
        sent: 0,
        old: Vec::new(),
        delivered: BTreeMap::new(),
        is_forged: false,
        codes: BTreeSet::new(),
        kinds: BTreeSet::new(),
    };
    for stream in 0..streams {
        let message = Message { size: Bytes::new(WRITTEN), created: SimTime::ZERO };
        net.ends[0]
            .input(SimTime::ZERO, Input::Message { stream: stream.into(), message })
            .unwrap();
    }
    net.ends[0].input(SimTime::ZERO, Input::Finish).unwrap();
    let is_done = net.run(&mut genes);
    let lost = net.ends.each_ref().map(|end| end.lost().map(|loss| loss.reason.clone()));
    // The token of a Retry expires before all probes of a client are lost.
    if !net.is_forged && is_done && choice & RETRY == 0 {
        assert_eq!(lost, [None, None]);
        assert_eq!(net.delivered.values().sum::<u64>(), WRITTEN * streams as u64);
    }
    hash((lost, net.codes, net.kinds))
}

impl Net {
    /// Runs until nothing happens any more; whether that was soon.
    fn run(&mut self, genes: &mut Genes<'_>) -> bool {
        for _ in 0..MOST_EVENTS {
            let arrival = self.flying.first_key_value().map(|((at, _), _)| *at);
            let next = self.wakes.into_iter().flatten().chain(arrival).min();
            let Some(next) = next.filter(|next| *next < LAST) else { return true };
            self.now = self.now.max(next);
            if let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= next) {
                let (end, bytes, ecn) = entry.remove();
                self.deliver(end, &bytes, ecn);
                self.poll(end, genes);
            } else {
                let end = usize::from(self.wakes[0] != Some(next));
                self.poll(end, genes);
            }
        }
        false
    }

    fn deliver(&mut self, end: usize, bytes: &[u8], ecn: Ecn) {
        let size = Bytes::new(bytes.len() as u64) + IPV4_UDP_HEADER;
        let meta = Meta::new(self.now, Protocol::Udp, address(1 - end), address(end), size);
        let body = Body::UdpBytes(BytesMut::from(bytes));
        let mut packet = Packet { meta: meta.with_ecn(ecn), body };
        self.ends[end].input(self.now, Input::Packet(&mut packet)).unwrap();
    }

    fn poll(&mut self, end: usize, genes: &mut Genes<'_>) {
        let mut outbox = Outbox::default();
        self.wakes[end] = self.ends[end].poll(self.now, &mut outbox).unwrap();
        assert!(self.wakes[end].is_none_or(|wake| wake > self.now), "a wake-up in the past");
        for report in outbox.reports {
            if let Report::Delivered { stream, offset } = report {
                let known = self.delivered.insert(stream.index(), offset);
                assert!(known < Some(offset), "{stream:?} at {offset} after {known:?}");
            }
        }
        for packet in outbox.packets {
            let mut bytes = BytesMut::new();
            match packet.body {
                Body::Udp(payload) => {
                    payload.encode(&mut bytes);
                    if let Some(Datagram::Packets(packets)) = Datagram::of_payload(&*payload) {
                        let frames = packets.iter().flat_map(|packet| &packet.frames);
                        frames.for_each(|frame| self.look_at(frame));
                    }
                }
                Body::UdpBytes(answer) => bytes = answer,
                body => panic!("{body:?}"),
            }
            assert_eq!(bytes.len() as u64, (packet.meta.size - IPV4_UDP_HEADER).get());
            self.sent += 1;
            assert!(self.sent < MOST_PACKETS, "so many packets for so few bytes");
            self.meet_fate(1 - end, &bytes, genes);
        }
    }

    /// An end closes with an error of the peer, never with one of its own.
    fn look_at(&mut self, frame: &Frame) {
        self.kinds.insert(frame.frame_type());
        if let Frame::ConnectionClose(close) = frame {
            assert!(close.frame_type.is_some(), "no application closes here: {close:?}");
            assert!((2..=0x10).contains(&close.code), "{close:?}");
            self.codes.insert(close.code);
        }
    }

    fn fly(&mut self, to: usize, bytes: Vec<u8>, ecn: Ecn, micros: u64) {
        let at = self.now + SimDuration::from_micros(10_000 + micros);
        let order = self.sent * 2 + self.flying.len();
        let mut key = (at, order);
        while self.flying.contains_key(&key) {
            key.1 += 1;
        }
        self.flying.insert(key, (to, bytes, ecn));
    }

    fn meet_fate(&mut self, to: usize, bytes: &[u8], genes: &mut Genes<'_>) {
        let mut bytes = bytes.to_vec();
        let fate = genes.next();
        let mut ecn = Ecn::Ect0;
        match fate {
            0x00..0x80 => {}
            0x80..0x90 => return,
            0x90..0xa0 => self.fly(to, bytes.clone(), Ecn::Ect0, 1_000 * u64::from(fate)),
            0xa0..0xb0 => ecn = Ecn::Ce,
            0xb0..0xc0 => {
                let at =
                    usize::from(u16::from_be_bytes([genes.next(), genes.next()])) % bytes.len();
                bytes[at] ^= genes.next();
                self.is_forged = true;
            }
            0xc0..0xd0 => {
                let len = usize::from(u16::from_be_bytes([genes.next(), genes.next()]));
                bytes.truncate(len % (bytes.len() + 1));
                self.is_forged = true;
            }
            0xd0..0xf0 => {
                let len = usize::from(genes.next());
                bytes = with_payload(&bytes, &genes.take(len));
                self.is_forged = true;
            }
            0xf0..0xf8 => {
                let len = usize::from(genes.next());
                bytes.extend(genes.take(len));
                self.is_forged = true;
            }
            0xf8..=0xff => {
                let back = usize::from(genes.next()) % (self.old.len() + 1);
                if let Some(old) = self.old.get(back).cloned() {
                    self.fly(usize::from(fate & 1), old, Ecn::NotEct, 500);
                }
                self.is_forged = true;
            }
        }
        let late = if fate < 0x80 { u64::from(fate) * 100 } else { 0 };
        self.old.push(bytes.clone());
        self.fly(to, bytes, ecn, late);
    }
}

/// A datagram whose last packet has another payload.
fn with_payload(datagram: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut start = 0;
    while let Some(Incoming::Packet(header)) = Incoming::decode(&datagram[start..], 8) {
        if start + header.size < datagram.len() {
            start += header.size;
            continue;
        }
        let number_len = usize::from(datagram[start] & 0x03) + 1;
        let mut out = datagram[..start + header.number_offset + number_len].to_vec();
        if datagram[start] & 0x80 != 0 {
            // The stack writes the Length field in two bytes.
            let length = (number_len + payload.len() + TAG) as u16 | 0x4000;
            let at = start + header.number_offset - 2;
            out[at..at + 2].copy_from_slice(&length.to_be_bytes());
        }
        out.extend_from_slice(payload);
        out.extend_from_slice(&[0; TAG]);
        return out;
    }
    datagram.to_vec()
}
