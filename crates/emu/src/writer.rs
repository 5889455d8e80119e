//! Writing of packets that leave the network: by the driver, or by a thread beside it.
//!
//! To write to a device is to run the receiving half of a host's kernel, and to wake its program, which takes longer than all else that is
//! done for a packet. Packets that are due within a short time leave together, as in a network card that moderates its
//! interrupts; one that comes alone leaves at once. The time counts for all devices together: with many of them, there would always be one to write
//! to otherwise, and the driver would have a round of its own for each packet. It is longer, and what hosts send gathers too, while the
//! driver is busy ([`Pace`]). Where that is not enough, a thread writes to a part of the devices, on another processor.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use leobench_base::{SimDuration, SimTime};
use leobench_sim::network::{Egress, Network};

use crate::clock::{WallClock, cpu_time};
use crate::port::Ports;
use crate::precedence::{Precedence, Rank};
use crate::spin::SpinObserver;
use crate::transmit_queue::{Departures, TransmitQueues, Waiting};

/// For how long packets gather, usually and while the driver is busy.
const MODERATION: SimDuration = SimDuration::from_micros(50);
const LONG_MODERATION: SimDuration = SimDuration::from_micros(150);
/// The load is looked at so often.
const LOOK_EVERY: SimDuration = SimDuration::from_millis(10);

/// After so many looks, the devices are divided anew.
const LOOKS_PER_DIVISION: u32 = 50;

/// How packets are written, by how much of its time the driver works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// By the driver, soon.
    Prompt,
    /// By the driver, more of them together.
    Gathering,
    /// By the driver and the thread, each to its own devices.
    Shared,
}

impl Pace {
    /// The pace that follows where driver and thread work for this part of the time.
    fn next(self, load: f64) -> Self {
        match self {
            Self::Prompt if load > 0.6 => Self::Gathering,
            Self::Gathering if load > 0.85 => Self::Shared,
            Self::Gathering if load < 0.3 => Self::Prompt,
            Self::Shared if load < 0.5 => Self::Gathering,
            _ => self,
        }
    }
}

/// The writer of packets.
#[derive(Debug)]
pub(crate) struct Writer {
    clock: WallClock,
    ports: Ports,
    /// The transmit queues that the driver writes to.
    own: TransmitQueues,
    /// Whether the thread writes to a transmit queue, by its number.
    is_away: Vec<bool>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<SimDuration>>,
    /// Whether there is a second processor for the thread.
    may_share: bool,
    pace: Pace,
    /// The events taken from the network last, and what is handed over of them.
    taken: Vec<Egress>,
    batch: Vec<(usize, Waiting)>,
    /// From when on devices may be written to.
    open_from: SimTime,
    looked_at: SimTime,
    /// How often the load was looked at since the transmit queues were divided.
    looks: u32,
    /// The work of the driver and the thread until then.
    worked: SimDuration,
}

#[derive(Debug)]
struct Shared {
    /// The transmit queues that the thread writes to, and which it locks meanwhile.
    queues: Mutex<TransmitQueues>,
    inbox: Mutex<Inbox>,
    filled: Condvar,
    /// Nanoseconds for which the thread has worked.
    worked: AtomicU64,
}

/// Packets that the driver has handed over.
#[derive(Debug, Default)]
struct Inbox {
    batch: Vec<(usize, Waiting)>,
    /// Whether the thread has written everything and waits.
    is_idle: bool,
    is_over: bool,
}

impl Writer {
    pub(crate) fn new(clock: WallClock, mut ports: Ports) -> Self {
        let queues = std::mem::take(&mut ports.queues);
        let shared = Shared {
            queues: Mutex::default(),
            inbox: Mutex::default(),
            filled: Condvar::new(),
            worked: AtomicU64::new(0),
        };
        let may_share = thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        Self {
            clock,
            ports,
            is_away: vec![false; queues.len()],
            own: TransmitQueues::of(queues),
            shared: Arc::new(shared),
            thread: None,
            may_share,
            pace: Pace::Prompt,
            taken: Vec::new(),
            batch: Vec::new(),
            open_from: SimTime::ZERO,
            looked_at: SimTime::ZERO,
            looks: 0,
            worked: SimDuration::ZERO,
        }
    }

    /// The ports by which packets leave.
    pub(crate) fn ports(&mut self) -> &mut Ports {
        &mut self.ports
    }

    /// Samples of the spin bits of programs' QUIC connections.
    pub(crate) fn spin(&self) -> &SpinObserver {
        &self.ports.spin
    }

    /// The packets written by now.
    pub(crate) fn departures(&self) -> Departures {
        let mut sum = self.own.departures.clone();
        sum.add(&locked(&self.shared.queues).departures);
        sum.refused += self.ports.refused;
        sum
    }

