//! Two of our own ends that exchange datagrams, by hand.

use leobench_base::spec::Window;
use leobench_base::{Bytes as Size, SimDuration};

use super::*;
use crate::crypto::{Certificate, TlsSettings};
use crate::tests::spec;
use crate::wire::Content as _;

const BIDIRECTIONAL: Directionality = Directionality::Bidirectional;
const DELAY: SimDuration = SimDuration::from_millis(10);

fn config(role: Role) -> ByteConfig {
    ByteConfig {
        role,
        spec: spec(|spec| spec.stream_window = Window::Bytes(Size::new(20_000))),
        tls: Some(TlsSettings {
            server_name: "test".to_owned(),
            certificate: Certificate::self_signed("test", &[1; 32]),
            protocols: vec![b"test".to_vec()],
            key_log: None,
            sessions: None,
        }),
        bidirectional: 10,
        unidirectional: 10,
        datagrams: role == Role::Server,
        seed: 1,
    }
}

/// A client and a server.
struct Pair {
    now: SimTime,
    ends: [ByteConnection; 2],
    events: [Vec<ByteEvent>; 2],
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

impl Pair {
    fn new() -> Self {
        let now = SimTime::ZERO;
        let ends = [Role::Client, Role::Server]
            .map(|role| ByteConnection::new(&config(role), now).unwrap());
        Self { now, ends, events: [Vec::new(), Vec::new()] }
    }

    fn connected() -> Self {
        let mut pair = Self::new();
        pair.rest();
        for end in [CLIENT, SERVER] {
            assert_eq!(pair.take(end), [ByteEvent::Established]);
        }
        pair
    }

    fn datagrams(&mut self, from: usize) -> Vec<BytesMut> {
        std::iter::from_fn(|| self.ends[from].transmit(self.now).unwrap()).collect()
    }

    fn hand(&mut self, from: usize, datagrams: Vec<BytesMut>) {
        for datagram in datagrams {
            self.ends[1 - from].receive(self.now, datagram).unwrap();
        }
        for (end, events) in self.ends.iter_mut().zip(&mut self.events) {
            events.extend(std::iter::from_fn(|| end.next_event()));
        }
    }

    /// Lets datagrams pass, each way at once, until neither end has any, and no timer is due within a second.
    fn rest(&mut self) {
        loop {
            let out = [CLIENT, SERVER].map(|end| self.datagrams(end));
            if out.iter().all(Vec::is_empty) {
                let timers = self.ends.iter_mut().filter_map(|end| end.timer(self.now));
                let soon = self.now + SimDuration::from_secs(1);
                let Some(next) = timers.min().filter(|next| *next < soon) else { return };
                self.now = next;
                self.ends.iter_mut().for_each(|end| end.on_timer(next));
            } else {
                self.now += DELAY;
                out.into_iter().enumerate().for_each(|(from, out)| self.hand(from, out));
            }
        }
    }

    fn take(&mut self, end: usize) -> Vec<ByteEvent> {
        std::mem::take(&mut self.events[end])
    }
}

fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 7 + at / 251) as u8).collect()
}

/// The data of a stream in events, one after the other.
fn data(events: &[ByteEvent], stream: u64) -> Vec<u8> {
    let pieces = events.iter().filter_map(|event| match event {
        ByteEvent::Data { id, data } if *id == stream => Some(&data[..]),
        _ => None,
    });
    pieces.collect::<Vec<_>>().concat()
}

#[test]
fn bytes_of_streams_arrive_and_are_kept_no_longer_than_needed() {
    let mut pair = Pair::connected();
    let id = pair.ends[CLIENT].open(BIDIRECTIONAL).unwrap();
    let content = bytes(100_000);
    for half in content.chunks(50_000) {
        assert!(pair.ends[CLIENT].write(id, half));
        pair.rest();
    }
    // What was acknowledged before the last write is gone, the rest goes with the end of the stream.
    assert_eq!(pair.ends[CLIENT].contents.kept(), (50_000, 0));
    assert!(pair.ends[CLIENT].finish(id) && !pair.ends[CLIENT].write(id, b"late"));
    pair.rest();
    assert_eq!(pair.take(CLIENT), [ByteEvent::Acked { id }]);
    let events = pair.take(SERVER);
    assert_eq!(data(&events, id), content);
    assert_eq!(events.last(), Some(&ByteEvent::Finished { id }));
    assert_eq!(pair.ends.each_ref().map(|end| end.contents.kept()), [(0, 0); 2]);
}

