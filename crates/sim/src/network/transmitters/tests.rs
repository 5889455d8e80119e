use leobench_base::packet::{Body, Label, Meta, Packet, Protocol};
use leobench_base::spec::{At, Limit, Spec};
use leobench_base::{Bytes, Ecn, LinkId, PortId, RngTree, SatelliteId};
use leobench_link::channel::steady::SteadySpec;
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{
    Capacity, ChannelContext, ChannelModel, ChannelState, LinkConfig, QueueModel, QueueSpec,
};
use proptest::prelude::*;

use super::*;
use crate::network::{Egress, Network, NetworkBuilder};
use crate::topology::{Change, LeftPackets, Topology};

/// Changes at given times, in order.
struct Script(Vec<(SimTime, Vec<Change>)>);

impl Topology for Script {
    fn next_change(&self) -> Option<SimTime> {
        self.0.first().map(|(at, _)| *at)
    }

    fn advance(&mut self, _now: SimTime, changes: &mut Vec<Change>) {
        changes.append(&mut self.0.remove(0).1);
    }
}

/// A terminal, and three links from it to a server each.
struct Bench {
    network: Network,
    ports: Vec<PortId>,
    /// Packets by their size, and when they left, in microseconds.
    arrived: Vec<(u64, u64)>,
    injected: u64,
}

const LINKS: usize = 3;

fn micros(micros: u64) -> SimTime {
    SimTime::from_nanos(micros * 1_000)
}

impl Bench {
    fn new(queue: &QueueSpec, script: Vec<(SimTime, Vec<Change>)>) -> Self {
        let mut builder = NetworkBuilder::default();
        let rng = RngTree::new(1);
        let terminal = builder.node("terminal");
        let mut ports = vec![builder.port(terminal)];
        let mut links = Vec::new();
        for number in 0..LINKS {
            let server = builder.node(&format!("server-{number}"));
            ports.push(builder.port(server));
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
            let link = builder.link(&number.to_string(), [terminal, server], [0, 1].map(config));
            let context = ChannelContext { folder: ".".into(), rng: rng.clone() };
            let channel = SteadySpec { rate: BitRate::from_bps(8_000_000) }.build(&context);
            builder.channel(channel.unwrap(), link.directions().to_vec());
            links.push(link);
        }
        let (spec, seeds) = (queue.clone(), rng.clone());
        let build = move |_: QueueRequest| {
            let model = spec.model();
            model.build(Capacity::of(model.limit()).unwrap(), &seeds)
        };
        let sample = build(QueueRequest { satellite: 0.into(), way: Way::There, visit: 0 });
        builder.share_satellites(&links, sample.causes(), Box::new(build));
        builder.topology("script", Box::new(Script(script)));
        let network = builder.build().unwrap();
        Self { network, ports, arrived: Vec::new(), injected: 0 }
    }

    /// A packet from the terminal to a server.
    fn send(&mut self, at: SimTime, server: usize, size: u64) {
        self.run(at);
        let to = NetworkBuilder::own_address((server + 1).into());
        let meta = Meta {
            id: 0,
            size: Bytes::new(size),
            source: (NetworkBuilder::own_address(0.into()), 1).into(),
            destination: (to, 1).into(),
            protocol: Protocol::Udp,
            ecn: Ecn::Ect0,
            label: Label::default(),
            transmission: None,
            back: false,
            arrival: at,
        };
        self.injected += 1;
        self.network.inject(at, self.ports[0], Packet { meta, body: Body::Filler }).unwrap();
        self.assert_accounted();
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
        let Network { now, directions, transmitters, store, held, .. } = &self.network;
        let shared = transmitters.as_ref().unwrap();
        let mut here = held.len() as u64;
        for link in directions {
            let counters = link.counters(*now);
            let on_link = link.backlog().packets + link.in_flight();
            let gone = counters.delivered.packets + counters.dropped_packets();
            assert_eq!(counters.enqueued.packets, gone + counters.flushed.packets + on_link);
            here += on_link;
        }
        assert_eq!(store.len() as u64, here);
        let mut staying: u64 = shared.stays.iter().map(|stay| stay.packets).sum();
        for station in &shared.stations {
            let Some(transmitter) = &station.transmitter else {
                assert_eq!(station.links, 0, "it serves links without a queue");
                continue;
            };
            let counters = transmitter.counters();
            let gone = counters.sent.packets + counters.withdrawn.packets;
            let rest = counters.enqueued.packets - gone - counters.dropped.packets();
            assert!(station.links > 0 || rest > 0, "an idle one keeps its queue");
            staying -= rest;
        }
        assert_eq!(staying, 0, "stays and transmitters count the same packets");
        let due = shared.wakes.first().0;
        let next = self.network.next_wake();
        assert!(due == SimTime::MAX || next.is_some_and(|next| next <= due), "nobody is woken");
    }
}

fn serve(link: usize, satellite: usize) -> Change {
    let (link, satellite) = (LinkId::from(link), Some(satellite.into()));
    Change::Serve { link, satellite, left: LeftPackets::Drain, overlaps: false }
}

