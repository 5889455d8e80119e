//! The ports at which packets leave the network for real hosts.

use std::fs::File;
use std::io::Write;
use std::net::IpAddr;

use leobench_base::{Body, Packet, PortId, Protocol, SimTime, wire};
use leobench_sim::network::Egress;

use crate::budget::Budget;
use crate::clock::WallClock;
use crate::device::Device;
use crate::outlet::{Departures, Outlet};
use crate::spin::SpinObserver;

/// The ports of a network, and the devices by which packets leave there.
#[derive(Debug, Default)]
pub struct Ports {
    /// By port.
    hosts: Vec<Host>,
    outlets: Vec<Outlet>,
    pub(crate) departures: Departures,
    /// The observer of the spin bits of QUIC connections.
    pub(crate) spin: SpinObserver,
    /// The pipe for changes of interfaces.
    pub(crate) news: Option<File>,
    /// The outlets in which packets wait.
    filled: Vec<usize>,
}

/// The devices of a host, by the addresses of its interfaces.
#[derive(Debug)]
struct Host {
    /// Each with the number of its outlet.
    devices: Vec<(IpAddr, usize)>,
    /// Addresses that the host does not have at the moment: what still arrives for them is nobody's fault.
    gone: Vec<IpAddr>,
}

impl Ports {
    /// Opens the next port of the network, at a host with these devices, each with the addresses of an interface: a packet to one
    /// of them goes to the device there, any other to the first device.
    pub fn open(&mut self, devices: Vec<(Vec<IpAddr>, Device)>, budget: Budget) -> PortId {
        let mut by_address = Vec::new();
        for (addresses, device) in devices {
            let outlet = self.outlets.len();
            by_address.extend(addresses.into_iter().map(|address| (address, outlet)));
            self.outlets.push(Outlet::new(device, budget));
        }
        self.hosts.push(Host { devices: by_address, gone: Vec::new() });
        PortId::from(self.hosts.len() - 1)
    }

    /// Takes what has left the network.
    pub(crate) fn take(&mut self, events: &mut Vec<Egress>) {
        for event in events.drain(..) {
            match event {
                Egress::Packet { at, port, packet } => self.push(at, port, packet),
                Egress::Interface { port, address, up } => self.on_interface(port, address, up),
            }
        }
    }

    /// Lets a packet wait at its outlet that is due at `at`.
    fn push(&mut self, at: SimTime, port: PortId, packet: Packet) {
        if let Packet { meta, body: Body::Raw(raw) } = &packet
            && meta.protocol == Protocol::Udp
            && let Some(payload) = wire::udp_payload(raw)
        {
            self.spin.observe(at, meta.source, meta.destination, payload);
        }
        let to = packet.meta.destination.ip();
        let host = &self.hosts[port.index()];
        let device = host.devices.iter().find(|(address, _)| *address == to);
        let is_gone = host.gone.contains(&to);
        let Some((_, number)) = device.or(host.devices.first()) else {
            self.departures.refused += u64::from(!is_gone);
            return;
        };
        let outlet = &mut self.outlets[*number];
        if outlet.is_empty() {
            self.filled.push(*number);
        }
        outlet.push(at, packet, is_gone);
    }

    /// Notes that an interface can be used or not any more, and passes the news on.
    fn on_interface(&mut self, port: PortId, address: IpAddr, up: bool) {
        let gone = &mut self.hosts[port.index()].gone;
        gone.retain(|gone| *gone != address);
        if !up {
            gone.push(address);
        }
        if let Some(news) = &mut self.news {
            let line = format!("{address} {}\n", if up { "up" } else { "down" });
            // If nobody reads them any more, the run is about to end.
            _ = news.write_all(line.as_bytes());
        }
    }

    /// Whether packets wait.
    pub(crate) fn has_some(&self) -> bool {
        !self.filled.is_empty()
    }

    /// Writes all packets that wait.
    pub(crate) fn write(&mut self, clock: &WallClock) {
        for number in self.filled.drain(..) {
            self.outlets[number].write(clock, &mut self.departures);
        }
    }
}
