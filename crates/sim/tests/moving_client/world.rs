//! The network of a moving client.

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use leobench_base::End;
use leobench_base::spec::Limit;
use leobench_base::{
    BitRate, Bytes, LinkId, LogHistogram, NodeId, Protocol, RngTree, SimDuration, SimTime,
};
use leobench_link::channel::steady::SteadySpec;
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{Capacity, ChannelContext, ChannelModel, LinkConfig, QueueModel};
use leobench_sim::ledger::FlowLedger;
use leobench_sim::network::{
    Action, Application, ApplicationError, EndParts, FlowParts, Network, NetworkBuilder,
};
use leobench_sim::record::FlowNames;
use leobench_sim::topology::Attachment;
use leobench_sim::topology::{Change, LeftPackets, Topology};
use leobench_transport::Message;
use leobench_transport::endpoint::{PathSample, Totals};

use super::tap::{Log, Losses, Shared, Tap};
use super::{CLIENT, SERVER, Setup, Step, ms};

/// Capacity of a link's queue: 50 ms at 8 Mbit/s, less the packet on the wire.
const QUEUE: Capacity = Capacity::Bytes(Bytes::new(50_000 - 1_500));

/// Addresses that the client's host may have.
const PLACES: usize = 5;

/// The address of the client's host at one of its places, from 1.
pub fn place(number: usize) -> IpAddr {
    IpAddr::from([10, 0, 0, 4 * (number as u8 - 1) + 1])
}

/// A client with a link for each of its addresses to a gate, and a server, 20 ms from the gate at 8 Mbit/s each way with a
/// queue of 50 ms. The links of the client take no time. If the script has a `Rebind`, the gate translates addresses.
pub struct World {
    setup: Setup,
    network: Network,
    ends: [Shared; 2],
    log: Arc<Mutex<Log>>,
    /// The time of the last step.
    last: SimTime,
}

impl World {
    pub fn new(setup: Setup, steps: &[(u64, Step)]) -> Self {
        let rebinds = steps.iter().filter(|(_, step)| matches!(step, Step::Rebind)).count();
        let log = Arc::new(Mutex::new(Log {
            sender: setup.sender(),
            written: 0,
            sent: 0,
            delivered: 0,
            room: 0,
            events: Vec::new(),
            passed: Vec::new(),
            announced: BTreeSet::from([SocketAddr::new(place(1), 40_000)]),
            drops: |_| false,
            loss: None,
        }));
        let mut builder = NetworkBuilder::default();
        let [client, gate, server] = ["client", "gate", "server"].map(|name| builder.node(name));
        let places: Vec<_> = (0..PLACES)
            .map(|_| link(&mut builder, [client, gate], 1_000_000_000_000, 0, &log, setup.seed))
            .collect();
        let outside: Vec<_> = (0..=rebinds)
            .map(|_| link(&mut builder, [gate, server], 8_000_000, 20, &log, setup.seed))
            .collect();
        if rebinds > 0 {
            builder.nat(gate, &outside);
        }
        assert_eq!(builder.interface_address(client, places[PLACES - 1]), place(PLACES));
        let addresses = [
            SocketAddr::new(place(1), 40_000),
            SocketAddr::new(NetworkBuilder::own_address(server), 4_433),
        ];
        builder.topology("script", Box::new(Timetable::new(steps, &places, &outside)));
        let ends = [CLIENT, SERVER].map(|end| Arc::new(Mutex::new(setup.end(end, addresses))));
        let parts = |end: usize| EndParts {
            endpoint: Box::new(Tap {
                end,
                endpoint: Arc::clone(&ends[end]),
                log: Arc::clone(&log),
            }),
            node: [client, server][end],
            protocol: Protocol::Tcp,
            port: addresses[end].port(),
        };
        builder.flow(FlowParts {
            names: FlowNames { name: "main".into(), streams: vec!["main".into()] },
            ends: [parts(setup.sender()), parts(1 - setup.sender())],
            application: Box::new(Script::new(steps)),
            ledger: FlowLedger::new(1, SimTime::ZERO),
            stalls: None,
        });
        let last = steps.iter().map(|(at, _)| ms(*at)).max().unwrap_or(SimTime::ZERO);
        Self { setup, network: builder.build().unwrap(), ends, log, last }
    }

    /// Runs up to a time.
    pub fn run(&mut self, end: SimTime) {
        self.network.advance(end).unwrap();
    }

    /// Runs until a minute after the last step; everything must have been delivered.
    pub fn complete(&mut self) {
        self.run(self.last + SimDuration::from_secs(60));
        let log = self.log();
        assert_eq!(log.delivered, log.written, "{:?}\n{:#?}", self.setup, log.events);
    }

    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    /// Bytes delivered and sent so far.
    pub fn progress(&self) -> (u64, u64) {
        let log = self.log();
        (log.delivered, log.sent)
    }

    pub fn totals(&self, end: usize) -> Totals {
        self.ends[end].lock().unwrap().totals()
    }

