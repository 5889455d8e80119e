//! A page: objects that the receiving end asks for, each when its time has come or others have arrived, and that the
//! sending end answers with.
//!
//! Every object has a stream for its request and one for its bytes, both with its number, in one connection; over TCP,
//! [`Http2`](super::http2::Http2) makes one stream of them, and [`Http1`](super::http1::Http1) assigns them to connections. The message that the flow's ledger knows is the object, created when the page wants it: its delay includes the request.

use std::collections::BTreeSet;

use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_transport::Message;
use leobench_transport::endpoint::Report;
use rustc_hash::FxHashMap;

use super::{Action, Application, ApplicationError, End, ObjectTimes, PageTimes};
use crate::scenario::ObjectSpec;

/// A page being loaded.
pub(super) struct Page {
    start: SimTime,
    groups: Vec<Group>,
    objects: Vec<Object>,
    /// Steps to come, in order of time.
    agenda: BTreeSet<(SimTime, Step)>,
    /// Objects not asked for, not answered, and not delivered yet.
    unasked: usize,
    unanswered: usize,
    undelivered: usize,
    /// Sum over all bytes that have arrived of their time from the start, in nanoseconds.
    waited: u128,
}

/// Something that one of the ends does about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The receiving end asks for it.
    Ask(usize),
    /// The sending end answers with its bytes.
    Answer(usize),
}

/// Objects that are alike.
struct Group {
    size: Bytes,
    request: Bytes,
    delay: SimDuration,
    think: SimDuration,
    /// Numbers of its first object, and behind its last one.
    first: usize,
    end: usize,
    /// Objects of it that have not arrived.
    missing: usize,
    /// Groups that it waits for and that have not arrived whole.
    waits_for: usize,
    /// Groups that wait for it.
    awaited_by: Vec<usize>,
}

struct Object {
    group: usize,
    /// Bytes that have arrived.
    arrived: u64,
    times: ObjectTimes,
}

impl Page {
    /// A page to be loaded from `start` on, of objects that were checked to wait for each other only.
    pub(super) fn new(specs: &[ObjectSpec], start: SimTime) -> Self {
        let mut objects = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for (number, spec) in specs.iter().enumerate() {
            let first = objects.len();
            let object = || Object { group: number, arrived: 0, times: ObjectTimes::default() };
            objects.extend(std::iter::repeat_with(object).take(spec.count.get() as usize));
            groups.push(Group {
                size: spec.response(),
                request: spec.request,
                delay: spec.delay,
                think: spec.think,
                first,
                end: objects.len(),
                missing: spec.count.get() as usize,
                waits_for: spec.after.len(),
                awaited_by: Vec::new(),
            });
        }
        let numbers: FxHashMap<_, _> =
            specs.iter().enumerate().map(|(number, spec)| (spec.name.as_str(), number)).collect();
        for (number, spec) in specs.iter().enumerate() {
            for name in &spec.after {
                groups[numbers[name.as_str()]].awaited_by.push(number);
            }
        }
        let count = objects.len();
        let agenda = BTreeSet::new();
        let mut page = Self {
            start,
            groups,
            objects,
            agenda,
            unasked: count,
            unanswered: count,
            undelivered: count,
            waited: 0,
        };
        for (number, spec) in specs.iter().enumerate() {
            if spec.after.is_empty() {
                page.want(number, start + spec.at.unwrap_or(SimDuration::ZERO));
            }
        }
        page
    }

    /// The objects of a group are to be asked for at `time`.
    fn want(&mut self, group: usize, time: SimTime) {
        let Group { first, end, .. } = self.groups[group];
        self.agenda.extend((first..end).map(|object| (time, Step::Ask(object))));
    }

    fn ask(&mut self, now: SimTime, object: usize, actions: &mut Vec<Action>) {
        self.objects[object].times.requested = Some(now);
        let Group { size, request, .. } = self.groups[self.objects[object].group];
        let message = |size: Bytes| Message { size, created: now };
        actions.push(Action::Create { stream: object.into(), message: message(size) });
        let (end, message) = (End::Receiver, message(request));
        actions.push(Action::Write { end, stream: object.into(), message });
        self.unasked -= 1;
        if self.unasked == 0 {
            actions.push(Action::Finish { end });
        }
    }

    fn answer(&mut self, now: SimTime, object: usize, actions: &mut Vec<Action>) {
        let size = self.groups[self.objects[object].group].size;
        let (end, message) = (End::Sender, Message { size, created: now });
        actions.push(Action::Write { end, stream: object.into(), message });
        self.unanswered -= 1;
        if self.unanswered == 0 {
            actions.push(Action::Finish { end });
        }
    }

    /// Bytes of an object have arrived up to `offset`.
    fn on_bytes(&mut self, now: SimTime, object: usize, offset: u64) {
        let Object { arrived, times, .. } = &mut self.objects[object];
        let bytes = offset - std::mem::replace(arrived, offset);
        times.first_byte = times.first_byte.or(Some(now));
        self.waited += u128::from(bytes) * u128::from(now.saturating_since(self.start).as_nanos());
    }

    /// An object has arrived: others may be wanted now.
    fn on_delivered(&mut self, now: SimTime, object: usize) {
        self.objects[object].times.delivered = Some(now);
        self.undelivered -= 1;
        let group = self.objects[object].group;
        self.groups[group].missing -= 1;
        if self.groups[group].missing > 0 {
            return;
        }
        for index in 0..self.groups[group].awaited_by.len() {
            let waiting = self.groups[group].awaited_by[index];
            self.groups[waiting].waits_for -= 1;
            if self.groups[waiting].waits_for == 0 {
                self.want(waiting, now + self.groups[waiting].delay);
            }
        }
    }
}

impl Application for Page {
    fn next_wake(&self) -> Option<SimTime> {
        self.agenda.first().map(|(time, _)| *time)
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        while let Some((_, step)) = self.agenda.first().copied().filter(|(time, _)| *time <= now) {
            self.agenda.pop_first();
            match step {
                Step::Ask(object) => self.ask(now, object, actions),
                Step::Answer(object) => self.answer(now, object, actions),
            }
        }
        Ok(())
    }

    fn on_report(&mut self, now: SimTime, end: End, report: Report) -> bool {
        let Report::Delivered { stream, offset } = report else { return false };
        let stream = stream.index();
        let group = &self.groups[self.objects[stream].group];
        match end {
            End::Sender if offset == group.request.get() => {
                self.agenda.insert((now + group.think, Step::Answer(stream)));
                true
            }
            End::Sender => false,
            End::Receiver => {
                let is_whole = offset == group.size.get();
                self.on_bytes(now, stream, offset);
                if is_whole {
                    self.on_delivered(now, stream);
                }
                is_whole
            }
        }
    }

    fn is_finished(&self) -> bool {
        self.undelivered == 0
    }

    fn page(&self) -> Option<PageTimes> {
        let objects = self.objects.iter().map(|object| object.times).collect();
        let bytes = self.objects.iter().map(|object| object.arrived).sum();
        Some(PageTimes { objects, bytes, waited: self.waited })
    }
}
