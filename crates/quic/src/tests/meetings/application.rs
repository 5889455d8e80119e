//! The application of one end: follows the plan and checks events against it.

use std::collections::{BTreeMap, BTreeSet};

use leobench_base::SimTime;

use super::plan::{Plan, Way};
use super::tally::Tally;
use super::{Happened, Lost, Party};
use crate::wire::Directionality;

/// An application.
pub(super) struct Application {
    pub(super) end: usize,
    opened: [usize; 2],
    sending: BTreeMap<u64, Sending>,
    receiving: BTreeMap<u64, Receiving>,
    pub(super) established: bool,
    pub(super) lost: Option<(SimTime, Lost)>,
    key_updates: Vec<SimTime>,
    /// Unreliable datagrams that were due so far, those that were taken, and those that arrived here.
    due: usize,
    pub(super) sent: BTreeSet<usize>,
    pub(super) arrived: BTreeSet<usize>,
}

struct Sending {
    way: Way,
    written: u64,
    reset_due: Option<SimTime>,
    finished: bool,
    done: bool,
}

struct Receiving {
    way: Way,
    read: u64,
    done: bool,
}

const DIRECTIONS: [Directionality; 2] =
    [Directionality::Bidirectional, Directionality::Unidirectional];

impl Application {
    pub(super) fn new(plan: &Plan, end: usize) -> Self {
        let mut key_updates = plan.ends[end].key_updates.clone();
        key_updates.sort_unstable();
        Self {
            end,
            opened: [0; 2],
            sending: BTreeMap::new(),
            receiving: BTreeMap::new(),
            established: false,
            lost: None,
            key_updates,
            due: 0,
            sent: BTreeSet::new(),
            arrived: BTreeSet::new(),
        }
    }

    /// When it does something by itself.
    pub(super) fn next(&self, plan: &Plan) -> Option<SimTime> {
        if self.lost.is_some() {
            return None;
        }
        let active = self.sending.values().filter(|sending| !sending.done);
        let resets = active.filter_map(|sending| sending.reset_due);
        let datagram = plan.ends[self.end].datagrams.get(self.due).map(|(at, _)| *at);
        resets.chain(self.key_updates.first().copied()).chain(datagram).min()
    }

    /// Whether all streams of both ends have come to their planned end here.
    pub(super) fn is_settled(&self, plan: &Plan) -> bool {
        let own = &plan.ends[self.end].opens;
        let peer = &plan.ends[1 - self.end].opens;
        let count = |unidirectional: usize| own[0].len() + peer[0].len() + unidirectional;
        self.sending.len() == count(own[1].len())
            && self.receiving.len() == count(peer[1].len())
            && self.sending.values().all(|sending| sending.done)
            && self.receiving.values().all(|receiving| receiving.done)
    }

    /// Lists the unfinished streams for a failure's message.
    pub(super) fn unsettled(&self) -> String {
        let sending = self.sending.iter().filter(|(_, sending)| !sending.done);
        let sending = sending.map(|(id, s)| format!("sends {id}: {} of {:?}", s.written, s.way));
        let receiving = self.receiving.iter().filter(|(_, receiving)| !receiving.done);
        let receiving = receiving.map(|(id, r)| format!("reads {id}: {} of {:?}", r.read, r.way));
        let lines: Vec<_> = sending.chain(receiving).collect();
        format!("end {}: opened {:?}, {}", self.end, self.opened, lines.join("; "))
    }

