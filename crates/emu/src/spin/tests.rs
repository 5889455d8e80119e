use super::*;

const LONG_HEADER: [u8; 5] = [0xc0, 0, 0, 0, 1];
const RTT: SimDuration = SimDuration::from_millis(50);

/// A connection of which only what is sent to the client is seen, after a handshake.
struct Seen {
    observer: SpinObserver,
    client: SocketAddr,
    server: SocketAddr,
}

fn seen(handshake: bool) -> Seen {
    let client = SocketAddr::from(([172, 16, 0, 1], 5_000));
    let server = SocketAddr::from(([172, 16, 0, 2], 4_433));
    let mut observer = SpinObserver::default();
    observer.observe(at(25), client, server, &LONG_HEADER);
    if handshake {
        observer.observe(at(50), server, client, &LONG_HEADER);
        observer.observe(at(75), client, server, &LONG_HEADER);
    }
    Seen { observer, client, server }
}

fn at(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

impl Seen {
    /// Packets to the client at milliseconds, with the bit that each has.
    fn packets(&mut self, packets: impl IntoIterator<Item = (u64, bool)>) -> &mut Self {
        for (millis, spin) in packets {
            let first = 0x40 | if spin { SPIN } else { 0 };
            self.observer.observe(at(millis), self.server, self.client, &[first, 1, 2]);
        }
        self
    }

    fn flow(&self) -> SpinFlow {
        self.observer.flows().find(|flow| flow.source == self.server).unwrap()
    }

    fn rtts(&self) -> Vec<u64> {
        self.flow().samples.iter().map(|sample| sample.rtt.as_nanos() / 1_000_000).collect()
    }
}

/// A packet every 5 ms, whose bit changes every 50.
fn spinning(from: u64, to: u64) -> impl Iterator<Item = (u64, bool)> {
    (from..to).step_by(5).map(|millis| (millis, millis / 50 % 2 == 1))
}

#[test]
fn edges_are_a_round_trip_apart() {
    let mut seen = seen(true);
    seen.packets(spinning(100, 350));
    assert_eq!(seen.rtts(), [50; 3]);
    let flow = seen.flow();
    assert_eq!((flow.packets, flow.spin), (50, SpinUse::Spins));
    assert_eq!(flow.samples[0], SpinSample { at: at(200), rtt: RTT });
}

/// RFC 9000 section 17.4: an end may choose any constant.
#[test]
fn a_constant_bit_gives_no_samples() {
    for value in [false, true] {
        let mut seen = seen(true);
        seen.packets((100..400).map(|millis| (millis, value)));
        assert_eq!((seen.flow().spin, seen.rtts()), (SpinUse::Constant, vec![]));
    }
}

/// A packet that comes 1 or 6 ms after the edge still has the old bit: two edges, each too soon.
#[test]
fn reordering_across_an_edge_makes_no_samples() {
    for late in [1, 6, 12] {
        let mut packets: Vec<_> = spinning(100, 400).collect();
        for edge in (150..400).step_by(50) {
            packets.push((edge + late, edge / 50 % 2 == 0));
        }
        packets.sort_unstable();
        let mut seen = seen(true);
        seen.packets(packets);
        assert_eq!(seen.rtts(), [50; 4], "{late} ms late");
        assert_eq!(seen.flow().spin, SpinUse::Spins);
    }
}

/// Without a handshake to compare with, up to two late packets are no edge.
#[test]
fn without_a_handshake_an_edge_has_to_stay() {
    let mut packets: Vec<_> = spinning(100, 400).collect();
    packets.extend([(151, false), (152, false)]);
    packets.sort_unstable();
    let mut seen = seen(false);
    seen.packets(packets);
    assert_eq!(seen.rtts(), [50; 4]);
}

#[test]
fn a_path_that_becomes_shorter_is_followed() {
    let mut seen = seen(true);
    // From 300 ms on, a packet each millisecond, and a round trip of 20.
    seen.packets(spinning(100, 300));
    seen.packets((300..400).map(|millis| (millis, (millis - 300) / 20 % 2 == 0)));
    let rtts = seen.rtts();
    // The edge at 300 ms did not come: 50 of the old round trip, and 20.
    assert_eq!(rtts, [50, 50, 70, 20, 20, 20]);
}

/// RFC 9000 section 17.4 allows a random bit for each packet.
#[test]
fn a_random_bit_gives_no_samples() {
    let mut random = 7_u64;
    let mut seen = seen(true);
    seen.packets((100..2_000).map(|millis| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (millis, random >> 63 == 1)
    }));
    assert_eq!((seen.flow().spin, seen.rtts()), (SpinUse::Random, vec![]));
}

/// After a move the addresses differ; the server is known.
#[test]
fn a_connection_is_known_at_another_address() {
    let mut seen = seen(true);
    seen.packets(spinning(100, 200));
    seen.client = SocketAddr::from(([10, 0, 0, 9], 5_000));
    seen.packets(spinning(200, 400));
    let moved: Vec<_> =
        seen.observer.flows().filter(|flow| flow.destination == seen.client).collect();
    assert_eq!(moved[0].samples.len(), 2);
    assert!(moved[0].samples.iter().all(|sample| sample.rtt == RTT));
}

/// Of a sender that has nothing to send for 200 ms; of 90, the observer cannot tell.
#[test]
fn an_edge_after_a_pause_tells_nothing() {
    let mut seen = seen(true);
    seen.packets(spinning(100, 350)).packets([(555, true), (600, false), (690, true)]);
    assert_eq!(seen.rtts(), [50, 50, 50, 45, 90]);
}

/// One packet in a round trip changes the bit each time.
#[test]
fn a_slow_sender_spins_with_each_packet() {
    let mut seen = seen(true);
    seen.packets((2..40).map(|number| (number * 55, number % 2 == 0)));
    assert_eq!((seen.flow().spin, seen.rtts()), (SpinUse::Spins, vec![55; 36]));
}

#[test]
fn other_datagrams_are_not_quic() {
    let mut observer = SpinObserver::default();
    let ends = [1, 2].map(|last| SocketAddr::from(([172, 16, 0, last], 53)));
    for millis in 0..100 {
        let first = if millis % 2 == 0 { 0x40 } else { 0x60 };
        observer.observe(at(millis), ends[0], ends[1], &[first, 0, 0, 0, 0]);
        observer.observe(at(millis), ends[0], ends[1], &[0xc0, 0, 0, 0, 9]);
        observer.observe(at(millis), ends[0], ends[1], &[]);
    }
    assert_eq!(observer.flows().count(), 0);
}
