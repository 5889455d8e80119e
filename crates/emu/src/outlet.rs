//! Outlets, in which packets gather to be written to a device together.

use leobench_base::{Packet, SimDuration, SimTime, wire};

use crate::budget::Budget;
use crate::clock::WallClock;
use crate::device::Device;
use crate::offload::merge::Frame;
use crate::verdict::Lateness;

/// A device is written to once in this time at most. Packets that are due meanwhile wait for each other, as in a network card that
/// moderates its interrupts; one that comes alone goes at once.
pub(crate) const MODERATION: SimDuration = SimDuration::from_micros(50);

/// Totals of the packets that left by the devices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures {
    /// Packets, and the frames that they were in.
    pub(crate) packets: u64,
    pub(crate) frames: u64,
    /// Packets that a device did not take.
    pub(crate) refused: u64,
    pub(crate) lateness: Lateness,
}

/// A frame that waits.
#[derive(Debug)]
struct Waiting {
    frame: Frame,
    /// Whether the host may refuse it: it has lost the address.
    is_excused: bool,
}

/// The packets that leave by a device.
#[derive(Debug)]
pub(crate) struct Outlet {
    device: Device,
    budget: Budget,
    /// The frames that wait, one behind the other.
    bytes: Vec<u8>,
    frames: Vec<Waiting>,
    /// When each of their packets was due.
    due: Vec<SimTime>,
    packet: Vec<u8>,
    /// From when on it may be written to.
    open_from: SimTime,
}

impl Outlet {
    pub(crate) fn new(device: Device, budget: Budget) -> Self {
        let (bytes, frames, due, packet) = Default::default();
        Self { device, budget, bytes, frames, due, packet, open_from: SimTime::ZERO }
    }

    /// Takes a packet that is due at `now`; whether it is one. The host may refuse one that `is_excused`.
    pub(crate) fn push(&mut self, now: SimTime, packet: &Packet, is_excused: bool) -> bool {
        self.packet.clear();
        if wire::write(packet, &mut self.packet).is_err() {
            return false;
        }
        let framing = self.device.framing();
        let last = self.frames.last_mut().filter(|last| last.is_excused == is_excused);
        let joins =
            last.is_some_and(|last| last.frame.join(&mut self.bytes, &self.packet, framing));
        if !joins {
            let frame = Frame::open(&mut self.bytes, &self.packet, framing);
            self.frames.push(Waiting { frame, is_excused });
        }
        self.due.push(now);
        true
    }

    /// When it may be written to next, if packets wait, or something that happens at `next` may add one before.
    pub(crate) fn gathers_until(&self, next: SimTime) -> Option<SimTime> {
        (!self.frames.is_empty() || next < self.open_from).then_some(self.open_from)
    }

    /// Writes what waits to the device, if it may be written to.
    pub(crate) fn flush(&mut self, clock: &WallClock, departures: &mut Departures) {
        if !self.frames.is_empty() && self.open_from <= clock.now() {
            self.write(clock, departures);
        }
    }

    /// Writes what waits to the device at once.
    pub(crate) fn write(&mut self, clock: &WallClock, departures: &mut Departures) {
        let mut due = self.due.drain(..);
        let ends = self.frames.iter().skip(1).map(|next| next.frame.begin());
        let ends = ends.chain([self.bytes.len()]);
        for (Waiting { frame, is_excused }, end) in self.frames.iter().zip(ends) {
            let is_taken = self.device.write(&self.bytes[frame.begin()..end]);
            let now = clock.now();
            let packets = frame.packets();
            departures.frames += u64::from(is_taken);
            if is_taken {
                departures.packets += packets as u64;
            } else if !is_excused {
                departures.refused += packets as u64;
            }
            for due in due.by_ref().take(packets) {
                departures.lateness.record(due, now, &self.budget);
            }
        }
        drop(due);
        self.frames.clear();
        self.bytes.clear();
        self.open_from = clock.now() + MODERATION;
    }
}
