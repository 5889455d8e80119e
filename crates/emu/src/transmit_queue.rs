//! Transmit queues, in which packets gather to be written to a device together.

use std::net::SocketAddr;

use leobench_base::{Packet, SimTime, wire};

use crate::budget::Budget;
use crate::clock::WallClock;
use crate::device::Device;
use crate::offload::merge::Frame;
use crate::verdict::Lateness;

/// Totals of the packets that left by the devices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures {
    /// Packets, and the frames that they were in.
    pub(crate) packets: u64,
    pub(crate) frames: u64,
    /// Packets that a device did not take.
    pub(crate) refused: u64,
    /// Bytes of the packets, by transmit queue.
    pub(crate) bytes: Vec<u64>,
    pub(crate) lateness: Lateness,
}

impl Departures {
    /// Adds those that another thread has written.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.frames += other.frames;
        self.refused += other.refused;
        for (number, bytes) in other.bytes.iter().enumerate() {
            self.carried(number, *bytes);
        }
        self.lateness.add(&other.lateness);
    }

    /// Counts bytes that left by a transmit queue.
    fn carried(&mut self, number: usize, bytes: u64) {
        if self.bytes.len() <= number {
            self.bytes.resize(number + 1, 0);
        }
        self.bytes[number] += bytes;
    }
}

/// A packet that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) due: SimTime,
    pub(crate) packet: Packet,
    /// Whether the host may refuse it: it has lost the address.
    pub(crate) is_excused: bool,
}

impl Waiting {
    /// The connection that it belongs to.
    fn flow(&self) -> (SocketAddr, SocketAddr) {
        (self.packet.meta.source, self.packet.meta.destination)
    }
}

/// A frame, whose packets the host may refuse or not.
#[derive(Debug)]
struct Ready {
    frame: Frame,
    is_excused: bool,
}

/// The packets that leave by a device.
#[derive(Debug)]
pub(crate) struct TransmitQueue {
    device: Device,
    budget: Budget,
    waiting: Vec<Waiting>,
    /// The order in which they leave.
    order: Vec<usize>,
    /// The frames that they become, one behind the other.
    bytes: Vec<u8>,
    frames: Vec<Ready>,
    /// When each of their packets was due, and its length.
    due: Vec<(SimTime, u64)>,
    packet: Vec<u8>,
    /// Frames written since it was last asked.
    written: u64,
}

impl TransmitQueue {
    pub(crate) fn new(device: Device, budget: Budget) -> Self {
        let (waiting, order, bytes, frames, due, packet) = Default::default();
        Self { device, budget, waiting, order, bytes, frames, due, packet, written: 0 }
    }

    /// The frames written since the last call.
    pub(crate) fn take_written(&mut self) -> u64 {
        std::mem::take(&mut self.written)
    }

    /// Writes what waits to the device. Returns how many bytes of packets it took.
    fn write(&mut self, clock: &WallClock, departures: &mut Departures) -> u64 {
        let mut taken = 0;
        self.frame(departures);
        self.written += self.frames.len() as u64;
        let mut due = self.due.drain(..);
        let ends = self.frames.iter().skip(1).map(|next| next.frame.begin());
        let ends = ends.chain([self.bytes.len()]);
        for (Ready { frame, is_excused }, end) in self.frames.iter().zip(ends) {
            let is_taken = self.device.write(&self.bytes[frame.begin()..end]);
            let now = clock.now();
            let packets = frame.packets();
            departures.frames += u64::from(is_taken);
            if is_taken {
                departures.packets += packets as u64;
            } else if !is_excused {
                departures.refused += packets as u64;
            }
            for (due, size) in due.by_ref().take(packets) {
                departures.lateness.record(due, now, &self.budget);
                taken += if is_taken { size } else { 0 };
            }
        }
        drop(due);
        self.frames.clear();
        self.bytes.clear();
        taken
    }

    /// Makes frames of the packets that wait. Those of a connection go one behind the other, so that they can become one: what
    /// different connections send at nearly the same time has no order.
    fn frame(&mut self, departures: &mut Departures) {
        self.order.clear();
        self.order.extend(0..self.waiting.len());
        if !self.waiting.is_sorted_by_key(Waiting::flow) {
            let waiting = &self.waiting;
            self.order.sort_unstable_by_key(|number| (waiting[*number].flow(), *number));
        }
        let framing = self.device.framing();
        for number in &self.order {
            let Waiting { due, packet, is_excused } = &self.waiting[*number];
            self.packet.clear();
            if wire::write(packet, &mut self.packet).is_err() {
                departures.refused += u64::from(!is_excused);
                continue;
            }
            let last = self.frames.last_mut().filter(|last| last.is_excused == *is_excused);
            let joins =
                last.is_some_and(|last| last.frame.join(&mut self.bytes, &self.packet, framing));
            if !joins {
                let frame = Frame::open(&mut self.bytes, &self.packet, framing);
                self.frames.push(Ready { frame, is_excused: *is_excused });
            }
            self.due.push((*due, self.packet.len() as u64));
        }
        self.waiting.clear();
    }
}

