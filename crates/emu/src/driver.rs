//! Lets the network follow the clock.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use leobench_base::{PortId, SimDuration, SimTime, wire};
use leobench_sim::network::{Network, NetworkError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::budget::Budget;
use crate::clock::{WallClock, cpu_time};
use crate::device::Device;
use crate::flows::{Ready, Woken};
use crate::framing::{Framing, VIRTIO_HEADER};
use crate::offload::{self, Arena};
use crate::port::Ports;
use crate::precedence::{Precedence, Rank};
use crate::processors::Processors;
use crate::spin::SpinFlow;
use crate::verdict::Verdict;
use crate::writer::Writer;

/// The longest frame of a device: a packet of any kind, with a header before it.
const LONGEST: usize = 65_536 + VIRTIO_HEADER;
/// Packets read from one device before the others have their turn and what is due is written: they take up to 0.3 ms.
const BATCH: usize = 256;
/// The driver looks around at least so often: whether it is to stop, and whether it stood still.
const LONGEST_SLEEP: SimDuration = SimDuration::from_millis(10);

/// The driver is awake for nothing during one part in so many of its time at most: programs need the processor, too.
const SPIN_SHARE: u64 = 4;
/// The most of that time that the driver may save up.
const MOST_CREDIT: SimDuration = SimDuration::from_millis(2);

/// How the driver waits, and what it may deviate from the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How long before something is due it does not sleep any more, as long as this takes no more than a quarter of its time.
    /// If it would, it looks around once in this time only.
    pub spin: SimDuration,
    /// Limits on lateness, stalls and processor time.
    pub budget: Budget,
}

impl Default for Settings {
    fn default() -> Self {
        Self { spin: SimDuration::from_micros(50), budget: Budget::default() }
    }
}

/// Why a run in real time broke off.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The network could not go on.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A device could not be read.
    #[error("a TUN device cannot be read: {0}")]
    Device(#[source] io::Error),
    /// The sockets of flows cannot be watched.
    #[error("cannot watch sockets: {0}")]
    Sockets(#[source] io::Error),
    /// The driver cannot wait.
    #[error("cannot wait for packets: {0}")]
    Wait(#[source] rustix::io::Errno),
}

/// A network that follows a clock.
#[derive(Debug)]
pub struct Driver {
    clock: WallClock,
    settings: Settings,
    devices: Vec<(PortId, Device)>,
    /// The sockets of the network's own flows, if they are on any.
    sockets: Option<Ready>,
    woken: Vec<Woken>,
    writer: Writer,
    intake: Intake,
    verdict: Verdict,
    /// Whether a packet has come in.
    traffic: Arc<AtomicBool>,
}

/// When a run in real time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// At the latest.
    pub time: SimTime,
    /// Whether as soon as every byte of the network's own flows has arrived.
    pub drained: bool,
}

/// Buffers and state for reading packets.
#[derive(Debug)]
struct Intake {
    clock: WallClock,
    budget: Budget,
    frame: Vec<u8>,
    arena: Arena,
    /// The packets of a frame.
    packets: Vec<Bytes>,
    /// By device.
    queues: Vec<Queue>,
}

/// The frames that wait in a device, as far as can be told: the kernel does not say how many there are, nor since when.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// Frames read since it was seen empty.
    frames: u64,
    /// When it was seen empty.
    empty_at: SimTime,
}

impl Driver {
    /// A driver for a network whose ports go to these devices, by `clock`.
    pub fn new(
        clock: WallClock,
        settings: Settings,
        devices: Vec<(PortId, Device)>,
        ports: Ports,
    ) -> Self {
        let intake = Intake {
            clock: clock.clone(),
            budget: settings.budget,
            frame: vec![0; LONGEST],
            arena: Arena::default(),
            packets: Vec::new(),
            queues: vec![Queue::default(); devices.len()],
        };
        let writer = Writer::new(clock.clone(), ports);
        let (sockets, woken) = (None, Vec::new());
        let verdict = Verdict { bytes_in: vec![0; devices.len()], ..Verdict::default() };
        let traffic = Arc::default();
        Self { clock, settings, devices, sockets, woken, writer, intake, verdict, traffic }
    }