    /// Takes what has left the network, and writes it or lets it be written. Returns until when packets gather, if they do: some
    /// wait already, or something happens at `next` before devices may be written to.
    pub(crate) fn pass_on(&mut self, network: &mut Network, next: SimTime) -> Option<SimTime> {
        network.take_egress(&mut self.taken);
        self.pass(next)
    }

    fn pass(&mut self, next: SimTime) -> Option<SimTime> {
        let now = self.clock.now();
        for event in self.taken.drain(..) {
            match self.ports.route(event) {
                Some((number, waiting)) if self.is_away[number] => {
                    self.batch.push((number, waiting));
                }
                Some((number, waiting)) => self.own.push(number, waiting),
                None => {}
            }
        }
        if !self.batch.is_empty() {
            self.hand_over();
        }
        if self.own.has_some() && self.open_from <= now {
            self.own.write(&self.clock);
            self.open_from = self.clock.now() + MODERATION;
        }
        if self.pace != Pace::Prompt {
            // What hosts send gathers, too: else each of their packets would wake the driver.
            self.open_from = now + LONG_MODERATION;
            return Some(self.open_from);
        }
        (self.own.has_some() || next < self.open_from).then_some(self.open_from)
    }

    /// Decides who writes, by how much of the time until `now` the driver was idle in all.
    pub(crate) fn balance(&mut self, now: SimTime, idle: SimDuration) {
        let passed = now.saturating_since(self.looked_at);
        if passed < LOOK_EVERY {
            return;
        }
        let own = now.saturating_since(SimTime::ZERO).saturating_sub(idle);
        let others = SimDuration::from_nanos(self.shared.worked.load(Ordering::Relaxed));
        let worked = own + others;
        let load = worked.saturating_sub(self.worked).as_secs_f64() / passed.as_secs_f64();
        (self.looked_at, self.worked) = (now, worked);
        let next = self.pace.next(load);
        if self.pace == Pace::Shared || next == Pace::Shared {
            self.share_out(next);
        } else {
            self.pace = next;
        }
    }

    /// Divides the transmit queues among the driver and the thread, or takes them back, if the thread has nothing to do at the moment: what it was
    /// handed first has to leave first.
    fn share_out(&mut self, next: Pace) {
        let is_new = next != self.pace;
        self.looks += 1;
        if !self.start() || !(is_new || self.looks >= LOOKS_PER_DIVISION) {
            return;
        }
        let inbox = locked(&self.shared.inbox);
        if !inbox.is_idle || !inbox.batch.is_empty() {
            return;
        }
        let mut others = locked(&self.shared.queues);
        let mut all: Vec<_> = self.own.take_all(&self.clock);
        all.extend(others.take_all(&self.clock));
        let mut all: Vec<_> = all
            .into_iter()
            .map(|(number, mut queue)| (queue.take_written(), number, queue))
            .collect();
        all.sort_unstable_by_key(|(written, number, _)| (std::cmp::Reverse(*written), *number));
        let total: u64 = all.iter().map(|(written, ..)| written).sum();
        // The driver also reads: for about half as long as all writing takes.
        let (mut driver, mut thread) = (total / 2, 0);
        for (written, number, queue) in all {
            let is_away = next == Pace::Shared && thread <= driver;
            *(if is_away { &mut thread } else { &mut driver }) += written;
            self.is_away[number] = is_away;
            if is_away { &mut others } else { &mut self.own }.put(number, queue);
        }
        (self.pace, self.looks) = (next, 0);
    }

    /// Writes everything, and ends the thread. Returns the processor time that it took.
    pub(crate) fn finish(&mut self, network: &mut Network) -> SimDuration {
        network.take_egress(&mut self.taken);
        self.write_all()
    }

    fn write_all(&mut self) -> SimDuration {
        self.open_from = SimTime::ZERO;
        self.pass(SimTime::MAX);
        self.own.write(&self.clock);
        self.end()
    }

    /// Ends the thread once it has written what it was handed. Returns the processor time that it took.
    fn end(&mut self) -> SimDuration {
        locked(&self.shared.inbox).is_over = true;
        self.shared.filled.notify_one();
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }

    fn hand_over(&mut self) {
        let mut inbox = locked(&self.shared.inbox);
        inbox.batch.append(&mut self.batch);
        if std::mem::take(&mut inbox.is_idle) {
            drop(inbox);
            self.shared.filled.notify_one();
        }
    }