/// The transmit queues that a thread writes to.
#[derive(Debug, Default)]
pub(crate) struct TransmitQueues {
    /// By number; those of the other thread are missing.
    own: Vec<Option<TransmitQueue>>,
    /// Those in which packets wait.
    filled: Vec<usize>,
    pub(crate) departures: Departures,
}

impl TransmitQueues {
    /// The transmit queues with the numbers from zero on.
    pub(crate) fn of(queues: Vec<TransmitQueue>) -> Self {
        Self { own: queues.into_iter().map(Some).collect(), ..Self::default() }
    }

    /// Lets a packet wait in a transmit queue.
    pub(crate) fn push(&mut self, number: usize, waiting: Waiting) {
        let Some(queue) = self.own.get_mut(number).and_then(Option::as_mut) else {
            self.departures.refused += u64::from(!waiting.is_excused);
            return;
        };
        if queue.waiting.is_empty() {
            self.filled.push(number);
        }
        queue.waiting.push(waiting);
    }

    /// Whether packets wait.
    pub(crate) fn has_some(&self) -> bool {
        !self.filled.is_empty()
    }

    /// Writes all packets that wait.
    pub(crate) fn write(&mut self, clock: &WallClock) {
        for number in self.filled.drain(..) {
            if let Some(queue) = &mut self.own[number] {
                let bytes = queue.write(clock, &mut self.departures);
                self.departures.carried(number, bytes);
            }
        }
    }

    /// Takes all transmit queues out, with their numbers, once they are written.
    pub(crate) fn take_all(&mut self, clock: &WallClock) -> Vec<(usize, TransmitQueue)> {
        self.write(clock);
        let own = self.own.iter_mut().enumerate();
        own.filter_map(|(number, queue)| Some((number, queue.take()?))).collect()
    }

    /// Puts a transmit queue in.
    pub(crate) fn put(&mut self, number: usize, queue: TransmitQueue) {
        if self.own.len() <= number {
            self.own.resize_with(number + 1, || None);
        }
        self.own[number] = Some(queue);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    use bytes::Bytes;
    use etherparse::PacketBuilder;

    use super::*;
    use crate::framing::{Framing, VIRTIO_HEADER};

    /// A datagram of 100 bytes from a port, with a number in its content.
    fn packet(port: u16, number: u8) -> Packet {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4([172, 16, 0, 1], [172, 16, 0, 2], 64);
        builder.udp(port, 9).write_to_vec(&mut bytes, &[number; 100]).unwrap();
        wire::parse(Bytes::from(bytes), 0, SimTime::ZERO).unwrap()
    }

    #[test]
    fn packets_of_a_connection_become_one_frame_between_others() {
        let (inside, outside) = UnixDatagram::pair().unwrap();
        let device = Device::new(OwnedFd::from(inside), Framing::Virtio { datagrams: true });
        let mut queues = TransmitQueues::of(vec![TransmitQueue::new(device, Budget::default())]);
        for number in 0..4 {
            for port in [2, 1, 3] {
                let packet = packet(port, number);
                queues.push(0, Waiting { due: SimTime::ZERO, packet, is_excused: false });
            }
        }
        assert!(queues.has_some());
        queues.write(&WallClock::new());
        assert!(!queues.has_some());
        let departures = &queues.departures;
        assert_eq!((departures.packets, departures.frames, departures.refused), (12, 3, 0));
        // Each with 28 bytes of headers.
        assert_eq!(departures.bytes, [12 * 128]);
        for port in 1..=3 {
            let mut frame = [0; 1_000];
            let size = outside.recv(&mut frame).unwrap();
            let packet = &frame[VIRTIO_HEADER..size];
            assert_eq!(u16::from_be_bytes([packet[20], packet[21]]), port);
            let contents: Vec<u8> = packet[28..].iter().step_by(100).copied().collect();
            assert_eq!(contents, [0, 1, 2, 3]);
        }
    }
}
