//! Handovers, and whatever else a topology changes: the one place where its changes are applied.

mod access;
mod coming;
mod drops;
mod forecasts;

use leobench_base::{Destination, DirectionId, FlowId, LinkId, SimTime};
use leobench_link::ChannelState;
use leobench_transport::Input;
use leobench_transport::endpoint::{InterfaceChange, PathAddresses, PathId};

pub(super) use access::AccessStore;
pub(in crate::network) use drops::Held;
pub(super) use forecasts::{Forecaster, PathAhead};

use super::forwarding::{Forwarding, Hop};
use super::observe::{Addresses, NetworkEvent};
use super::packets::Egress;
use super::schedule::Entity;
use super::{End, Network, NetworkError};
use crate::topology::{Attachment, Change, LeftPackets};

impl Network {
    /// A topology changes.
    #[cold]
    pub(super) fn move_on(&mut self, topology: usize) -> Result<(), NetworkError> {
        if self.advance_topology(topology)? { self.reroute() } else { Ok(()) }
    }

    /// Everything moves to where it is at the start of a run.
    pub(super) fn start_topologies(&mut self) -> Result<(), NetworkError> {
        for topology in 0..self.topologies.len() {
            if self.topologies[topology].next_change() == Some(SimTime::ZERO) {
                self.advance_topology(topology)?;
            }
            self.wakes.set(Entity::Topology(topology), self.topologies[topology].next_change());
        }
        self.reroute()
    }

    /// Applies what a topology changes now; whether any link takes part in another way.
    fn advance_topology(&mut self, number: usize) -> Result<bool, NetworkError> {
        let mut changes = std::mem::take(&mut self.changes);
        let topology = &mut self.topologies[number];
        if topology.wants_loads()
            && let Some(transit) = &mut self.transit
        {
            topology.observe(self.now, &transit.take_loads(self.now));
        }
        let mut calls = 0;
        while topology.next_change().is_some_and(|due| due <= self.now) {
            topology.advance(self.now, &mut changes);
            calls += 1;
            if calls > self.instant.most_events() {
                return Err(self.endless(calls, &[Entity::Topology(number)]).into());
            }
        }
        self.wakes.set(Entity::Topology(number), self.topologies[number].next_change());
        let mut moved = false;
        for change in changes.drain(..) {
            moved |= matches!(change, Change::Attach { .. });
            self.apply(number, change)?;
        }
        self.settle_all()?;
        self.changes = changes;
        Ok(moved)
    }

    /// A channel was interrupted or restored in one direction of a link: topologies that watch it may move. A link is up while both
    /// of its directions are.
    pub(super) fn tell_topologies(&mut self, direction: DirectionId) {
        let up = direction
            .link()
            .directions()
            .into_iter()
            .all(|direction| self.observer.is_up(direction));
        for (number, topology) in self.topologies.iter_mut().enumerate() {
            if topology.on_channel(self.now, direction.link(), up) {
                self.wakes.set(Entity::Topology(number), topology.next_change());
            }
        }
    }

    fn apply(&mut self, topology: usize, change: Change) -> Result<(), NetworkError> {
        match change {
            Change::Attach { link, attachment, left } => self.attach(link, attachment, left),
            Change::Channel { direction, state } => self.offer(direction, &state),
            Change::Leave { link, left } => link
                .directions()
                .into_iter()
                .try_for_each(|direction| self.drop_left_packets(direction, left)),
            Change::Carrier { link, up } => {
                link.directions().into_iter().try_for_each(|direction| {
                    let address = Forwarding::interface_address(direction);
                    self.tell_endpoints(direction, || {
                        Input::Carrier(InterfaceChange { address, up })
                    })
                })
            }
            Change::Serve { link, satellite, left, overlaps } => {
                link.directions().into_iter().try_for_each(|direction| {
                    self.assign_satellite(direction, satellite, left, overlaps)
                })
            }
            Change::BeginOverlap { link } => link
                .directions()
                .into_iter()
                .try_for_each(|direction| self.begin_overlap(direction)),
            Change::EndOverlap { link, left } => link
                .directions()
                .into_iter()
                .try_for_each(|direction| self.end_overlap(direction, left)),
            Change::Access { link, state } => {
                self.access.learn(self.now, link, state);
                Ok(())
            }
            Change::Transit(update) => self.follow_transit(*update),
            Change::Handover(stage) => {
                self.access.reach(self.now, topology, &stage);
                let reached = NetworkEvent::Handover { topology, stage: &stage };
                Ok(self.observer.emit(self.now, reached)?)
            }
        }
    }

