//! A network from a scenario.

mod addresses;
mod error;
mod flows;
mod sinks;
mod transit;

use std::path::Path;

use leobench_base::spec::{Limit, Spec, Value};
use leobench_base::{DirectionId, FlowId, LinkId, NodeId, RngTree, SimTime};
use leobench_link::channel::ChannelContext;
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{Capacity, LinkConfig, QueueDiscipline, QueueModel, QueueSpec};
use leobench_transport::Plugins;
use leobench_transport::plugin::{KEY, LIBRARY};

pub use self::error::BuildError;
use self::error::unsound;
pub use self::sinks::{OpenQlog, Sinks, SocketRequest, Sockets};
use crate::capture::{Captures, Secrets};
use crate::network::{Network, NetworkBuilder, QueueRequest, Way};
use crate::record::RecordSettings;
use crate::satellite_links::{ConstellationTopology, SatelliteLinks};
use crate::scenario::{
    Direction, HandoverKind, HandoverSpec, LinkSpec, Scenario, ScenarioSpec, Unsound, capacity,
    satellite_capacity,
};
use crate::topology::{
    ForecastConfig, Foreseen, Handover, HandoverConfig, Topology, Transition, Trigger,
};

/// A network under construction, and the inputs it is built from.
struct FromScenario<'a> {
    spec: &'a ScenarioSpec,
    folder: &'a Path,
    rng: RngTree,
    builder: NetworkBuilder,
    satellites: Option<SatelliteLinks>,
    plugins: &'a Plugins,
    qlogs: &'a mut OpenQlog<'a>,
    sockets: Option<Box<dyn Sockets>>,
    /// Log of the secrets of encrypted connections, if packets are captured.
    secrets: Option<Secrets>,
}

impl Network {
    /// Builds the network of a scenario at the start of a run.
    ///
    /// # Errors
    /// If a channel's files are unusable, or results or qlogs cannot be written.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        plugins: &Plugins,
        sinks: Sinks<'_>,
    ) -> Result<Self, BuildError> {
        let spec = &scenario.spec;
        let mut builder = NetworkBuilder::default();
        let record = &spec.record;
        let settings = RecordSettings {
            interval: record.interval,
            messages: record.messages,
            series: record.series,
            flows: scenario.reported_flows(),
            packets: record.packets,
        };
        builder.record(settings, sinks.tables);
        let secrets = sinks.captures.as_ref().map(Captures::secrets);
        builder.capture(sinks.captures);
        builder.trace(sinks.trace);
        builder.limits(spec.limits);
        builder.warm_up(SimTime::ZERO + spec.warm_up);
        let satellites = SatelliteLinks::new(scenario, seed).map_err(|fault| {
            unsound(format!("{} {}; allowed: {}", fault.field, fault.problem, fault.allowed))
        })?;
        let parts = FromScenario {
            spec,
            folder: &scenario.folder,
            rng: RngTree::new(seed),
            builder,
            satellites,
            plugins,
            qlogs: sinks.qlogs,
            sockets: sinks.sockets,
            secrets,
        };
        parts.build(sinks.ports)
    }
}

