//! Counts, delays and goodput of messages.

use leobench_base::{LogHistogram, SimDuration, SimTime};

use super::age::Age;

/// Statistics of the messages of a flow or a stream.
///
/// Delays and counts are of the messages created after the warm-up. Goodput is of the bytes delivered after it, whether
/// or not their message is complete, so that a bulk transfer cut short by the end of the run has one as well.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Statistics {
    warm_up: SimTime,
    last_arrival: Option<SimTime>,
    arrived: u64,
    pub(super) deadline: Option<SimDuration>,
    late: u64,
    messages: u64,
    delay: LogHistogram,
    last_delay: Option<SimDuration>,
    delay_changes: u128,
    first_created: Option<SimTime>,
    last_loss: Option<SimTime>,
    /// Messages delivered, lost and created, those of the warm-up included.
    delivered_ever: u64,
    lost_ever: u64,
    created_ever: u64,
    /// How old the freshest message is, where it is measured.
    pub(super) age: Option<Box<Age>>,
    /// The messages that the sender cancelled, where it cancels any.
    pub(super) cancellations: Option<Box<Cancellations>>,
}

/// Messages that their sender cancelled, as their deadline had passed. Those that arrived nevertheless do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cancellations {
    /// How many.
    pub messages: u64,
    /// Their bytes that were sent, in vain.
    pub sent: u64,
    /// Their bytes that were not sent.
    pub unsent: u64,
    /// Messages that were delivered in time, beside them.
    pub in_time: u64,
}

impl Statistics {
    pub(super) fn new(warm_up: SimTime) -> Self {
        Self {
            warm_up,
            deadline: None,
            late: 0,
            messages: 0,
            delay: LogHistogram::new(),
            last_delay: None,
            delay_changes: 0,
            first_created: None,
            last_arrival: None,
            arrived: 0,
            last_loss: None,
            delivered_ever: 0,
            lost_ever: 0,
            created_ever: 0,
            age: None,
            cancellations: None,
        }
    }

    pub(super) fn created(&mut self, created: SimTime) {
        self.created_ever += 1;
        self.first_created = Some(self.first_created.map_or(created, |first| first.min(created)));
        self.messages += u64::from(created >= self.warm_up);
    }

    #[inline]
    pub(super) fn arrived(&mut self, now: SimTime, bytes: u64) {
        if bytes > 0 {
            self.last_arrival = Some(now);
            self.arrived += if now >= self.warm_up { bytes } else { 0 };
        }
    }

    pub(super) fn lost(&mut self, now: SimTime, created: SimTime) {
        self.lost_ever += 1;
        self.last_loss = Some(now);
        self.late += u64::from(created >= self.warm_up);
    }

    /// A message that counts as lost is delivered after all.
    pub(super) fn found(&mut self, created: SimTime) {
        self.lost_ever -= 1;
        self.late -= u64::from(created >= self.warm_up);
    }

    /// A message was cancelled, of which some bytes were sent.
    pub(super) fn cancelled(&mut self, created: SimTime, sent: u64, unsent: u64) {
        if let Some(counts) = self.cancellations.as_mut().filter(|_| created >= self.warm_up) {
            counts.messages += 1;
            counts.sent += sent;
            counts.unsent += unsent;
        }
    }

    /// A cancelled message, which was sent in full, is delivered after all.
    pub(super) fn not_cancelled(&mut self, created: SimTime, size: u64) {
        if let Some(counts) = self.cancellations.as_mut().filter(|_| created >= self.warm_up) {
            counts.messages -= 1;
            counts.sent -= size;
        }
    }

    /// A message was neither delivered nor lost when the run ended.
    pub(super) fn left_open(&mut self, end: SimTime, created: SimTime) {
        let missed = self.deadline.is_some_and(|deadline| created + deadline <= end);
        self.late += u64::from(missed && created >= self.warm_up);
    }

    pub(super) fn delivered(&mut self, now: SimTime, created: SimTime) {
        self.delivered_ever += 1;
        if created < self.warm_up {
            return;
        }
        let delay = now - created;
        let is_late = self.deadline.is_some_and(|deadline| delay > deadline);
        self.late += u64::from(is_late);
        if let Some(counts) = &mut self.cancellations {
            counts.in_time += u64::from(!is_late);
        }
        self.delay.record(delay.as_nanos());
        if let Some(last) = self.last_delay.replace(delay) {
            self.delay_changes += u128::from(delay.as_nanos().abs_diff(last.as_nanos()));
        }
        if let Some(age) = &mut self.age {
            age.delivered(now, created);
        }
    }

    /// When the application first had data, the warm-up included.
    pub(crate) fn first_created(&self) -> Option<SimTime> {
        self.first_created
    }

    /// Messages created.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Messages that have not been delivered.
    pub fn undelivered(&self) -> u64 {
        self.messages - self.delay.count()
    }

    /// Messages that missed their deadline: delivered later, lost, or not delivered at the end of the run though it
    /// had passed; `None` without a deadline.
    pub fn late(&self) -> Option<u64> {
        self.deadline.map(|_| self.late)
    }

    /// Delays of the delivered messages, from creation to complete delivery, in nanoseconds.
    pub fn delay(&self) -> &LogHistogram {
        &self.delay
    }

    /// Mean absolute difference between the delays of one delivered message and the next, in nanoseconds; `None`
    /// with fewer than two.
    pub fn jitter_ns(&self) -> Option<f64> {
        let changes = self.delay.count().checked_sub(1).filter(|changes| *changes > 0)?;
        Some(self.delay_changes as f64 / changes as f64)
    }

    /// How old the freshest message was at the receiving end, where that is measured.
    pub fn age(&self) -> Option<&Age> {
        self.age.as_deref()
    }

    /// The messages that the sender cancelled, where it cancels any.
    pub fn cancellations(&self) -> Option<&Cancellations> {
        self.cancellations.as_deref()
    }

    /// Bytes delivered after the warm-up.
    pub fn delivered_bytes(&self) -> u64 {
        self.arrived
    }

    /// Bits per second delivered, from the first creation (or the end of the warm-up, if later) until the last message
    /// was delivered or lost, or until the run's `end` if one was still waiting or travelling then; `None` if there was
    /// nothing to deliver.
    pub fn goodput_bps(&self, end: SimTime) -> Option<f64> {
        let start = self.first_created?.max(self.warm_up);
        if self.arrived == 0 {
            return Some(0.0);
        }
        let until = self.settled().unwrap_or(end);
        let span = until.saturating_since(start);
        (!span.is_zero()).then(|| self.arrived as f64 * 8.0 / span.as_secs_f64())
    }

    /// When the last message created so far was delivered or lost, if all were, the warm-up's included.
    pub fn settled(&self) -> Option<SimTime> {
        let settled = self.delivered_ever + self.lost_ever == self.created_ever;
        self.last_arrival.max(self.last_loss).filter(|_| settled)
    }

    /// The last delivery, if every message created so far has been delivered, the warm-up's included.
    pub fn completion(&self) -> Option<SimTime> {
        self.last_arrival.filter(|_| self.delivered_ever == self.created_ever)
    }
}