    /// Whether a packet has come in, for other threads.
    pub(crate) fn traffic(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.traffic)
    }

    /// Wakes the ends of flows whose sockets have something for them.
    pub fn watch(&mut self, sockets: Ready) {
        self.sockets = Some(sockets);
    }

    /// Follows the clock, which it starts unless it runs, until the run is over or `stop` is set.
    ///
    /// # Errors
    /// If the network cannot go on, or a device is gone.
    pub fn run(
        &mut self,
        network: &mut Network,
        until: Until,
        stop: &AtomicBool,
    ) -> Result<(), DriveError> {
        let Until { time: end, drained } = until;
        self.clock.start();
        sharpen_timers();
        let Self { clock, settings, devices, sockets, woken, writer, intake, verdict, traffic } =
            self;
        verdict.precedence = Precedence::take(Rank::Driver);
        let polled = devices.iter().map(|(_, device)| PollFd::new(device, PollFlags::IN));
        let mut polled: Vec<_> = polled.collect();
        polled.extend(sockets.iter().map(|sockets| PollFd::new(sockets, PollFlags::IN)));
        let mut waiter = Waiter::new(clock.clone(), settings.spin);
        let (cpu, processors) = (cpu_time(), Processors::read());
        let begin = clock.now();
        let mut now = begin;
        // Nobody has looked at the devices yet: they are read, and what is in them came just now.
        let (mut is_first, mut was_empty) = (true, true);
        while now < end && !stop.load(Ordering::Relaxed) && !(drained && network.is_drained()) {
            network.advance(now)?;
            for (number, (port, device)) in devices.iter().enumerate() {
                let is_ready = polled[number].revents().contains(PollFlags::IN);
                if was_empty || !is_ready {
                    intake.queues[number] = Queue { frames: 0, empty_at: now };
                }
                if is_first || is_ready {
                    intake.read(number, (*port, device), network, verdict)?;
                }
            }
            is_first = false;
            if let Some(sockets) = &*sockets {
                wake(sockets, woken, clock, network)?;
            }
            let due = network.next_wake().unwrap_or(SimTime::MAX).min(end);
            let held = writer.pass_on(network, due);
            let until = held.unwrap_or_else(|| due.min(now + LONGEST_SLEEP));
            let waits_from = clock.now();
            was_empty = waiter.wait(until, held.is_some(), &mut polled)?;
            now = clock.now();
            // It meant to go on at `until`, or at once if that had passed.
            verdict.stalls.record(until.max(waits_from), now, &settings.budget);
            writer.balance(now, waiter.idle);
            traffic.store(verdict.frames_in > 0, Ordering::Relaxed);
        }
        network.advance(now.min(end))?;
        verdict.cpu += writer.finish(network);
        verdict.elapsed += now.saturating_since(begin);
        verdict.cpu += cpu_time().saturating_sub(cpu);
        verdict.processors += Processors::read() - processors;
        verdict.spun += waiter.spun;
        Ok(())
    }

    /// Writes changes of interfaces to `news`, a line for each: the address, and `up` or `down`.
    pub fn report_interfaces(&mut self, news: File) {
        self.writer.ports().news = Some(news);
    }

    /// Samples of the spin bits of programs' QUIC connections, by direction and path.
    pub fn spin_flows(&self) -> Vec<SpinFlow> {
        self.writer.spin().flows().collect()
    }

    /// The verdict on the run so far: traffic, timing and losses.
    pub fn verdict(&self) -> Verdict {
        let mut departures = self.writer.departures();
        departures.bytes.resize(self.devices.len(), 0);
        Verdict {
            bytes_out: departures.bytes,
            packets_out: departures.packets,
            frames_out: departures.frames,
            refused: departures.refused,
            lateness: departures.lateness,
            owns_sockets: self.sockets.is_some(),
            ..self.verdict.clone()
        }
    }
}

impl Intake {
    /// Takes in what programs have sent, until the device is empty or the others must have their turn.
    fn read(
        &mut self,
        number: usize,
        (port, device): (PortId, &Device),
        network: &mut Network,
        verdict: &mut Verdict,
    ) -> Result<(), DriveError> {
        let mut taken = 0;
        let queue = self.queues[number];
        while taken < BATCH {
            let looked = self.clock.now();
            let Some(size) = device.read(&mut self.frame).map_err(DriveError::Device)? else {
                self.queues[number] = Queue { frames: 0, empty_at: looked };
                break;
            };
            let frames = &mut self.queues[number].frames;
            *frames += 1;
            verdict.frames_in += 1;
            verdict.device_queue_peak = verdict.device_queue_peak.max(*frames);
            let now = self.clock.now();
            verdict.queued.record(queue.empty_at, now, &self.budget);
            network.advance(now)?;
            self.cut(device.framing(), size, verdict);
            taken += self.packets.len().max(1);
            for bytes in self.packets.drain(..) {
                let Ok(packet) = wire::parse(bytes, 0, now) else {
                    verdict.malformed += 1;
                    continue;
                };
                verdict.packets_in += 1;
                verdict.bytes_in[number] += packet.meta.size.get();
                network.inject(now, port, packet)?;
            }
        }
        Ok(())
    }

