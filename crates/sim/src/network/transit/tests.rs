use leobench_base::packet::{Body, Label, Meta, Packet, Protocol};
use leobench_base::spec::Limit;
use leobench_base::{Bytes, Ecn, LinkId, PortId, RngTree, SimDuration};
use leobench_link::channel::steady::SteadySpec;
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{
    Capacity, Cause, Causes, ChannelContext, ChannelModel, LinkConfig, QueueModel,
};

use super::*;
use crate::network::{Egress, Network, NetworkBuilder};
use crate::topology::{Change, LeftPackets, NextHop, Topology, TransitUpdate};

/// Changes at given times, in order.
struct Script(Vec<(SimTime, TransitUpdate)>);

impl Topology for Script {
    fn next_change(&self) -> Option<SimTime> {
        self.0.first().map(|(at, _)| *at)
    }

    fn advance(&mut self, _now: SimTime, changes: &mut Vec<Change>) {
        changes.push(Change::Transit(Box::new(self.0.remove(0).1)));
    }
}

/// Three satellites in a row, a laser of 8 Mbit/s and 2 ms from each to the next one. Packets go up to the first one and down from
/// the last one in 1 ms each, and take 1 ms per 1,000 bytes on a laser.
struct Row {
    network: Network,
    ports: [PortId; 2],
    /// Packets by their size, and when they left, in microseconds.
    arrived: Vec<(u64, u64)>,
}

const MILLISECOND: SimDuration = SimDuration::from_millis(1);

fn micros(micros: u64) -> SimTime {
    SimTime::from_nanos(micros * 1_000)
}

fn leg(satellite: u32, station: u32) -> Leg {
    Leg { satellite, station, delay: MILLISECOND }
}

/// The network with these next hops, by satellite, and the satellite where packets come down.
fn update(lasers: [bool; 2], next_hops: [NextHop; 3], last: u32, link: LinkId) -> TransitUpdate {
    let [there, back] = link.directions();
    let numbered = (0..).zip(next_hops);
    TransitUpdate {
        lasers: lasers.map(|on| on.then_some(MILLISECOND * 2)).to_vec(),
        next_hops: numbered.map(|(satellite, hop)| (0, satellite, hop)).collect(),
        exits: vec![vec![leg(last, 1)], vec![leg(0, 0)]],
        entries: vec![(there, Some(leg(0, 0))), (back, Some(leg(last, 1)))],
        ..TransitUpdate::default()
    }
}

/// There over both lasers, 0 and 2 in that direction, and down.
const STRAIGHT: [NextHop; 3] = [NextHop::Over(0), NextHop::Over(2), NextHop::Down];

impl Row {
    fn new(left: LeftPackets, drop_tail: bool, later: Vec<(SimTime, TransitUpdate)>) -> Self {
        let mut builder = NetworkBuilder::default();
        let rng = RngTree::new(1);
        let nodes = ["terminal", "server"].map(|name| builder.node(name));
        let ports = nodes.map(|node| builder.port(node));
        let config = |_| LinkConfig {
            queue: FifoSpec { limit: Limit::Unlimited }.build(Capacity::Unlimited, &rng),
            loss: None,
            access: None,
            delay: SimDuration::ZERO,
            overhead: 0,
            mtu: Bytes::new(1_500),
            overtaking: true,
            rate_scale: 1.0,
            rng: rng.clone(),
        };
        let link = builder.link("sky", nodes, [0, 1].map(config));
        let context = ChannelContext { folder: ".".into(), rng: rng.clone() };
        let channel = SteadySpec { rate: BitRate::from_bps(8_000_000) }.build(&context);
        builder.channel(channel.unwrap(), link.directions().to_vec());
        let routes = link.directions().into_iter().zip([0, 1]).map(|(direction, destination)| {
            let from_terminal = destination == 0;
            (direction, TransitRoute { destination, sharing: Sharing::Station, from_terminal })
        });
        let seeds = rng.clone();
        builder.transit(TransitPlan {
            satellites: 3,
            lasers: vec![[0, 1], [1, 2]],
            destinations: 2,
            backhauls: vec![None; 2],
            routes: routes.collect(),
            source_routed: true,
            left,
            causes: Causes::default(),
            factory: Box::new(move |key| {
                let rate = BitRate::from_bps(8_000_000);
                let queue = FifoSpec { limit: Limit::Unlimited };
                let transmitter = match key {
                    HopKey::Laser(_) if drop_tail => {
                        HopTransmitter::DropTail(rate, Capacity::Unlimited)
                    }
                    HopKey::Laser(_) => {
                        let queue = queue.build(Capacity::Unlimited, &seeds);
                        HopTransmitter::Queue(queue, HopRate::Fixed(rate))
                    }
                    HopKey::Up(_) | HopKey::Down { .. } | HopKey::Backhaul { .. } => {
                        HopTransmitter::None
                    }
                };
                HopParts { name: format!("{key:?}"), transmitter }
            }),
        });
        let mut script = vec![(SimTime::ZERO, update([true; 2], STRAIGHT, 2, link))];
        script.extend(later);
        builder.topology("script", Box::new(Script(script)));
        Self { network: builder.build().unwrap(), ports, arrived: Vec::new() }
    }

