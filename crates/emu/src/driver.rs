//! Lets the network follow the clock.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use leobench_base::{PortId, SimDuration, SimTime, wire};
use leobench_sim::network::{Network, NetworkError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::WallClock;
use crate::device::Device;
use crate::flows::{Ready, Woken};
use crate::port::Outside;
use crate::verdict::{Budget, Verdict};

/// The longest packet of any kind.
const LONGEST: usize = 65_535;
/// Room for packets that were read; a packet keeps its part of it for as long as it is in the network.
const CHUNK: usize = 4 * LONGEST;
/// Packets read from one device before the others have their turn and what is due is done.
const BATCH: usize = 64;
/// The driver looks around at least so often: whether it is to stop, and whether it stood still.
const LONGEST_SLEEP: SimDuration = SimDuration::from_millis(10);

/// How the driver waits, and what it may deviate from the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long before something is due it does not sleep any more.
    pub spin: SimDuration,
    /// What may be late.
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
    outside: Outside,
    buffer: BytesMut,
    verdict: Verdict,
}

/// When a run in real time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// At the latest.
    pub time: SimTime,
    /// Whether as soon as every byte of the network's own flows has arrived.
    pub drained: bool,
}

impl Driver {
    /// A driver for a network whose ports go to these devices, by `clock`.
    pub fn new(
        clock: WallClock,
        settings: Settings,
        devices: Vec<(PortId, Device)>,
        outside: Outside,
    ) -> Self {
        let (buffer, verdict) = (BytesMut::new(), Verdict::default());
        let (sockets, woken) = (None, Vec::new());
        Self { clock, settings, devices, sockets, woken, outside, buffer, verdict }
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
        take_precedence();
        let cpu = cpu_time();
        let mut readable = vec![true; self.devices.len()];
        let begin = self.clock.now();
        let mut now = begin;
        while now < end && !stop.load(Ordering::Relaxed) && !(drained && network.is_drained()) {
            network.advance(now)?;
            self.read(network, &readable)?;
            self.wake(network)?;
            let due = network.next_wake().unwrap_or(SimTime::MAX).min(end);
            let until = due.min(now + LONGEST_SLEEP);
            let waits_from = self.clock.now();
            self.wait(until, &mut readable)?;
            now = self.clock.now();
            // It meant to go on at `until`, or at once if that had passed.
            let stall = now.saturating_since(until.max(waits_from));
            self.verdict.longest_stall = self.verdict.longest_stall.max(stall);
        }
        network.advance(now.min(end))?;
        self.verdict.elapsed += now.saturating_since(begin);
        self.verdict.cpu += cpu_time().saturating_sub(cpu);
        Ok(())
    }

    /// What came of it.
    pub fn verdict(&self) -> Verdict {
        let left = self.outside.lock();
        Verdict {
            packets_out: left.packets,
            refused: left.refused,
            lateness: left.lateness.clone(),
            ..self.verdict.clone()
        }
    }

    /// Takes in what programs have sent.
    fn read(&mut self, network: &mut Network, readable: &[bool]) -> Result<(), DriveError> {
        for ((port, device), _) in self.devices.iter().zip(readable).filter(|(_, is)| **is) {
            for _ in 0..BATCH {
                if self.buffer.len() < LONGEST {
                    self.buffer = BytesMut::zeroed(CHUNK);
                }
                let read = device.read(&mut self.buffer[..LONGEST]).map_err(DriveError::Device)?;
                let Some(size) = read else { break };
                let bytes = self.buffer.split_to(size).freeze();
                let now = self.clock.now();
                let Ok(packet) = wire::parse(bytes, 0, now) else {
                    self.verdict.malformed += 1;
                    continue;
                };
                self.verdict.packets_in += 1;
                network.advance(now)?;
                network.inject(now, *port, packet)?;
            }
        }
        Ok(())
    }

    /// Lets the ends of flows act that have something on their sockets.
    fn wake(&mut self, network: &mut Network) -> Result<(), DriveError> {
        let Some(sockets) = &self.sockets else { return Ok(()) };
        sockets.take(&mut self.woken).map_err(DriveError::Sockets)?;
        if !self.woken.is_empty() {
            let now = self.clock.now();
            network.advance(now)?;
            for Woken { flow, end } in self.woken.drain(..) {
                network.wake(now, flow, end);
            }
            network.advance(now)?;
        }
        Ok(())
    }

    /// Waits for packets until a time: asleep at first, then awake.
    fn wait(&self, until: SimTime, readable: &mut [bool]) -> Result<(), DriveError> {
        let mut polled: Vec<_> =
            self.devices.iter().map(|(_, device)| PollFd::new(device, PollFlags::IN)).collect();
        polled.extend(self.sockets.iter().map(|sockets| PollFd::new(sockets, PollFlags::IN)));
        loop {
            let left = until.saturating_since(self.clock.now());
            let sleep = left.saturating_sub(self.settings.spin);
            let timeout = Timespec { tv_sec: 0, tv_nsec: sleep.as_nanos() as i64 };
            let count = match poll(&mut polled, Some(&timeout)) {
                Ok(count) => count,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(DriveError::Wait(error)),
            };
            if count > 0 || left.is_zero() {
                for (is, polled) in readable.iter_mut().zip(&polled) {
                    *is = polled.revents().contains(PollFlags::IN);
                }
                return Ok(());
            }
        }
    }
}

/// Asks for wake-ups as exact as the machine has them: by default the kernel gathers those within 50 µs.
fn sharpen_timers() {
    // Where this is not allowed, wake-ups are less exact, which the verdict shows.
    _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Takes precedence over other programs, those on its own hosts too: whenever something is due, this thread goes on at once.
/// Others would be left some milliseconds on a busy machine, however nice they are. It sleeps most of the time, and the kernel keeps
/// 5 % of the processor for the others by default (`sched_rt_runtime_us`).
fn take_precedence() {
    let parameters = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    #[expect(unsafe_code, reason = "no library sets it; the pointer is to a value that lives")]
    let result = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    if result != 0 {
        // Where this is not allowed either, the programs compete with the driver, which the verdict shows.
        _ = rustix::process::setpriority_process(None, -20);
    }
}

/// Processor time of this thread so far.
fn cpu_time() -> SimDuration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    SimDuration::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