    /// Makes packets of the frame that was read.
    fn cut(&mut self, framing: Framing, size: usize, verdict: &mut Verdict) {
        let frame = &self.frame[..size];
        match framing {
            Framing::Bare => self.packets.push(self.arena.packet([frame, &[]]).freeze()),
            Framing::Virtio { .. } => {
                let cut = offload::cut(frame, &mut self.arena, &mut self.packets);
                verdict.malformed += u64::from(cut.is_err());
            }
        }
    }
}

/// Lets the ends of flows act that have something on their sockets.
fn wake(
    sockets: &Ready,
    woken: &mut Vec<Woken>,
    clock: &WallClock,
    network: &mut Network,
) -> Result<(), DriveError> {
    sockets.take(woken).map_err(DriveError::Sockets)?;
    if !woken.is_empty() {
        let now = clock.now();
        network.advance(now)?;
        for Woken { flow, end } in woken.drain(..) {
            network.wake(now, flow, end);
        }
        network.advance(now)?;
    }
    Ok(())
}

/// How the driver waits.
#[derive(Debug)]
struct Waiter {
    clock: WallClock,
    spin: SimDuration,
    /// For how long it may be awake for nothing.
    credit: SimDuration,
    credited: SimTime,
    /// For how long it was.
    spun: SimDuration,
    /// For how long it slept or was awake for nothing, since the clock began.
    idle: SimDuration,
}

impl Waiter {
    fn new(clock: WallClock, spin: SimDuration) -> Self {
        let credited = clock.now();
        let idle = credited.saturating_since(SimTime::ZERO);
        Self { clock, spin, credit: MOST_CREDIT, credited, spun: SimDuration::ZERO, idle }
    }

    /// Waits for packets until a time: asleep at first, awake at last; whether devices were seen empty. Packets that
    /// are held until then are no reason to be awake, and others gather meanwhile, as in a network card that moderates its interrupts.
    fn wait(
        &mut self,
        until: SimTime,
        is_held: bool,
        polled: &mut [PollFd<'_>],
    ) -> Result<bool, DriveError> {
        let mut now = self.clock.now();
        self.credit += now.saturating_since(self.credited) / SPIN_SHARE;
        self.credit = self.credit.min(MOST_CREDIT);
        self.credited = now;
        if (is_held || self.credit.is_zero()) && until > now {
            let span = until.saturating_since(now);
            nap(if is_held { span } else { span.min(self.spin) });
            let since = std::mem::replace(&mut now, self.clock.now());
            self.idle += now.saturating_since(since);
        }
        let (mut sleep, mut was_empty) = (SimDuration::ZERO, false);
        loop {
            let timeout = Timespec { tv_sec: 0, tv_nsec: sleep.as_nanos() as i64 };
            let slept = !sleep.is_zero();
            let left = until.saturating_since(now);
            match poll(polled, Some(&timeout)) {
                Ok(count) if count > 0 || left.is_zero() => {
                    if slept {
                        self.idle += self.clock.now().saturating_since(now);
                    }
                    return Ok(was_empty || count == 0);
                }
                Ok(_) => was_empty = true,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(DriveError::Wait(error)),
            }
            let since = std::mem::replace(&mut now, self.clock.now());
            let spun = now.saturating_since(since);
            self.idle += spun;
            if !slept {
                self.credit = self.credit.saturating_sub(spun);
                self.spun += spun;
            }
            sleep = until.saturating_since(now).saturating_sub(self.spin.min(self.credit));
        }
    }
}

/// Sleeps, whatever comes.
fn nap(span: SimDuration) {
    let span = Timespec { tv_sec: 0, tv_nsec: span.as_nanos() as i64 };
    // If a signal cuts it short, it was long enough.
    _ = rustix::thread::nanosleep(&span);
}

/// Asks for wake-ups as exact as the machine has them: by default the kernel gathers those within 50 µs.
fn sharpen_timers() {
    // Where this is not allowed, wake-ups are less exact, which the verdict shows.
    _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