#[test]
fn pieces_that_overlap_and_overtake_each_other_are_read_once() {
    let mut contents = Contents::default();
    let all = bytes(100);
    for (start, end) in [(50, 80), (10, 60), (50, 55), (90, 100), (0, 20)] {
        assert!(contents.check(StreamId(4), start, &all[start as usize..end]));
    }
    contents.settle(true);
    assert_eq!(contents.read(4, 0, 15)[..], all[..15]);
    assert_eq!(contents.read(4, 15, 80)[..], all[15..80]);
    assert!(contents.check(StreamId(4), 70, &all[70..95]));
    contents.settle(true);
    assert_eq!(contents.read(4, 80, 100)[..], all[80..]);
    // A packet that ends the connection was not checked.
    assert!(contents.check(StreamId(8), 0, &all));
    contents.settle(false);
    contents.prune_received(|id| id == 8);
    assert_eq!(contents.kept(), (0, 0));
}

#[test]
fn stopped_and_abandoned_streams_keep_no_bytes() {
    let mut pair = Pair::connected();
    let ids = [0; 3].map(|_| pair.ends[CLIENT].open(BIDIRECTIONAL).unwrap());
    for id in ids {
        assert!(pair.ends[CLIENT].write(id, &bytes(50_000)));
    }
    let first = pair.datagrams(CLIENT);
    assert!(pair.ends[CLIENT].reset(ids[0], 5));
    pair.hand(CLIENT, first);
    let now = pair.now;
    assert!(pair.ends[SERVER].stop(now, ids[1], 6));
    pair.rest();
    assert!(pair.take(SERVER).contains(&ByteEvent::Reset { id: ids[0], code: 5 }));
    assert!(pair.take(CLIENT).contains(&ByteEvent::Stopped { id: ids[1], code: 6 }));
    assert_eq!(pair.ends.each_ref().map(|end| end.contents.kept()), [(50_000, 0), (0, 0)]);
}

/// RFC 9000 section 10.2.
#[test]
fn a_close_arrives_with_its_code_and_reason() {
    for closer in [CLIENT, SERVER] {
        let mut pair = Pair::connected();
        let now = pair.now;
        pair.ends[closer].close(now, 1 << 40, "enough");
        pair.rest();
        let Some(ByteEvent::Lost { close, reason }) = pair.take(1 - closer).pop() else {
            panic!("the other end is told")
        };
        let reason_phrase = Bytes::from_static(b"enough");
        let told = PeerClose { code: 1 << 40, by_application: true, reason: reason_phrase };
        assert_eq!(
            (close, &reason[..]),
            (Some(told), "closed by the peer: application error 0x10000000000 enough")
        );
        let own = ByteEvent::Lost { reason: "closed by the application".to_owned(), close: None };
        assert_eq!(pair.take(closer), [own]);
        assert!(pair.ends.iter().all(ByteConnection::is_closed), "both are forgotten");
        assert_eq!(pair.ends[closer].open(BIDIRECTIONAL), None);
    }
}

/// RFC 9001 section 6: either end may start an update once the last one is settled.
#[test]
fn keys_are_updated_by_either_end() {
    let mut pair = Pair::connected();
    for (round, end) in [CLIENT, SERVER, SERVER, CLIENT].into_iter().enumerate() {
        let now = pair.now;
        assert!(pair.ends[end].update_keys(now), "{round}");
        assert!(!pair.ends[end].update_keys(now), "not before the peer has answered");
        // Both receive an acknowledgement of something under the new keys (section 6.1).
        for from in [end, 1 - end] {
            let id = pair.ends[from].open(BIDIRECTIONAL).unwrap();
            assert!(pair.ends[from].write(id, b"under new keys"));
            pair.rest();
            assert_eq!(data(&pair.take(1 - from), id), b"under new keys");
        }
        let phases = pair.ends.each_mut().map(|end| end.connection().unwrap().key_phase());
        assert_eq!(phases, [round % 2 == 0; 2]);
        // The keys before are kept for three probe timeouts (section 6.5).
        pair.now += SimDuration::from_secs(2);
    }
}

/// A first packet that was damaged has another destination ID than the client chose, and so other keys than the client
/// has: a server that took it for the client's would never understand a packet of it. Its tag shows it (RFC 9001 section 5.2).
#[test]
fn a_damaged_first_packet_opens_no_connection() {
    for at in [6, 100] {
        let mut pair = Pair::new();
        let [mut first] = <[BytesMut; 1]>::try_from(pair.datagrams(CLIENT)).unwrap();
        let intact = first.clone();
        first[at] ^= 0x10;
        pair.hand(CLIENT, vec![first]);
        assert!(pair.datagrams(SERVER).is_empty());
        pair.hand(CLIENT, vec![intact]);
        pair.rest();
        assert_eq!(pair.take(SERVER), [ByteEvent::Established]);
    }
}
