//! Every byte once and in order, whatever happens to packets.

use leobench_base::SimRng;
use proptest::prelude::*;

use super::*;

/// A packet on its way, and whether the sender takes it as lost.
struct Flight {
    end: usize,
    packet: Packet,
    /// Copies that have not arrived.
    copies: u64,
    /// The sender takes it as lost, though it may arrive.
    is_lost: bool,
    arrived: bool,
}

/// A random exchange.
struct Exchange {
    pair: Pair,
    rng: SimRng,
    flights: Vec<Flight>,
    loss: u64,
    written: [BTreeMap<StreamId, u64>; 2],
    ended: [Vec<StreamId>; 2],
    broken: Vec<StreamId>,
}

impl Exchange {
    fn chance(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    fn send(&mut self, end: usize) {
        let room = 40 + self.rng.below(1_300);
        let Some(packet) = self.pair.packet(end, room) else { return };
        let copies = 1 + u64::from(self.chance(5));
        self.flights.push(Flight { end, packet, copies, is_lost: false, arrived: false });
    }

    /// Something happens to one of the packets.
    fn fly(&mut self) {
        if self.flights.is_empty() {
            return;
        }
        let index = self.rng.below(self.flights.len() as u64) as usize;
        let (drops, misjudged) = (self.chance(self.loss), self.chance(5));
        let flight = &mut self.flights[index];
        let end = flight.end;
        if flight.copies > 0 {
            flight.copies -= 1;
            if !drops {
                flight.arrived = true;
                let packet = flight.packet.clone();
                self.pair.deliver(end, &packet);
            }
        }
        let flight = &mut self.flights[index];
        // Lost for good, or late, or only its acknowledgement is.
        if !flight.is_lost && (!flight.arrived && flight.copies == 0 || misjudged) {
            flight.is_lost = true;
            let packet = flight.packet.clone();
            self.pair.on_lost(end, &packet);
        }
        let flight = &self.flights[index];
        if flight.copies == 0 {
            let flight = self.flights.swap_remove(index);
            if flight.arrived {
                self.pair.on_acked(end, &flight.packet);
            }
        }
    }

    /// An application does something to a stream that it opened, or that the other end did.
    fn act(&mut self, end: usize) {
        let flows = self.pair.ends[end].flow_count() as u64;
        if flows > 0 && self.chance(50) {
            let (stream, size) = (self.rng.below(flows) as usize, 1 + self.rng.below(3_000));
            self.pair.write(end, stream, size);
            *self.written[end].entry(self.pair.ends[end].flow_id(stream.into())).or_default() +=
                size;
            return;
        }
        let kind = if self.chance(50) { BIDIRECTIONAL } else { UNIDIRECTIONAL };
        if self.chance(30)
            && let Some(id) = self.pair.ends[end].open(kind)
        {
            self.written[end].entry(id).or_default();
        }
        let opened = self.pair.logs[end].opened.iter().filter(|id| id.0 & 2 == 0).copied();
        let all: Vec<_> = self.written[end].keys().copied().chain(opened).collect();
        if all.is_empty() {
            return;
        }
        let id = all[self.rng.below(all.len() as u64) as usize];
        let size = self.rng.below(4_000);
        let choice = self.rng.below(100);
        let streams = &mut self.pair.ends[end];
        match choice {
            0..70 => {
                if streams.write(id, size) {
                    *self.written[end].entry(id).or_default() += size;
                }
            }
            70..94 => {
                if streams.end(id) {
                    self.written[end].entry(id).or_default();
                    self.ended[end].push(id);
                }
            }
            94..97 => {
                if streams.reset(id, 7) {
                    self.broken.push(id);
                }
            }
            _ => {
                if streams.stop(self.pair.now, id, 9) {
                    self.broken.push(id);
                }
            }
        }
    }

    /// All applications end their streams, and nothing is lost any more.
    fn conclude(&mut self) {
        for end in [CLIENT, SERVER] {
            self.pair.ends[end].finish();
            for stream in self.pair.ends[end].flow_streams() {
                let id = self.pair.ends[end].flow_id(stream);
                self.written[end].entry(id).or_default();
                self.ended[end].push(id);
            }
        }
        self.loss = 0;
        for _ in 0..200_000 {
            for end in [CLIENT, SERVER] {
                self.send(end);
                let ids: Vec<_> = self.written[end].keys().copied().collect();
                let opened: Vec<_> =
                    self.pair.logs[end].opened.iter().filter(|id| id.0 & 2 == 0).copied().collect();
                for id in ids.into_iter().chain(opened) {
                    if self.pair.ends[end].end(id) {
                        self.written[end].entry(id).or_default();
                        self.ended[end].push(id);
                    }
                }
            }
            self.fly();
            if self.flights.is_empty() && self.pair.ends.iter().all(|end| !end.has_pending()) {
                return;
            }
        }
        panic!("the ends never come to rest");
    }

    fn check(&mut self) {
        for end in [CLIENT, SERVER] {
            let (log, other) = (&self.pair.logs[end], &self.pair.logs[1 - end]);
            for (id, written) in &self.written[end] {
                let read = other.read.get(id).copied().unwrap_or(0);
                assert!(read <= *written, "{id:?}: {read} of {written} read");
                if self.broken.contains(id) {
                    continue;
                }
                assert_eq!(read, *written, "{id:?}");
                let times = |ids: &[StreamId]| ids.iter().filter(|other| *other == id).count();
                assert_eq!((times(&other.finished), times(&log.acked)), (1, 1), "{id:?}");
            }
            let (sender, receiver) = (&self.pair.ends[end], &self.pair.ends[1 - end]);
            assert_eq!(receiver.totals().received, sender.totals().sent);
            assert_eq!(receiver.credit.consumed(), receiver.totals().received);
            assert!(!sender.is_blocked());
            assert_eq!(sender.table.open_streams(), 0);
        }
    }
}

fn exchange(seed: u64, loss: u64, client: &Setup, server: &Setup, steps: u64) -> Exchange {
    let mut exchange = Exchange {
        pair: Pair::new(client, server),
        rng: RngTree::new(seed).child("exchange").rng(),
        flights: Vec::new(),
        loss,
        written: Default::default(),
        ended: Default::default(),
        broken: Vec::new(),
    };
    for _ in 0..steps {
        let end = exchange.rng.below(2) as usize;
        exchange.pair.now += SimDuration::from_micros(100);
        match exchange.rng.below(4) {
            0 => exchange.act(end),
            1 => exchange.send(end),
            _ => exchange.fly(),
        }
    }
    exchange
}

fn any_window() -> impl Strategy<Value = ReceiveWindow> {
    prop_oneof![
        Just(ReceiveWindow::Unlimited),
        (1u64..5_000).prop_map(ReceiveWindow::Fixed),
        (1u64..5_000).prop_map(|initial| ReceiveWindow::Auto { initial, largest: 50_000 }),
    ]
}

fn any_setup() -> impl Strategy<Value = Setup> {
    let schedulers = prop::sample::select(vec!["rr", "fq", "bp", "stbp", "max_delay", "priority"]);
    (0usize..5, schedulers, any_window(), any_window(), 5u64..20).prop_map(
        |(flow_streams, name, stream_window, connection_window, peer_streams)| Setup {
            flow_streams,
            scheduler: scheduler(name),
            stream_window,
            connection_window,
            peer_streams,
            attributes: Attributes::default(),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Loss, reordering, duplication, spurious losses, resets and stops, small windows and few streams.
    #[test]
    fn every_byte_arrives_once_and_in_order(
        seed: u64,
        loss in 0u64..50,
        client in any_setup(),
        server in any_setup(),
    ) {
        let mut exchange = exchange(seed, loss, &client, &server, 600);
        exchange.conclude();
        exchange.check();
    }
}

#[test]
fn what_was_acknowledged_after_all_is_not_sent_again() {
    let mut pair = Pair::new(&Setup { flow_streams: 1, ..Setup::default() }, &Setup::default());
    pair.write(CLIENT, 0, 3_000);
    let packets: Vec<_> = (0..3).map(|_| pair.packet(CLIENT, 1_000).unwrap()).collect();
    for packet in &packets {
        pair.on_lost(CLIENT, packet);
    }
    assert!(pair.ends[CLIENT].has_data());
    pair.on_acked(CLIENT, &packets[1]);
    let again = pair.packet(CLIENT, 1_000).unwrap();
    assert_eq!(data(&again)[0], (2, 0, 998, false));
    // The middle is skipped, and the rest of the last follows.
    pair.on_acked(CLIENT, &packets[2]);
    assert!(pair.ends[CLIENT].has_data(), "14 new bytes remain");
    assert_eq!(data(&pair.packet(CLIENT, 1_000).unwrap()), [(2, 2_990, 10, false)]);
    pair.on_acked(CLIENT, &packets[0]);
    assert!(!pair.ends[CLIENT].has_pending());
    let totals = pair.ends[CLIENT].totals();
    assert_eq!((totals.sent, totals.retransmitted, totals.retransmitted_packets), (3_000, 998, 1));
}

#[test]
fn lost_data_goes_before_new_data_and_control_frames_before_both() {
    let mut pair = Pair::new(&Setup { flow_streams: 2, ..Setup::default() }, &Setup::default());
    pair.write(CLIENT, 0, 500);
    let lost = pair.packet(CLIENT, 1_200).unwrap();
    pair.write(CLIENT, 1, 5_000);
    pair.on_lost(CLIENT, &lost);
    let id = pair.ends[CLIENT].open(BIDIRECTIONAL).unwrap();
    assert!(pair.ends[CLIENT].write(id, 100) && pair.ends[CLIENT].reset(id, 4));
    let packet = pair.packet(CLIENT, 1_200).unwrap();
    assert_eq!(packet.frames[0], Frame::ResetStream { id, code: 4, final_size: 0 });
    // 1,200 - 4 for the reset - 504 - 2.
    assert_eq!(data(&packet), [(2, 0, 500, false), (6, 0, 690, false)]);
}

#[test]
fn streams_end_with_their_last_bytes_or_after_them() {
    let mut pair = Pair::new(&Setup { flow_streams: 3, ..Setup::default() }, &Setup::default());
    pair.write(CLIENT, 0, 100);
    pair.pass(CLIENT, 1_200).unwrap();
    pair.write(CLIENT, 1, 1_500);
    pair.ends[CLIENT].finish();
    // Streams 0 and 2 have nothing to send any more.
    let first = pair.packet(CLIENT, 1_200).unwrap();
    assert_eq!(data(&first)[..2], [(2, 100, 0, true), (10, 0, 0, true)]);
    let second = pair.packet(CLIENT, 1_200).unwrap();
    assert!(data(&second)[0].3 && pair.packet(CLIENT, 1_200).is_none());
    pair.deliver(CLIENT, &second);
    assert_eq!(pair.logs[SERVER].finished, []);
    pair.deliver(CLIENT, &first);
    assert_eq!(pair.logs[SERVER].finished, [StreamId(2), StreamId(10), StreamId(6)]);
    // A lost end is sent again, alone.
    pair.on_acked(CLIENT, &second);
    pair.on_lost(CLIENT, &first);
    let again = pair.packet(CLIENT, 1_200).unwrap();
    assert_eq!(data(&again)[..2], [(2, 100, 0, true), (10, 0, 0, true)]);
    pair.on_acked(CLIENT, &again);
    assert_eq!(pair.logs[CLIENT].acked.len(), 3);
    assert_eq!(pair.ends[CLIENT].table.open_streams(), 0);
}

#[test]
fn reports_name_streams_by_number_and_grow() {
    let mut pair = Pair::new(&Setup { flow_streams: 2, ..Setup::default() }, &Setup::default());
    pair.write(CLIENT, 1, 2_000);
    let first = pair.packet(CLIENT, 1_002).unwrap();
    let second = pair.packet(CLIENT, 1_004).unwrap();
    assert_eq!(pair.reports(CLIENT), [Report::Sent { stream: 1.into(), offset: 1_999 + 1 }]);
    assert_eq!(pair.reports(CLIENT), []);
    pair.deliver(CLIENT, &second);
    assert_eq!(pair.reports(SERVER), [], "a gap");
    pair.deliver(CLIENT, &first);
    assert_eq!(pair.reports(SERVER), [Report::Delivered { stream: 1.into(), offset: 2_000 }]);
    pair.deliver(CLIENT, &first);
    assert_eq!(pair.reports(SERVER), [], "nothing is delivered twice");
}