fn rate(link: usize, bps: u64) -> [Change; 2] {
    let state = ChannelState::at_rate(BitRate::from_bps(bps), "test");
    LinkId::from(link)
        .directions()
        .map(|direction| Change::Channel { direction, state: state.clone() })
}

fn fifo() -> QueueSpec {
    QueueSpec::Fifo(FifoSpec { limit: Limit::Unlimited })
}

/// Two links with 8 and 4 Mbit/s at one satellite, the third at another one.
#[test]
fn one_packet_at_a_time_leaves_a_satellite() {
    let mut start = vec![serve(0, 7), serve(1, 7), serve(2, 9)];
    start.extend(rate(1, 4_000_000));
    let mut bench = Bench::new(&fifo(), vec![(SimTime::ZERO, start)]);
    // 1,000 bytes take 1 ms over the first and the third, 2 ms over the second.
    for (at, link, size) in [(0, 0, 1_000), (100, 1, 1_001), (200, 2, 1_002), (300, 0, 1_003)] {
        bench.send(micros(at), link, size);
    }
    bench.run(micros(100_000));
    assert_eq!(bench.arrived, [(1_000, 1_000), (1_002, 1_202), (1_001, 3_002), (1_003, 4_005)]);
}

/// While the rate of a link is zero, its packets wait by themselves; then they come behind those of the others.
#[test]
fn a_link_without_a_rate_holds_up_nobody() {
    let script = vec![
        (SimTime::ZERO, vec![serve(0, 7), serve(1, 7)]),
        (micros(1_500), rate(0, 0).to_vec()),
        (micros(4_500), rate(0, 8_000_000).to_vec()),
    ];
    let mut bench = Bench::new(&fifo(), script);
    for (at, link, size) in
        [(0, 0, 1_000), (0, 0, 1_001), (0, 0, 1_002), (0, 1, 1_003), (0, 1, 1_004)]
    {
        bench.send(micros(at), link, size);
    }
    // The second is on the wire at 1.5 ms, and gets through. The third waits.
    bench.send(micros(2_000), 1, 1_005);
    bench.send(micros(2_000), 0, 1_006);
    bench.send(micros(4_000), 1, 1_007);
    bench.run(micros(100_000));
    let expected = [
        (1_000, 1_000),
        (1_001, 2_001),
        (1_003, 3_004),
        (1_004, 4_008),
        (1_005, 5_013),
        (1_007, 6_020),
        (1_002, 7_022),
        (1_006, 8_028),
    ];
    assert_eq!(bench.arrived, expected);
}

/// The first link moves from satellite 7 to 9 at 0.5 ms, and satellite 7 goes on with its packets until 2.5 ms. By then the first
/// has arrived, the second propagates for 2 ms, and the third waits behind one of the other link. The fourth takes satellite 9.
#[test]
fn an_overlap_ends_as_told() {
    for (left, expected) in [
        (LeftPackets::Drain, [Some(3_000), Some(4_000), Some(6_003)]),
        (LeftPackets::Deliver, [Some(3_000), Some(4_000), None]),
        (LeftPackets::Drop, [None, None, None]),
        (LeftPackets::Forward, [Some(3_000), Some(4_000), Some(5_500)]),
    ] {
        let link = LinkId::from(0);
        let slow = link.directions().map(|direction| {
            let state = ChannelState::at_rate(BitRate::from_bps(8_000_000), "slow");
            let state = ChannelState { delay: SimDuration::from_millis(2), ..state };
            Change::Channel { direction, state }
        });
        let mut start = vec![serve(0, 7), serve(1, 7)];
        start.extend(slow.clone());
        let moves = Change::Serve { link, satellite: Some(9.into()), left, overlaps: true };
        let script = vec![
            (SimTime::ZERO, start),
            (micros(500), vec![moves]),
            (micros(2_500), vec![Change::EndOverlap { link, left }]),
        ];
        let mut bench = Bench::new(&fifo(), script);
        for (at, link, size) in
            [(0, 0, 1_000), (0, 0, 1_000), (0, 1, 1_003), (0, 0, 1_000), (600, 0, 1_004)]
        {
            bench.send(micros(at), link, size);
        }
        bench.run(micros(100_000));
        let old = bench.arrived.iter().filter(|(size, _)| *size == 1_000).map(|(_, at)| *at);
        assert!(old.eq(expected.into_iter().flatten()), "{left:?}: {:?}", bench.arrived);
        // The others do not notice: 2 ms behind two packets, and the new satellite with the delay of 2 ms.
        assert!(bench.arrived.contains(&(1_003, 3_003)), "{left:?}");
        assert!(bench.arrived.contains(&(1_004, 3_604)), "{left:?}");
    }
}

