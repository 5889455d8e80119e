//! Where packets leave the network for a real host.

use std::fs::File;
use std::io::Write;
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
    /// Where changes of interfaces are written.
    pub(crate) news: Option<File>,
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
    frame: Vec<u8>,
    /// Addresses that the host does not have at the moment: what still arrives for them is nobody's fault.
    gone: Vec<IpAddr>,
}

/// A port that writes to the devices of a host: a packet to the address of an interface to the device there, any other to the
/// first device.
pub fn open_port(
    devices: Vec<(IpAddr, Device)>,
    outside: &Outside,
    clock: WallClock,
    budget: Budget,
) -> Box<dyn Egress> {
    Box::new(Host {
        devices,
        outside: outside.clone(),
        clock,
        budget,
        frame: Vec::new(),
        gone: Vec::new(),
    })
}

impl Host {
    /// Writes a packet to its device; whether that took it.
    fn write(&mut self, packet: &Packet) -> bool {
        let to = packet.meta.destination.ip();
        let device = self.devices.iter().find(|(address, _)| *address == to);
        let Some((_, device)) = device.or(self.devices.first()) else { return false };
        self.frame.clear();
        // A header of zeros: a whole packet with a finished checksum.
        self.frame.resize(device.framing().header(), 0);
        wire::write(packet, &mut self.frame).is_ok() && device.write(&self.frame)
    }
}

impl Egress for Host {
    fn take(&mut self, now: SimTime, packet: Packet) {
        let is_taken = self.write(&packet);
        let is_gone = self.gone.contains(&packet.meta.destination.ip());
        let mut left = self.outside.lock();
        left.packets += u64::from(is_taken);
        left.refused += u64::from(!is_taken && !is_gone);
        left.lateness.record(now, self.clock.now(), &self.budget);
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
