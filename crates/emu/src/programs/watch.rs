//! The thread that watches programs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use leobench_base::{SimDuration, SimTime};

use super::processes::Processes;
use super::quotas::Quotas;
use super::sockets::SocketWatch;
use super::waits::{Id, Waits};
use crate::budget::Budget;
use crate::clock::WallClock;
use crate::precedence::{Precedence, Rank};

/// Time between two looks.
const WINDOW: SimDuration = SimDuration::from_millis(100);
/// Time between two questions to all hosts: what a socket has lost since cannot be told from others if it closes.
const HOSTS_EVERY: SimDuration = SimDuration::from_millis(200);
/// It looks at programs for one part in so many of its time at most, and asks hosts for another.
const LOOKS: u64 = 125;
const QUESTIONS: u64 = 1_000;

/// A thread that watches programs, until it is asked what it has seen.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<Findings>,
}

/// The findings of a watch.
#[derive(Debug)]
pub(crate) struct Findings {
    /// When programs did not run although they could have.
    pub(crate) waits: Waits,
    /// The losses of sockets.
    pub(crate) sockets: SocketWatch,
}

impl Watch {
    /// Watches all processes but this one, and the sockets of hosts. Waits count only once there is `traffic`.
    ///
    /// # Errors
    /// If there can be no thread.
    pub(crate) fn start(
        clock: WallClock,
        budget: Budget,
        sockets: SocketWatch,
        traffic: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let mut work = Work {
            clock,
            budget,
            traffic,
            processes: Processes::new(),
            quotas: Quotas::new(),
            readings: 0,
            next_host: 0,
            found: Findings { waits: Waits::default(), sockets },
        };
        let thread = thread::Builder::new().name("watch".into()).spawn(move || {
            Precedence::take(Rank::Watch);
            work.run(&stopped);
            work.found
        })?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread, and returns what it has seen.
    ///
    /// # Errors
    /// If it panicked.
    pub(crate) fn finish(self) -> io::Result<Findings> {
        drop(self.stop);
        self.thread.join().map_err(|_| io::Error::other("the watch on programs panicked"))
    }
}

/// The work of the thread.
struct Work {
    clock: WallClock,
    budget: Budget,
    traffic: Arc<AtomicBool>,
    processes: Processes,
    quotas: Quotas,
    /// How many there were last.
    readings: usize,
    /// The host that is asked next.
    next_host: usize,
    found: Findings,
}

impl Work {
    fn run(&mut self, stopped: &Receiver<()>) {
        let (mut look_at, mut ask_at) = (self.clock.now(), self.clock.now());
        loop {
            let begin = self.clock.now();
            if begin >= look_at {
                self.look(begin);
                look_at = self.next(begin, WINDOW, LOOKS);
            }
            let begin = self.clock.now();
            if begin >= ask_at && self.found.sockets.hosts() > 0 {
                self.ask();
                let every = HOSTS_EVERY / self.found.sockets.hosts() as u64;
                ask_at = self.next(begin, every, QUESTIONS);
            }
            let sleep = look_at.min(ask_at).saturating_since(self.clock.now());
            let sleep = sleep.max(SimDuration::from_millis(1));
            let ended = stopped.recv_timeout(Duration::from_nanos(sleep.as_nanos()));
            if ended != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// When to do again what was begun at `begin` and is over now.
    fn next(&self, begin: SimTime, every: SimDuration, cost: u64) -> SimTime {
        let took = self.clock.now().saturating_since(begin);
        begin + every.max(took * cost)
    }

    /// Reads the figures of all programs.
    fn look(&mut self, now: SimTime) {
        let mut readings = Vec::with_capacity(self.readings + 16);
        let processes: Vec<_> = self.processes.all().collect();
        for process in &processes {
            Processes::read(*process, &mut readings);
        }
        self.quotas.read(processes, &mut readings);
        self.readings = readings.len();
        let quotas = &self.quotas;
        let name = |id| match id {
            Id::Thread { process, .. } => Processes::name(process),
            Id::Group(number) => quotas.name(number),
        };
        let counts = self.traffic.load(Ordering::Relaxed);
        self.found.waits.look(now, readings, &self.budget, counts, name);
    }

    /// Asks one host for what its sockets lost.
    fn ask(&mut self) {
        // A host that cannot be asked now is asked at the end, when a failure is an error.
        _ = self.found.sockets.look(self.next_host, &self.processes);
        self.next_host = (self.next_host + 1) % self.found.sockets.hosts();
    }
}