    /// A link through a constellation offers something else from now on.
    fn offer(&mut self, direction: DirectionId, state: &ChannelState) -> Result<(), NetworkError> {
        let was_up = self.observer.is_up(direction);
        self.directions[direction].set_channel(self.now, state, &mut self.link_output);
        self.settle(direction)?;
        self.settle_transit(direction)?;
        self.wakes.set(Entity::Direction(direction), self.directions[direction].next_wake());
        self.observer.emit(self.now, NetworkEvent::Channel { direction, state })?;
        self.deliver(direction)?;
        if was_up != state.up {
            self.tell_topologies(direction);
        }
        Ok(self.observer.emit(self.now, NetworkEvent::Offers { directions: &[direction] })?)
    }

    fn attach(
        &mut self,
        link: LinkId,
        attachment: Attachment,
        left: LeftPackets,
    ) -> Result<(), NetworkError> {
        self.forwarding.attach(link, attachment);
        for direction in link.directions() {
            if attachment == Attachment::Detached {
                self.drop_left_packets(direction, left)?;
                let node = self.forwarding.edge(direction).from;
                if let Some(nat) = &mut self.nats[node] {
                    nat.forget(direction);
                }
            }
            if attachment != Attachment::Standby {
                self.change_interface(direction, attachment == Attachment::Active)?;
            }
        }
        Ok(())
    }

    /// Tells the endpoints at the node where a direction begins.
    fn tell_endpoints(
        &mut self,
        direction: DirectionId,
        input: impl Fn() -> Input<'static>,
    ) -> Result<(), NetworkError> {
        let node = self.forwarding.edge(direction).from;
        for endpoint in self.endpoints.keys() {
            if self.endpoints[endpoint].node == node {
                self.input(endpoint, input())?;
            }
        }
        Ok(())
    }

    /// An interface can be used from now on, or not any more: the endpoints at its node learn it, and programs outside.
    fn change_interface(&mut self, direction: DirectionId, up: bool) -> Result<(), NetworkError> {
        let node = self.forwarding.edge(direction).from;
        let address = Forwarding::interface_address(direction);
        self.tell_endpoints(direction, || Input::Interface(InterfaceChange { address, up }))?;
        if let Some(port) = self.egress_at[node] {
            self.egress.push(Egress::Interface { port, address, up });
        }
        Ok(())
    }

    /// The ends of a flow have changed the addresses of its paths by themselves.
    #[cold]
    pub(super) fn follow_paths(
        &mut self,
        flow: FlowId,
        paths: &[(PathId, Addresses)],
    ) -> Result<(), NetworkError> {
        if !self.use_paths(flow, paths)? {
            return Ok(());
        }
        let Self { forwarding, observer, .. } = self;
        let find = |ends, addresses| forwarding.path_routes(ends, addresses);
        let rerouted = NetworkEvent::Rerouted { flow: Some(flow), find: &find };
        observer.emit(self.now, rerouted)?;
        self.tell_new_access(Some(flow))
    }

    /// The paths of a flow, and the addresses between which they lead; none of a flow that names no addresses.
    pub(super) fn named_paths(&self, flow: FlowId) -> Vec<(PathId, Addresses)> {
        let mut named = Vec::new();
        let ends = self.flows[flow].ends;
        let opener = ends.iter().position(|end| {
            self.endpoints[*end].endpoint.paths(&mut named);
            !named.is_empty()
        });
        let from_sender = opener == Some(End::Sender as usize);
        let paths = named.into_iter().map(|PathAddresses { path, local, remote }| {
            let addresses = if from_sender { [local, remote] } else { [remote, local] };
            (path, Some(addresses))
        });
        paths.collect()
    }

    /// Takes note of the paths of a flow; whether it names any, or did.
    fn use_paths(
        &mut self,
        flow: FlowId,
        paths: &[(PathId, Addresses)],
    ) -> Result<bool, NetworkError> {
        if paths.is_empty() && !self.observer.has_addresses(flow) {
            return Ok(false);
        }
        for address in paths.iter().filter_map(|(_, addresses)| *addresses).flatten() {
            self.forwarding.expect(self.forwarding.destination(address));
        }
        self.observer.emit(self.now, NetworkEvent::Paths { flow, paths })?;
        Ok(true)
    }

    /// Packets take new ways from here on.
    fn reroute(&mut self) -> Result<(), NetworkError> {
        for flow in self.flows.keys() {
            self.use_paths(flow, &self.named_paths(flow))?;
        }
        let Self { forwarding, observer, .. } = self;
        forwarding.update(|direction| observer.delay(direction));
        let find = |ends, addresses| forwarding.path_routes(ends, addresses);
        observer.emit(self.now, NetworkEvent::Rerouted { flow: None, find: &find })?;
        self.tell_new_access(None)?;
        for Held { node, packet } in std::mem::take(&mut self.held) {
            let waits = matches!(packet.meta.label.to, Destination::Node(_));
            if waits && self.forwarding.hop(node, packet.meta.label.to) == Hop::Nowhere {
                self.held.push(Held { node, packet });
            } else {
                self.forward(node, packet)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