/// A node with a choice of links detaches one of them.
#[test]
fn packets_of_a_detached_link_wait_at_the_node_or_are_lost() {
    for (left, expected) in [
        (LeftPackets::Drain, vec![1_000, 1_001, 1_002, 1_003]),
        (LeftPackets::Deliver, vec![1_000, 1_002, 1_003]),
        (LeftPackets::Drop, vec![1_002, 1_003]),
        (LeftPackets::Forward, vec![1_000, 1_002, 1_003]),
    ] {
        let detach = Change::Attach {
            link: LinkId::from(0),
            attachment: crate::topology::Attachment::Detached,
            left,
        };
        let script =
            vec![(SimTime::ZERO, vec![serve(0, 7), serve(1, 7)]), (micros(500), vec![detach])];
        let mut bench = Bench::new(&fifo(), script);
        for (link, size) in [(0, 1_000), (0, 1_001), (1, 1_002), (1, 1_003)] {
            bench.send(micros(0), link, size);
        }
        bench.run(micros(100_000));
        let sizes: Vec<_> = bench.arrived.iter().map(|(size, _)| *size).collect();
        assert_eq!(sizes, expected, "{left:?}");
        let held = bench.network.held.len();
        assert_eq!(held, usize::from(left == LeftPackets::Forward));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send { link: usize, size: u64 },
    Serve { link: usize, satellite: Option<usize>, overlaps: bool },
    EndOverlap { link: usize },
    Rate { link: usize, bps: u64, up: bool, delay_us: u64 },
    Nothing,
}

fn any_step() -> impl Strategy<Value = Step> {
    let rates = prop::sample::select(vec![0u64, 1_000_000, 7_000_003, 8_000_000]);
    prop_oneof![
        8 => (0..LINKS, 40u64..1_600).prop_map(|(link, size)| Step::Send { link, size }),
        2 => (0..LINKS, prop::option::weighted(0.8, 0usize..3), any::<bool>())
            .prop_map(|(link, satellite, overlaps)| Step::Serve { link, satellite, overlaps }),
        1 => (0..LINKS).prop_map(|link| Step::EndOverlap { link }),
        2 => (0..LINKS, rates, prop::bool::weighted(0.8), 0u64..9_000)
            .prop_map(|(link, bps, up, delay_us)| Step::Rate { link, bps, up, delay_us }),
        1 => Just(Step::Nothing),
    ]
}

fn changes(step: &Step, left: LeftPackets) -> Vec<Change> {
    match *step {
        Step::Serve { link, satellite, overlaps } => {
            let (link, overlaps) = (LinkId::from(link), overlaps && satellite.is_some());
            let satellite = satellite.map(SatelliteId::from);
            // As topologies do: an overlap ends before the next one begins.
            let end = Change::EndOverlap { link, left };
            vec![end, Change::Serve { link, satellite, left, overlaps }]
        }
        Step::EndOverlap { link } => {
            vec![Change::EndOverlap { link: LinkId::from(link), left }]
        }
        Step::Rate { link, bps, up, delay_us } => {
            let state = ChannelState {
                up,
                delay: SimDuration::from_micros(delay_us),
                ..ChannelState::at_rate(BitRate::from_bps(bps), "test")
            };
            let directions = LinkId::from(link).directions();
            let change = |direction| Change::Channel { direction, state: state.clone() };
            directions.map(change).to_vec()
        }
        Step::Send { .. } | Step::Nothing => Vec::new(),
    }
}

proptest! {
    /// Whatever happens, each packet is in one place at a time, and in the end has arrived or been dropped once.
    #[test]
    fn packets_are_accounted_for(
        queue in prop::sample::select(QueueSpec::examples()),
        left in prop::sample::select(vec![
            LeftPackets::Deliver, LeftPackets::Drain, LeftPackets::Drop, LeftPackets::Forward,
        ]),
        steps in prop::collection::vec((0u64..3_000, any_step()), 1..120),
    ) {
        let queue = QueueSpec::read(&queue.write(), &At::ROOT).unwrap();
        let (mut script, mut sends, mut now) = (Vec::new(), Vec::new(), 1);
        let start = (0..LINKS).map(|link| serve(link, link / 2)).collect();
        script.push((SimTime::ZERO, start));
        for (gap, step) in &steps {
            now += gap;
            match *step {
                Step::Send { link, size } => sends.push((micros(now), link, size)),
                _ => script.push((micros(now), changes(step, left))),
            }
        }
        // In the end, a satellite serves all.
        for link in 0..LINKS {
            let mut last = vec![Change::EndOverlap { link: LinkId::from(link), left }, serve(link, 5)];
            last.extend(rate(link, 8_000_000));
            script.push((micros(now + 1), last));
        }
        let mut bench = Bench::new(&queue, script);
        for (at, link, size) in sends {
            bench.send(at, link, size);
        }
        bench.run(micros(now + 600_000_000));
        prop_assert_eq!(bench.network.store.len(), 0);
        let dropped = bench.network.directions.iter().map(|link| {
            link.counters(bench.network.now).dropped_packets()
        });
        let arrived = bench.arrived.len() as u64;
        prop_assert_eq!(arrived + dropped.sum::<u64>(), bench.injected);
    }
}
