//! Where packets leave the network for a real host.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leobench_base::{Packet, SimTime, wire};
use leobench_sim::network::Egress;

use crate::clock::WallClock;
use crate::device::Device;
use crate::verdict::{Budget, Lateness};

/// What has left through the ports that share it. Only the driver's thread writes, so the lock is never waited for.
#[derive(Clone, Debug, Default)]
pub struct Outside(Arc<Mutex<Left>>);

#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) packets: u64,
    pub(crate) refused: u64,
    pub(crate) lateness: Lateness,
}

impl Outside {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The devices of a host, by the addresses of its interfaces.
struct Host {
    devices: Vec<(IpAddr, Device)>,
    outside: Outside,
    clock: WallClock,
    budget: Budget,
    bytes: Vec<u8>,
}

/// A port that writes to the devices of a host: a packet to the address of an interface to the device there, any other to the
/// first device.
pub fn open_port(
    devices: Vec<(IpAddr, Device)>,
    outside: &Outside,
    clock: WallClock,
    budget: Budget,
) -> Box<dyn Egress> {
    Box::new(Host { devices, outside: outside.clone(), clock, budget, bytes: Vec::new() })
}

impl Egress for Host {
    fn take(&mut self, now: SimTime, packet: Packet) {
        let to = packet.meta.destination.ip();
        let device = self.devices.iter().find(|(address, _)| *address == to);
        let device = device.or(self.devices.first()).map(|(_, device)| device);
        self.bytes.clear();
        let is_taken = wire::write(&packet, &mut self.bytes).is_ok()
            && device.is_some_and(|device| device.write(&self.bytes));
        let mut left = self.outside.lock();
        left.packets += u64::from(is_taken);
        left.refused += u64::from(!is_taken);
        left.lateness.record(now, self.clock.now(), &self.budget);
    }
}