impl FromScenario<'_> {
    fn build(mut self, ports: Vec<String>) -> Result<Network, BuildError> {
        for (name, _) in &self.spec.nodes {
            self.builder.node(name);
        }
        for node in ports {
            self.builder.port(self.node(&node)?);
        }
        for (number, (name, link)) in self.spec.links.iter().enumerate() {
            let ends = [self.node(&link.between[0])?, self.node(&link.between[1])?];
            let [forward, backward] =
                Direction::BOTH.map(|direction| self.direction(name, link, direction));
            self.builder.link(name, ends, [forward?, backward?]);
            if link.constellation.is_none() {
                self.channels(name, link, LinkId::from(number).directions())?;
            }
        }
        if let (Some(satellites), Some(spec)) = (self.satellites.take(), &self.spec.constellation) {
            let foreseen = !self.spec.foresight().is_zero();
            if let Some(plan) = self.transit(spec, &satellites)? {
                self.builder.transit(plan);
            }
            let mut topology = ConstellationTopology::new(satellites, spec.old_packets);
            if let Some(satellite) = &spec.satellite {
                self.satellite_queues(satellite.queue.clone(), &topology.links())?;
            }
            self.builder.access_links(topology.report_access(&self.access_links()));
            self.constellation(topology, foreseen);
        }
        for (name, handover) in &self.spec.handovers {
            self.handover(name, handover)?;
        }
        if self.sockets.is_some() {
            self.builder.ends_outside();
        }
        for (number, (name, flow)) in self.spec.flows.iter().enumerate() {
            let ends = self.ends(FlowId::from(number), flow)?;
            let told = flow.forecast.map(|forecast| -> Result<_, BuildError> {
                let rng = self.rng.child("flows").child(name).child("forecast").rng();
                let (opener, interfaces) = (flow.opener_end(), self.interfaces(flow)?);
                Ok(ForecastConfig { opener, interfaces, ..forecast.config(flow.start, rng) })
            });
            let told = told.transpose()?;
            let built = self.flow(FlowId::from(number), (name, flow), &ends)?;
            let number = self.builder.flow(built);
            if flow.transport.model().multipath().is_some() || flow.connections() > 1 {
                self.builder.measure_paths(number);
            }
            if let Some(told) = told {
                self.builder.forecast(number, told);
            }
            if let Some(cross_layer) = flow.cross_layer {
                let directions = self.spec.access_directions(flow);
                let rng = self.rng.child("flows").child(name).child("cross_layer");
                let config = cross_layer.config(flow.start, directions, &rng);
                self.builder.cross_layer(number, config);
            }
        }
        if self.spec.flows.iter().any(|(_, flow)| names_plugin(&flow.write())) {
            self.builder.plugins();
        }
        Ok(self.builder.build()?)
    }

    /// The links through the constellation on which flows are told.
    fn access_links(&self) -> Vec<LinkId> {
        let flows = self.spec.flows.iter().filter(|(_, flow)| flow.cross_layer.is_some());
        let directions = flows.flat_map(|(_, flow)| self.spec.access_directions(flow));
        directions.map(DirectionId::link).collect()
    }

    /// Adds the links through a constellation. If it is `foreseen`, forecasts can tell what it will do.
    fn constellation(&mut self, constellation: ConstellationTopology, foreseen: bool) {
        self.builder.satellites(constellation.satellites());
        self.builder.stations(constellation.stations());
        for (direction, channel) in constellation.channels() {
            self.builder.channel(channel, vec![direction]);
        }
        let topology: Box<dyn Topology> = Box::new(constellation);
        let topology = if foreseen { Box::new(Foreseen::new(topology)) } else { topology };
        self.builder.topology("constellation", topology);
    }

    fn node(&self, name: &str) -> Result<NodeId, Unsound> {
        let node = self.spec.node(name);
        node.ok_or_else(|| Unsound(format!("there is no node {name}")))
    }

    fn link(&self, name: &str) -> Result<LinkId, Unsound> {
        let number = self.spec.links.iter().position(|(link, _)| link == name);
        number.map(LinkId::from).ok_or_else(|| Unsound(format!("there is no link {name}")))
    }

    /// One channel for both directions of a link, or one for each.
    fn channels(
        &mut self,
        name: &str,
        link: &LinkSpec,
        directions: [DirectionId; 2],
    ) -> Result<(), BuildError> {
        let rng = self.rng.child("links").child(name);
        if link.shares_channel() {
            return self.channel(name, link, Direction::Forward, directions.into(), &rng);
        }
        for (direction, number) in Direction::BOTH.into_iter().zip(directions) {
            let rng = rng.child(direction.key());
            self.channel(name, link, direction, vec![number], &rng)?;
        }
        Ok(())
    }

    fn channel(
        &mut self,
        name: &str,
        link: &LinkSpec,
        direction: Direction,
        directions: Vec<DirectionId>,
        rng: &RngTree,
    ) -> Result<(), BuildError> {
        let spec = link.channel(direction);
        let spec = spec.ok_or_else(|| unsound(format!("links.{name} has no channel")))?;
        let context = ChannelContext { folder: self.folder.into(), rng: rng.child("channel") };
        let built = spec.model().build(&context);
        let channel = built.map_err(|fault| BuildError::Channel { link: name.into(), fault })?;
        self.builder.channel(channel, directions);
        Ok(())
    }

    /// One direction of a link.
    fn direction(
        &self,
        name: &str,
        link: &LinkSpec,
        direction: Direction,
    ) -> Result<LinkConfig, BuildError> {
        let rng = self.rng.child("links").child(name).child(direction.key());
        let capacity = capacity(self.spec, self.folder, (name, link), direction);
        let capacity =
            capacity.map_err(|fault| BuildError::Queue { link: name.to_owned(), fault })?;
        let queue = match self.satellite_queue(link) {
            Some(queue) => self.room(queue, direction)?,
            None => link.queue(direction).model().build(capacity, &rng.child("queue")),
        };
        Ok(LinkConfig {
            queue,
            loss: link.loss(direction).map(|loss| loss.model().build(&rng.child("loss"))),
            access: link.access(direction).map(|access| access.model().build(&rng.child("access"))),
            delay: link.delay(direction),
            overhead: link.overhead.get(),
            mtu: link.mtu,
            // Packets over another satellite take another way.
            overtaking: link.overtaking || link.constellation.is_some(),
            rate_scale: link.rate_scale(direction),
            rng,
        })
    }

    /// The queue of the satellites that serve a link, if they have one.
    fn satellite_queue(&self, link: &LinkSpec) -> Option<&QueueSpec> {
        let constellation =
            self.spec.constellation.as_ref().filter(|_| link.constellation.is_some());
        constellation?.satellite.as_ref().map(|satellite| &satellite.queue)
    }

    /// The room in which packets wait for a satellite with this queue: as large as that, in order of arrival.
    fn room(
        &self,
        queue: &QueueSpec,
        direction: Direction,
    ) -> Result<Box<dyn QueueDiscipline>, BuildError> {
        let capacity = self.satellite_capacity(queue, direction)?;
        Ok(FifoSpec { limit: Limit::Unlimited }.build(capacity, &self.rng))
    }

    fn satellite_capacity(
        &self,
        queue: &QueueSpec,
        direction: Direction,
    ) -> Result<Capacity, BuildError> {
        let capacity = satellite_capacity(self.spec, self.folder, queue, direction);
        capacity.map_err(|fault| unsound(format!("constellation.satellite.queue.{fault:?}")))
    }

    /// Gives satellites one transmitter and one queue per direction.
    fn satellite_queues(&mut self, queue: QueueSpec, links: &[LinkId]) -> Result<(), BuildError> {
        let [there, back] = Direction::BOTH;
        let there = self.satellite_capacity(&queue, there)?;
        let back = self.satellite_capacity(&queue, back)?;
        let rng = self.rng.child("constellation").child("satellites");
        let factory = move |request: QueueRequest| {
            let QueueRequest { satellite, way, visit } = request;
            let capacity = if way == Way::There { there } else { back };
            let rng = rng.child(&satellite.index().to_string()).child(way.name());
            queue.model().build(capacity, &rng.child(&visit.to_string()))
        };
        let sample = factory(QueueRequest { satellite: 0.into(), way: Way::There, visit: 0 });
        self.builder.share_satellites(links, sample.causes(), Box::new(factory));
        Ok(())
    }

    fn handover(&mut self, name: &str, spec: &HandoverSpec) -> Result<(), BuildError> {
        let node = self.node(&spec.node)?;
        let links = spec.links.iter().map(|link| self.link(link)).collect::<Result<Vec<_>, _>>()?;
        let rng = self.rng.child("handovers").child(name);
        let trigger = match (&spec.at, spec.down_for) {
            (Some(times), _) => Trigger::At(times.iter().map(|at| SimTime::ZERO + *at).collect()),
            (None, Some(after)) => Trigger::Down { after, back: spec.up_for },
            (None, None) => Trigger::Clock(spec.clock(&rng)),
        };
        let transition = if spec.overlap.is_zero() {
            Transition::BreakBeforeMake(spec.outage)
        } else {
            Transition::MakeBeforeBreak(spec.overlap)
        };
        if spec.kind == HandoverKind::Rebind {
            self.builder.nat(node, &links);
        }
        let config = HandoverConfig { node, links, trigger, transition, left: spec.old_packets };
        let foreseen = !self.spec.foresight().is_zero() && spec.is_timed();
        let topology: Box<dyn Topology> = Box::new(Handover::new(config));
        let topology = if foreseen { Box::new(Foreseen::new(topology)) } else { topology };
        self.builder.topology(name, topology);
        Ok(())
    }
}

/// Whether a part of a specification names a plug-in, by key or by kind.
fn names_plugin(value: &Value) -> bool {
    let is_plugin = |word: &str| word == KEY || word == LIBRARY;
    match value {
        Value::Table(table) => {
            table.iter().any(|(key, value)| is_plugin(key) || names_plugin(value))
        }
        Value::Array(values) => values.iter().any(names_plugin),
        Value::String(word) => is_plugin(word),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) => false,
    }
}
