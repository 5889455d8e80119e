//! A connection with 100,000 streams, of which few are open at a time: what is kept of each must end with it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../../sim/tests/soak/heap.rs"]
mod heap;

use leobench_base::{SimDuration, SimTime};
use leobench_quic::wire::Directionality;
use leobench_quic::{ByteConfig, ByteConnection, ByteEvent, QuicSpec};
use leobench_transport::Role;

/// One-way delay.
const DELAY: SimDuration = SimDuration::from_millis(10);
/// Streams open at a time.
const OPEN: u64 = 100;
/// Bytes that a connection may keep from one tenth of its streams to the next.
const SLACK: i64 = 16_000;

struct Pair {
    now: SimTime,
    client: ByteConnection,
    server: ByteConnection,
    /// Bytes and ends that the server has read.
    read: (u64, u64),
    /// Streams whose end the client knows to have arrived.
    acked: u64,
}

fn end(role: Role) -> ByteConnection {
    let config = ByteConfig {
        role,
        spec: QuicSpec::default(),
        tls: None,
        bidirectional: OPEN,
        unidirectional: OPEN,
        datagrams: false,
        seed: 1,
    };
    ByteConnection::new(&config, SimTime::ZERO).unwrap()
}

impl Pair {
    /// Lets datagrams pass, each way at once, until all streams have ended at both ends.
    fn play(&mut self, streams: u64) {
        for _ in 0..1_000 {
            let Self { client, server, .. } = self;
            let there: Vec<_> = std::iter::from_fn(|| client.transmit(self.now).unwrap()).collect();
            let back: Vec<_> = std::iter::from_fn(|| server.transmit(self.now).unwrap()).collect();
            if there.is_empty() && back.is_empty() {
                if self.acked >= streams {
                    return;
                }
                let timers = [client.timer(self.now), server.timer(self.now)];
                self.now = timers.into_iter().flatten().min().unwrap();
                client.on_timer(self.now);
                server.on_timer(self.now);
                continue;
            }
            self.now += DELAY;
            for datagram in there {
                server.receive(self.now, datagram).unwrap();
            }
            for datagram in back {
                client.receive(self.now, datagram).unwrap();
            }
            self.take_events();
        }
        panic!("after 1,000 rounds, {} of {streams} streams have ended", self.acked);
    }

    fn take_events(&mut self) {
        while let Some(event) = self.server.next_event() {
            match event {
                ByteEvent::Data { data, .. } => self.read.0 += data.len() as u64,
                ByteEvent::Finished { id } => {
                    self.read.1 += 1;
                    if id % 4 == 0 {
                        assert!(self.server.finish(id), "the answer on a stream both ways");
                    }
                }
                ByteEvent::Acked { .. } | ByteEvent::Established => {}
                other => panic!("{other:?}"),
            }
        }
        while let Some(event) = self.client.next_event() {
            match event {
                ByteEvent::Acked { .. } => self.acked += 1,
                ByteEvent::Finished { .. } | ByteEvent::Established => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Streams one way and both ways in turn, each with 150 bytes.
fn play(streams: u64) {
    let (client, server) = (end(Role::Client), end(Role::Server));
    let mut pair = Pair { now: SimTime::ZERO, client, server, read: (0, 0), acked: 0 };
    pair.play(0);
    let mut kept = Vec::new();
    for opened in 0..streams {
        let both_ways = opened % 2 == 0;
        let direction =
            if both_ways { Directionality::Bidirectional } else { Directionality::Unidirectional };
        let id = pair.client.open(direction).expect("few are open");
        assert!(pair.client.write(id, &[7; 150]) && pair.client.finish(id));
        if (opened + 1) % OPEN == 0 {
            pair.play(opened + 1);
        }
        if (opened + 1) % (streams / 10) == 0 {
            kept.push(heap::live());
        }
    }
    assert_eq!(pair.read, (150 * streams, streams));
    for pair in kept[1..].windows(2) {
        assert!(pair[1] - pair[0] <= SLACK, "{kept:?}");
    }
}

#[test]
fn ten_thousand_streams_leave_nothing_behind() {
    play(10_000);
}

#[test]
#[ignore = "the long form"]
fn a_hundred_thousand_streams_leave_nothing_behind() {
    play(100_000);
}
