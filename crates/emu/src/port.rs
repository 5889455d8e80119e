//! The ports at which packets leave the network for real hosts.

use std::fs::File;
use std::io::Write;
use std::net::IpAddr;

use leobench_base::{Body, Packet, PortId, Protocol, SimTime, wire};
use leobench_sim::network::Egress;

use crate::budget::Budget;
use crate::device::Device;
use crate::spin::SpinObserver;
use crate::transmit_queue::{TransmitQueue, Waiting};

/// The ports of a network, and the devices by which packets leave there.
#[derive(Debug, Default)]
pub struct Ports {
    /// By port.
    hosts: Vec<Host>,
    pub(crate) queues: Vec<TransmitQueue>,
    /// Packets that no device takes.
    pub(crate) refused: u64,
    /// The observer of the spin bits of QUIC connections.
    pub(crate) spin: SpinObserver,
    /// The pipe for changes of interfaces.
    pub(crate) news: Option<File>,
}

/// The devices of a host, by the addresses of its interfaces.
#[derive(Debug)]
struct Host {
    /// Each with the number of its transmit queue.
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
            let queue = self.queues.len();
            by_address.extend(addresses.into_iter().map(|address| (address, queue)));
            self.queues.push(TransmitQueue::new(device, budget));
        }
        self.hosts.push(Host { devices: by_address, gone: Vec::new() });
        PortId::from(self.hosts.len() - 1)
    }

    /// The transmit queue by which something leaves, and the packet; or nothing.
    pub(crate) fn route(&mut self, event: Egress) -> Option<(usize, Waiting)> {
        match event {
            Egress::Packet { at, port, packet } => self.route_packet(at, port, packet),
            Egress::Interface { port, address, up } => {
                self.on_interface(port, address, up);
                None
            }
        }
    }

    fn route_packet(
        &mut self,
        due: SimTime,
        port: PortId,
        packet: Packet,
    ) -> Option<(usize, Waiting)> {
        if let Packet { meta, body: Body::Raw(raw) } = &packet
            && meta.protocol == Protocol::Udp
            && let Some(payload) = wire::udp_payload(raw)
        {
            self.spin.observe(due, meta.source, meta.destination, payload);
        }
        let to = packet.meta.destination.ip();
        let host = &self.hosts[port.index()];
        let device = host.devices.iter().find(|(address, _)| *address == to);
        let is_excused = host.gone.contains(&to);
        let Some((_, number)) = device.or(host.devices.first()) else {
            self.refused += u64::from(!is_excused);
            return None;
        };
        Some((*number, Waiting { due, packet, is_excused }))
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
}