    /// Takes events of its end.
    pub(super) fn on_events(
        &mut self,
        now: SimTime,
        plan: &Plan,
        party: &mut dyn Party,
        events: Vec<Happened>,
        tally: &mut Tally,
    ) {
        // Stopping a stream cannot take back what was told with the event that led to it.
        let mut stopped = Vec::new();
        for event in events {
            match event {
                Happened::Data { id, .. }
                | Happened::Finished { id }
                | Happened::Reset { id, .. }
                    if stopped.contains(&id) => {}
                Happened::Established => self.established = true,
                Happened::EarlyRejected => {
                    self.opened = [0; 2];
                    self.sending.clear();
                    self.receiving.clear();
                }
                Happened::Data { id, data } => {
                    let from = 1 - self.end;
                    let receiving = self.receiving(plan, id);
                    assert!(!receiving.done, "data after the end of stream {id}: {plan:?}");
                    for byte in &data {
                        let expected = plan.byte(from, id, receiving.read);
                        assert_eq!(*byte, expected, "{id} at {}: {plan:?}", receiving.read);
                        receiving.read += 1;
                    }
                    tally.bytes += data.len() as u64;
                    if self.stop_if_due(now, plan, party, id) {
                        stopped.push(id);
                    }
                }
                Happened::Finished { id } => {
                    let receiving = self.receiving(plan, id);
                    let way = receiving.way;
                    assert!(!receiving.done, "stream {id} ends twice: {plan:?}");
                    assert_eq!(receiving.read, way.bytes, "stream {id} ends: {plan:?}");
                    // A sender that resets a stream which was sent in full would have done so before its end.
                    receiving.done = true;
                    tally.finished[self.end] += 1;
                }
                Happened::Reset { id, code } => {
                    let receiving = self.receiving(plan, id);
                    assert!(!receiving.done, "stream {id} is reset after its end: {plan:?}");
                    assert!(receiving.way.reset_at.is_some(), "{id} is reset: {plan:?}");
                    assert_eq!(code, plan.code(id, false), "{plan:?}");
                    receiving.done = true;
                    tally.reset[self.end] += 1;
                }
                Happened::Stopped { id, code } => {
                    let Some(sending) = self.sending.get_mut(&id) else {
                        panic!("{id} is stopped: {plan:?}")
                    };
                    assert_eq!(code, plan.code(id, true), "{plan:?}");
                    assert!(sending.way.stop_at.is_some(), "{id} is stopped: {plan:?}");
                    sending.done = true;
                    // RFC 9000 section 3.5: with the code of the STOP_SENDING frame.
                    party.reset(id, code);
                    tally.stopped[self.end] += 1;
                }
                Happened::Done { id } => {
                    if let Some(sending) = self.sending.get_mut(&id) {
                        sending.done = true;
                    }
                }
                Happened::Datagram { data } => {
                    let number = data.first_chunk().map(|number| u64::from_be_bytes(*number));
                    let number = number.map_or(usize::MAX, |number| number as usize);
                    assert_eq!(data, plan.datagram(1 - self.end, number), "{plan:?}");
                    assert!(self.arrived.insert(number), "twice: {number}, {plan:?}");
                    tally.datagrams[self.end] += 1;
                }
                Happened::Lost(lost) => {
                    assert!(self.lost.is_none(), "lost twice: {plan:?}");
                    tally.closed[self.end] += u64::from(matches!(lost, Lost::Application { .. }));
                    tally.timed_out[self.end] += u64::from(lost == Lost::TimedOut);
                    self.lost = Some((now, lost));
                }
            }
        }
    }

    /// The receiving part of a stream, and with it the sending part of a bidirectional one that the peer opened.
    fn receiving(&mut self, plan: &Plan, id: u64) -> &mut Receiving {
        let end = self.end;
        if plan.opener(id) != end && id & 2 == 0 && !self.sending.contains_key(&id) {
            self.sending.insert(id, Sending::new(plan.way(end, id)));
        }
        self.receiving.entry(id).or_insert_with(|| Receiving {
            way: plan.way(1 - end, id),
            read: 0,
            done: false,
        })
    }

    /// Stops a stream if enough of it was read; whether it did.
    fn stop_if_due(&mut self, now: SimTime, plan: &Plan, party: &mut dyn Party, id: u64) -> bool {
        let receiving = self.receiving(plan, id);
        let due = receiving.way.stop_at.is_some_and(|at| receiving.read >= at);
        let stops = due && !receiving.done && party.stop(now, id, plan.code(id, true));
        receiving.done |= stops;
        stops
    }

    /// Opens streams and writes to them.
    pub(super) fn act(&mut self, now: SimTime, plan: &Plan, party: &mut dyn Party) {
        if self.lost.is_some() || !self.established && !party.sends_early() {
            return;
        }
        for (side, direction) in DIRECTIONS.into_iter().enumerate() {
            while self.opened[side] < plan.ends[self.end].opens[side].len() {
                let Some(id) = party.open(direction) else { break };
                self.opened[side] += 1;
                self.sending.insert(id, Sending::new(plan.way(self.end, id)));
                if direction == Directionality::Bidirectional {
                    self.receiving(plan, id);
                }
            }
        }
        for (&id, sending) in self.sending.iter_mut().filter(|(_, sending)| !sending.done) {
            sending.act(now, plan, self.end, party, id);
        }
        if !self.established {
            return;
        }
        let datagrams = &plan.ends[self.end].datagrams;
        while datagrams.get(self.due).is_some_and(|(at, _)| *at <= now) {
            if party.send_datagram(plan.datagram(self.end, self.due)) {
                self.sent.insert(self.due);
            }
            self.due += 1;
        }
        while self.key_updates.first().is_some_and(|at| *at <= now) {
            self.key_updates.remove(0);
            party.update_keys(now);
        }
    }
}

impl Sending {
    fn new(way: Way) -> Self {
        Self { way, written: 0, reset_due: None, finished: false, done: false }
    }

    fn act(&mut self, now: SimTime, plan: &Plan, end: usize, party: &mut dyn Party, id: u64) {
        let Way { bytes, chunk, reset_at, .. } = self.way;
        let target = reset_at.map_or(bytes, |(at, _)| at);
        while self.written < target {
            let size = chunk.min(target - self.written);
            let data: Vec<u8> =
                (0..size).map(|byte| plan.byte(end, id, self.written + byte)).collect();
            let taken = party.write(id, &data) as u64;
            self.written += taken;
            if taken < size {
                return;
            }
        }
        match reset_at {
            Some((_, after)) if now >= *self.reset_due.get_or_insert(now + after) => {
                party.reset(id, plan.code(id, false));
                self.done = true;
            }
            None if !self.finished => {
                party.finish(id);
                self.finished = true;
            }
            _ => {}
        }
    }
}