    pub fn rtts(&self, end: usize) -> LogHistogram {
        self.ends[end].lock().unwrap().rtts()
    }

    pub fn samples(&self, end: usize) -> Vec<PathSample> {
        let mut samples = Vec::new();
        self.ends[end].lock().unwrap().sample_paths(self.network.now(), &mut samples);
        samples
    }

    pub fn is_lost(&self, end: usize) -> bool {
        self.ends[end].lock().unwrap().lost().is_some()
    }

    /// The times in milliseconds and details of one kind of events of an end.
    pub fn told(&self, end: usize, kind: &str) -> Vec<(u64, String)> {
        let log = self.log();
        let events = log.events.iter().filter(|(_, of, event)| *of == end && event.kind == kind);
        let millis = |at: SimTime| at.as_nanos() / 1_000_000;
        events.map(|(at, _, event)| (millis(*at), event.detail.clone())).collect()
    }
}

/// Adds a link of a steady rate with a queue of 50 ms that loses packets as the log says.
fn link(
    builder: &mut NetworkBuilder,
    ends: [NodeId; 2],
    rate: u64,
    millis: u64,
    log: &Arc<Mutex<Log>>,
    seed: u64,
) -> LinkId {
    let rng = RngTree::new(seed);
    let config = |direction: &str| LinkConfig {
        queue: FifoSpec { limit: Limit::Unlimited }.build(QUEUE, &rng),
        loss: (millis > 0).then(|| {
            Box::new(Losses { log: Arc::clone(log), rng: rng.child("loss").child(direction).rng() })
                as Box<_>
        }),
        access: None,
        delay: SimDuration::from_millis(millis),
        overhead: 0,
        mtu: Bytes::new(1_500),
        overtaking: false,
        rate_scale: 1.0,
        rng: rng.clone(),
    };
    let link = builder.link("link", ends, [config("there"), config("back")]);
    let context = ChannelContext { folder: ".".into(), rng: rng.clone() };
    let channel = SteadySpec { rate: BitRate::from_bps(rate) }.build(&context).unwrap();
    builder.channel(channel, link.directions().to_vec());
    link
}

/// The application's part of a script.
struct Script(VecDeque<(SimTime, Action)>);

impl Script {
    fn new(steps: &[(u64, Step)]) -> Self {
        let actions = steps.iter().flat_map(|(at, step)| {
            let now = ms(*at);
            let actions = match step {
                Step::Write(size) => {
                    let message = Message { size: Bytes::new(*size), created: now };
                    let (end, stream) = (End::Sender, 0);
                    vec![
                        Action::Create { stream: stream.into(), message },
                        Action::Write { end, stream: stream.into(), message },
                    ]
                }
                Step::Finish => vec![Action::Finish { end: End::Sender }],
                Step::Up(_) | Step::Down(_) | Step::Rebind => Vec::new(),
            };
            actions.into_iter().map(move |action| (now, action))
        });
        let mut actions: Vec<_> = actions.collect();
        actions.sort_by_key(|(at, _)| *at);
        Self(actions.into())
    }
}

impl Application for Script {
    fn next_wake(&self) -> Option<SimTime> {
        self.0.front().map(|(at, _)| *at)
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        while let Some((_, action)) = self.0.pop_front_if(|(at, _)| *at <= now) {
            actions.push(action);
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.0.is_empty()
    }
}

/// The moves of a script. At the start, the client is at its first place.
struct Timetable(VecDeque<(SimTime, Change)>);

impl Timetable {
    fn new(steps: &[(u64, Step)], places: &[LinkId], outside: &[LinkId]) -> Self {
        let attach = |link: LinkId, up: bool| Change::Attach {
            link,
            attachment: if up { Attachment::Active } else { Attachment::Detached },
            left: LeftPackets::Drain,
        };
        let unused = places[1..].iter().chain(&outside[1..]);
        let mut changes: Vec<_> =
            unused.map(|link| (SimTime::ZERO, attach(*link, false))).collect();
        let mut pairs = outside.windows(2);
        for (at, step) in steps {
            let at = ms(*at);
            match step {
                Step::Up(number) => changes.push((at, attach(places[number - 1], true))),
                Step::Down(number) => changes.push((at, attach(places[number - 1], false))),
                Step::Rebind => {
                    let pair = pairs.next().expect("an address for each");
                    changes.push((at, attach(pair[0], false)));
                    changes.push((at, attach(pair[1], true)));
                }
                Step::Write(_) | Step::Finish => {}
            }
        }
        changes.sort_by_key(|(at, _)| *at);
        Self(changes.into())
    }
}

impl Topology for Timetable {
    fn next_change(&self) -> Option<SimTime> {
        self.0.front().map(|(at, _)| *at)
    }

    fn advance(&mut self, now: SimTime, changes: &mut Vec<Change>) {
        while let Some((_, change)) = self.0.pop_front_if(|(at, _)| *at <= now) {
            changes.push(change);
        }
    }
}
