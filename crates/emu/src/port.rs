//! The ports at which packets leave the network for real hosts.

use std::fs::File;
use std::io::Write;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leobench_base::{Body, Packet, Protocol, SimTime, wire};
use leobench_sim::network::Egress;

use crate::clock::WallClock;
use crate::device::Device;
use crate::outlet::{Departures, Outlet};
use crate::spin::SpinObserver;
use crate::verdict::Budget;

/// The devices by which packets leave, of all ports that share it. Only the driver's thread writes, so the lock is never waited for.
#[derive(Clone, Debug, Default)]
pub struct Outside(Arc<Mutex<Left>>);

#[derive(Debug, Default)]
pub(crate) struct Left {
    outlets: Vec<Outlet>,
    pub(crate) departures: Departures,
    /// The observer of the spin bits of QUIC connections.
    pub(crate) spin: SpinObserver,
    /// The pipe for changes of interfaces.
    pub(crate) news: Option<File>,
}

impl Outside {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes packets that are due to the devices that may be written to. Returns until when packets gather, if they do: some
    /// wait already, or something happens at `next` while a device may not be written to.
    pub(crate) fn flush(&self, clock: &WallClock, next: SimTime) -> Option<SimTime> {
        let Left { outlets, departures, .. } = &mut *self.lock();
        for outlet in outlets.iter_mut() {
            outlet.flush(clock, departures);
        }
        outlets.iter().filter_map(|outlet| outlet.gathers_until(next)).min()
    }

    /// Writes all packets that are due.
    pub(crate) fn finish(&self, clock: &WallClock) {
        let Left { outlets, departures, .. } = &mut *self.lock();
        for outlet in outlets {
            outlet.write(clock, departures);
        }
    }
}

/// The devices of a host, by the addresses of its interfaces.
struct Host {
    /// Each with the number of its outlet.
    devices: Vec<(IpAddr, usize)>,
    outside: Outside,
    /// Addresses that the host does not have at the moment: what still arrives for them is nobody's fault.
    gone: Vec<IpAddr>,
}

/// A port that writes to the devices of a host, each with the addresses of an interface: a packet to one of them goes to the device
/// there, any other to the first device.
pub fn open_port(
    devices: Vec<(Vec<IpAddr>, Device)>,
    outside: &Outside,
    budget: Budget,
) -> Box<dyn Egress> {
    let mut by_address = Vec::new();
    let outlets = &mut outside.lock().outlets;
    for (addresses, device) in devices {
        by_address.extend(addresses.into_iter().map(|address| (address, outlets.len())));
        outlets.push(Outlet::new(device, budget));
    }
    Box::new(Host { devices: by_address, outside: outside.clone(), gone: Vec::new() })
}

impl Egress for Host {
    fn take(&mut self, now: SimTime, packet: Packet) {
        let to = packet.meta.destination.ip();
        let device = self.devices.iter().find(|(address, _)| *address == to);
        let device = device.or(self.devices.first());
        let is_gone = self.gone.contains(&to);
        let Left { outlets, departures, spin, .. } = &mut *self.outside.lock();
        let is_taken =
            device.is_some_and(|(_, outlet)| outlets[*outlet].push(now, &packet, is_gone));
        departures.refused += u64::from(!is_taken && !is_gone);
        if let Packet { meta, body: Body::Raw(raw) } = &packet
            && meta.protocol == Protocol::Udp
            && let Some(payload) = wire::udp_payload(raw)
        {
            spin.observe(now, meta.source, meta.destination, payload);
        }
    }

    fn on_interface(&mut self, address: IpAddr, up: bool) {
        self.gone.retain(|gone| *gone != address);
        if !up {
            self.gone.push(address);
        }
        if let Some(news) = &mut self.outside.lock().news {
            let line = format!("{address} {}\n", if up { "up" } else { "down" });
            // If nobody reads them any more, the run is about to end.
            _ = news.write_all(line.as_bytes());
        }
    }
}