    /// A packet from the terminal to the server.
    fn send(&mut self, at: SimTime, size: u64) {
        self.run(at);
        let meta = Meta {
            id: 0,
            size: Bytes::new(size),
            source: (NetworkBuilder::own_address(0.into()), 1).into(),
            destination: (NetworkBuilder::own_address(1.into()), 1).into(),
            protocol: Protocol::Udp,
            ecn: Ecn::NotEct,
            label: Label::default(),
            transmission: None,
            back: false,
            arrival: at,
        };
        self.network.inject(at, self.ports[0], Packet { meta, body: Body::Filler }).unwrap();
    }

    fn run(&mut self, to: SimTime) {
        while self.network.step(to).unwrap() {
            self.assert_accounted();
        }
        let mut egress = Vec::new();
        self.network.take_egress(&mut egress);
        for event in egress {
            let Egress::Packet { at, packet, .. } = event else { continue };
            self.arrived.push((packet.meta.size.get(), at.as_nanos() / 1_000));
        }
    }

    /// Every packet is where exactly one part of the network says it is.
    fn assert_accounted(&self) {
        let Network { now, directions, store, .. } = &self.network;
        let mut here = 0;
        for link in directions {
            let counters = link.counters(*now);
            let on_link = link.backlog().packets + link.in_flight();
            let gone = counters.delivered.packets + counters.dropped_packets();
            assert_eq!(counters.enqueued.packets, gone + on_link);
            here += on_link;
        }
        assert_eq!(store.len() as u64, here);
    }

    fn totals(&mut self) -> TransitTotals {
        let now = self.network.now;
        self.network.transit.as_mut().unwrap().totals(now).1
    }

    fn dropped(&self, cause: Cause) -> u64 {
        self.network
            .directions
            .first()
            .unwrap()
            .counters(self.network.now)
            .dropped
            .of(cause)
            .packets
    }
}

/// Nothing has happened.
const NONE: TransitTotals = TransitTotals {
    looped: 0,
    black_holes: 0,
    visits: 0,
    routes: Some(RouteTotals { missing: 0, rerouted: 0 }),
};

const LINK: fn() -> LinkId = || LinkId::from(0);

/// Behind a queue discipline and computed ahead, packets take the same time.
#[test]
fn packets_take_every_hop_and_wait_for_those_before_them() {
    for drop_tail in [true, false] {
        let mut row = Row::new(LeftPackets::Drain, drop_tail, Vec::new());
        for size in [1_000, 500, 1_000] {
            row.send(SimTime::ZERO, size);
        }
        row.run(micros(100_000));
        // Up 1 ms, twice 1 ms on the wire and 2 ms over a laser, down 1 ms; the short one leaves half a millisecond behind the first,
        // and waits for nobody on the second laser.
        assert_eq!(row.arrived, [(1_000, 8_000), (500, 8_500), (1_000, 9_500)], "{drop_tail}");
        assert_eq!(row.totals(), TransitTotals { visits: 9, ..NONE });
    }
}

/// A packet is on the first laser when the tables send it back: it meets the first satellite again.
#[test]
fn packets_that_come_back_are_counted() {
    let back = [NextHop::Down, NextHop::Over(1), NextHop::Nowhere];
    let changed = update([true; 2], back, 0, LINK());
    let mut row = Row::new(LeftPackets::Drain, true, vec![(micros(3_000), changed)]);
    row.send(SimTime::ZERO, 1_000);
    row.run(micros(100_000));
    assert_eq!(row.arrived, [(1_000, 1_000 + 3_000 + 3_000 + 1_000)]);
    assert_eq!(row.totals(), TransitTotals { visits: 3, looped: 1, ..NONE });
}

#[test]
fn packets_without_a_way_are_dropped_and_counted() {
    let nowhere = [NextHop::Over(0), NextHop::Nowhere, NextHop::Nowhere];
    let changed = update([true; 2], nowhere, 2, LINK());
    let mut row = Row::new(LeftPackets::Drain, true, vec![(micros(3_000), changed)]);
    row.send(SimTime::ZERO, 1_000);
    row.run(micros(100_000));
    assert!(row.arrived.is_empty());
    assert_eq!(row.totals(), TransitTotals { visits: 2, black_holes: 1, ..NONE });
    assert_eq!(row.dropped(Cause::NO_ROUTE), 1);
}

