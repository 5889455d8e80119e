//! An endpoint that logs and checks what comes out of another one.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use leobench_base::segment::Segment;
use leobench_base::{Body, Header, Meta, SimRng, SimTime, StreamIndex};
use leobench_link::LossProcess;
use leobench_transport::endpoint::{Event, PathSample, Report, Totals};
use leobench_transport::{Endpoint, EndpointError, Input, Outbox, SendBuffer};

use super::CLIENT;

/// A segment that leaves an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighted {
    pub at: SimTime,
    pub end: usize,
    pub source: SocketAddr,
    pub destination: SocketAddr,
    pub segment: Segment,
}

/// Packets and reports of both ends, and the rules for losing packets.
pub struct Log {
    pub sender: usize,
    /// Bytes written so far.
    pub written: u64,
    pub sent: u64,
    pub delivered: u64,
    pub room: u64,
    pub events: Vec<(SimTime, usize, Event)>,
    pub passed: Vec<Sighted>,
    /// The client's own addresses that were announced.
    pub announced: BTreeSet<SocketAddr>,
    /// Segments that do not enter the network.
    pub drops: fn(&Sighted) -> bool,
    /// One packet in so many is lost on the way.
    pub loss: Option<u64>,
}

impl Log {
    /// Checks and logs a report.
    fn report(&mut self, end: usize, report: Report) {
        let (known, offset, by_sender) = match report {
            Report::Sent { offset, stream: StreamIndex::FIRST } => (&mut self.sent, offset, true),
            Report::Room { offset, stream: StreamIndex::FIRST } => (&mut self.room, offset, true),
            Report::Delivered { offset, stream: StreamIndex::FIRST } => {
                (&mut self.delivered, offset, false)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(by_sender, end == self.sender, "{report:?} of the wrong end");
        assert!(offset > *known, "{report:?} after {known}");
        *known = offset;
        assert!(self.delivered <= self.sent, "{report:?} before it was sent");
        assert!(self.sent <= self.written, "{report:?} before it was written");
    }

    /// Logs a packet; whether it enters the network.
    fn pass(&mut self, at: SimTime, end: usize, meta: &Meta, body: &Body) -> bool {
        let Body::Tcp(segment) = *body else { panic!("no TCP segment") };
        let (source, destination) = (meta.source, meta.destination);
        assert!(end != CLIENT || self.announced.contains(&source), "{source} is unknown");
        let sighted = Sighted { at, end, source, destination, segment };
        let drops = (self.drops)(&sighted);
        self.passed.push(sighted);
        !drops
    }
}

/// An endpoint that the test can ask for its state.
pub type Shared = Arc<Mutex<Box<dyn Endpoint>>>;

pub struct Tap {
    pub end: usize,
    pub endpoint: Shared,
    pub log: Arc<Mutex<Log>>,
}

impl Endpoint for Tap {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        if let Input::Message { message, .. } = &input {
            self.log.lock().unwrap().written += message.size.get();
        }
        self.endpoint.lock().unwrap().input(now, input)
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        let wake = self.endpoint.lock().unwrap().poll(now, outbox)?;
        assert!(wake.is_none_or(|wake| wake > now), "a wake-up in the past");
        let mut log = self.log.lock().unwrap();
        for report in &outbox.reports {
            log.report(self.end, *report);
        }
        log.events.extend(outbox.events.iter().map(|event| (now, self.end, event.clone())));
        log.announced.extend(&outbox.addresses);
        outbox.packets.retain(|packet| log.pass(now, self.end, &packet.meta, &packet.body));
        Ok(wake)
    }

    fn sample_paths(&self, now: SimTime, samples: &mut Vec<PathSample>) {
        self.endpoint.lock().unwrap().sample_paths(now, samples);
    }

    /// The network needs it for its tables only.
    fn send_buffer(&self) -> Option<&SendBuffer> {
        None
    }

    fn totals(&self) -> Totals {
        self.endpoint.lock().unwrap().totals()
    }
}

/// The losses of one direction of a link.
pub struct Losses {
    pub log: Arc<Mutex<Log>>,
    pub rng: SimRng,
}

impl LossProcess for Losses {
    fn lost(&mut self, _now: SimTime, _packet: &Header) -> bool {
        let loss = self.log.lock().unwrap().loss;
        loss.is_some_and(|one_in| self.rng.below(one_in) == 0)
    }
}