    /// Starts the thread unless it runs. Returns whether it does; without it, the driver goes on writing by itself.
    fn start(&mut self) -> bool {
        if self.thread.is_none() && self.may_share {
            let (shared, clock) = (Arc::clone(&self.shared), self.clock.clone());
            let work = move || shared.run(&clock);
            self.thread = thread::Builder::new().name("writer".into()).spawn(work).ok();
        }
        self.thread.is_some()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// The work of the thread: the processor time that it took.
    fn run(&self, clock: &WallClock) -> SimDuration {
        Precedence::take(Rank::Driver);
        let mut batch = Vec::new();
        loop {
            let mut inbox = locked(&self.inbox);
            while inbox.batch.is_empty() {
                if inbox.is_over {
                    return cpu_time();
                }
                inbox.is_idle = true;
                inbox = self.filled.wait(inbox).unwrap_or_else(PoisonError::into_inner);
            }
            inbox.is_idle = false;
            std::mem::swap(&mut batch, &mut inbox.batch);
            drop(inbox);
            let begin = clock.now();
            let mut queues = locked(&self.queues);
            for (number, waiting) in batch.drain(..) {
                queues.push(number, waiting);
            }
            queues.write(clock);
            drop(queues);
            let took = clock.now().saturating_since(begin);
            self.worked.fetch_add(took.as_nanos(), Ordering::Relaxed);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek};

    use bytes::Bytes;
    use etherparse::PacketBuilder;
    use leobench_base::{PortId, wire};
    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;
    use crate::budget::Budget;
    use crate::device::Device;
    use crate::framing::Framing;

    /// Bytes of a packet whose content is a number.
    const SIZE: usize = 32;

    fn packet(number: u32) -> Egress {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4([172, 16, 0, 1], [172, 16, 0, 2], 64).udp(1, 2);
        builder.write_to_vec(&mut bytes, &number.to_be_bytes()).unwrap();
        let (at, port) = (SimTime::ZERO, PortId::from(0));
        Egress::Packet { at, port, packet: wire::parse(Bytes::from(bytes), 0, at).unwrap() }
    }

    fn writer() -> (Writer, File) {
        let file = File::from(memfd_create("written", MemfdFlags::CLOEXEC).unwrap());
        let device = Device::new(file.try_clone().unwrap().into(), Framing::Bare);
        let mut ports = Ports::default();
        ports.open(vec![(vec!["172.16.0.2".parse().unwrap()], device)], Budget::default());
        let clock = WallClock::new();
        clock.start();
        let mut writer = Writer::new(clock, ports);
        writer.may_share = true;
        (writer, file)
    }

    fn at(millis: u64) -> SimTime {
        SimTime::from_nanos(millis * 1_000_000)
    }

    /// The packets keep their order, and none is lost.
    #[test]
    fn packets_keep_their_order_when_another_thread_takes_over() {
        let (mut writer, mut file) = writer();
        let mut now = SimTime::ZERO;
        for number in 0..20_000 {
            writer.taken.push(packet(number));
            writer.pass(SimTime::MAX);
            if number % 2_000 == 0 {
                assert!(writer.start());
                while writer.pace != Pace::Shared {
                    writer.share_out(Pace::Shared);
                }
                assert!(writer.is_away[0]);
            }
            if number % 2_000 == 1_000 {
                while !locked(&writer.shared.inbox).is_idle {
                    thread::yield_now();
                }
                // Idle for so long that what the thread has worked does not count.
                now += SimDuration::from_millis(1_000_000);
                writer.balance(now, now.saturating_since(SimTime::ZERO));
                assert_eq!(writer.pace, Pace::Gathering);
                assert!(!writer.is_away[0]);
            }
        }
        assert!(writer.thread.is_some());
        writer.write_all();
        assert_eq!(writer.departures().packets, 20_000);
        let mut written = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut written).unwrap();
        let numbers = written.chunks(SIZE).map(|packet| packet[SIZE - 4..].try_into().unwrap());
        assert!(numbers.map(u32::from_be_bytes).eq(0..20_000));
    }

    #[test]
    fn a_driver_that_is_busy_lets_packets_gather_and_then_another_thread_write() {
        let (mut writer, _) = writer();
        writer.balance(at(10), SimDuration::from_millis(5));
        assert_eq!(writer.pace, Pace::Prompt, "half of the time");
        writer.balance(at(20), SimDuration::from_millis(8));
        assert_eq!(writer.pace, Pace::Gathering, "most of it");
        writer.balance(at(30), SimDuration::from_millis(11));
        assert_eq!(writer.pace, Pace::Gathering);
        // Until the thread runs.
        let mut now = at(30);
        while writer.pace != Pace::Shared {
            now += SimDuration::from_millis(10);
            writer.balance(now, SimDuration::from_millis(11));
        }
        // Too early to tell.
        writer.balance(now + SimDuration::from_millis(5), SimDuration::from_millis(16));
        assert_eq!(writer.pace, Pace::Shared);
    }

    #[test]
    fn without_a_second_processor_the_driver_writes() {
        let (mut writer, _) = writer();
        writer.may_share = false;
        for number in 1..10 {
            writer.balance(at(10 * number), SimDuration::ZERO);
        }
        assert_eq!(writer.pace, Pace::Gathering);
        assert!(writer.thread.is_none());
    }
}