/// Tables that lead in a circle, as no search makes them, do not keep packets for ever.
#[test]
fn circles_end() {
    let circle = [NextHop::Over(0), NextHop::Over(1), NextHop::Nowhere];
    let changed = update([true; 2], circle, 2, LINK());
    let mut row = Row::new(LeftPackets::Drain, true, vec![(SimTime::ZERO, changed)]);
    row.send(SimTime::ZERO, 1_000);
    row.run(micros(10_000_000));
    assert!(row.arrived.is_empty());
    assert_eq!(row.dropped(Cause::LOOP), 1);
}

/// The first laser goes off while one packet is on the wire and two wait, and packets come down from the first satellite from then on.
#[test]
fn packets_at_a_laser_that_goes_off_meet_their_fate() {
    let down = [NextHop::Down, NextHop::Over(2), NextHop::Down];
    for drop_tail in [true, false] {
        let fate = |left| {
            let mut changed = update([false, true], down, 0, LINK());
            changed.exits[0].push(leg(2, 1));
            let mut row = Row::new(left, drop_tail, vec![(micros(1_500), changed)]);
            for size in [1_000, 1_001, 1_002] {
                row.send(SimTime::ZERO, size);
            }
            row.run(micros(100_000));
            (row.arrived.clone(), row.dropped(Cause::HANDOVER))
        };
        let (all, none) = fate(LeftPackets::Drain);
        assert_eq!((all.len(), all[0], none), (3, (1_000, 8_000), 0));
        assert_eq!(fate(LeftPackets::Deliver), (vec![(1_000, 8_000)], 2));
        assert_eq!(fate(LeftPackets::Drop), (Vec::new(), 3));
        let forwarded = vec![(1_001, 2_500), (1_002, 2_500), (1_000, 8_000)];
        assert_eq!(fate(LeftPackets::Forward), (forwarded, 0));
    }
}

/// The network with a route that packets from the terminal carry along, while tables lead down from the satellite in the middle.
fn routed(lasers: [bool; 2], route: &[u32]) -> TransitUpdate {
    let tables = [NextHop::Over(0), NextHop::Down, NextHop::Nowhere];
    let mut update = update(lasers, tables, 2, LINK());
    update.exits[0].push(leg(1, 1));
    update.routes = vec![(LINK().directions()[0], route.to_vec())];
    update
}

impl Row {
    /// Routes that a packet or a link follows.
    fn routes_in_use(&self) -> usize {
        self.network.transit.as_ref().unwrap().routes.in_use()
    }
}

/// A packet on its way keeps its route when new ones take another one, and no route outlives its last packet.
#[test]
fn packets_follow_the_route_with_which_they_went_up() {
    let changes =
        vec![(SimTime::ZERO, routed([true; 2], &[0, 2])), (micros(1_500), routed([true; 2], &[0]))];
    let mut row = Row::new(LeftPackets::Drain, true, changes);
    row.send(SimTime::ZERO, 1_000);
    row.send(micros(2_000), 1_001);
    assert_eq!(row.routes_in_use(), 2);
    row.run(micros(100_000));
    assert_eq!(row.arrived, [(1_001, 2_000 + 1_000 + 3_001 + 1_000), (1_000, 8_000)]);
    assert_eq!(row.totals(), TransitTotals { visits: 5, ..NONE });
    assert_eq!(row.routes_in_use(), 1);
}

/// The second laser of a route goes off before the packet gets there: it goes on by the tables, or is lost.
#[test]
fn an_interrupted_route_is_left_or_loses_its_packets() {
    for (left, arrived) in [
        (LeftPackets::Drain, true),
        (LeftPackets::Forward, true),
        (LeftPackets::Deliver, false),
        (LeftPackets::Drop, false),
    ] {
        let changes = vec![
            (SimTime::ZERO, routed([true; 2], &[0, 2])),
            (micros(1_500), routed([true, false], &[0])),
        ];
        let mut row = Row::new(left, true, changes);
        row.send(SimTime::ZERO, 1_000);
        row.run(micros(100_000));
        let (rerouted, lost) = (u64::from(arrived), u64::from(!arrived));
        let expected = if arrived { vec![(1_000, 1_000 + 3_000 + 1_000)] } else { Vec::new() };
        assert_eq!(row.arrived, expected, "{left:?}");
        let routes = Some(RouteTotals { missing: 0, rerouted });
        assert_eq!(row.totals(), TransitTotals { visits: 2, routes, ..NONE });
        assert_eq!((row.dropped(Cause::HANDOVER), row.routes_in_use()), (lost, 1));
    }
}
