//! How the ends of a flow answer a handover: the instants between which the time until it has recovered is divided.

use leobench_base::End;
use leobench_base::SimTime;
use leobench_transport::endpoint::{MoveStep, Report};

/// Reaction of the two ends of a flow to a handover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// When packets had a way again.
    way: Option<SimTime>,
    /// When an end first noticed.
    noticed: Option<SimTime>,
    /// Whether the end that sends data uses another address since then.
    moved: bool,
    /// Whether the end that sends data had to wait until it might, and since when it might.
    held: bool,
    ready: Option<SimTime>,
    /// Whether something that had been sent was missing, and since when nothing is.
    missing: bool,
    repaired: Option<SimTime>,
}

/// The end of each phase of a recovery; a phase that never ended has none, nor have those behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Milestones {
    /// Packets have a way.
    pub(crate) way: Option<SimTime>,
    /// An end has noticed.
    pub(crate) noticed: Option<SimTime>,
    /// The end that sends data may send it.
    pub(crate) ready: Option<SimTime>,
    /// All lost data has been delivered.
    pub(crate) repaired: Option<SimTime>,
}

impl Answer {
    /// Packets have a way from now on.
    pub(super) fn on_way(&mut self, now: SimTime) {
        self.way.get_or_insert(now);
    }

    /// An end noticed.
    pub(super) fn on_notice(&mut self, now: SimTime) {
        self.noticed.get_or_insert(now);
    }

    /// An end took a step. Validation of its peer's address holds up what that end sends; opening another connection holds up
    /// both ends.
    pub(super) fn on_step(&mut self, now: SimTime, end: End, step: MoveStep) {
        if step != MoveStep::Ready {
            self.on_notice(now);
        }
        let moves = matches!(step, MoveStep::Noticed | MoveStep::Validating);
        self.moved |= moves && end == End::Sender;
        if step == MoveStep::Reconnecting {
            // Losses told TCP before, which kept its connection.
            self.noticed = Some(now);
        }
        match (step, end) {
            (MoveStep::Reconnecting, _) | (MoveStep::Validating, End::Sender) => {
                (self.held, self.ready) = (true, None);
            }
            (MoveStep::Noticed | MoveStep::Ready, End::Sender) if self.held => {
                self.ready.get_or_insert(now);
            }
            _ => {}
        }
    }

    /// Whether a drop takes data of the flow: a sender that has moved only probes the address that it left.
    pub(super) fn takes_data(&self) -> bool {
        !self.moved
    }

    /// Something that was sent is missing.
    pub(super) fn on_missing(&mut self) {
        (self.missing, self.repaired) = (true, None);
    }

    /// Nothing is missing any more.
    pub(super) fn on_repaired(&mut self, now: SimTime) {
        self.repaired.get_or_insert(now);
    }

    /// The ends of the phases of a handover: each phase is over when its condition holds, and not before the one before it.
    pub(crate) fn milestones(&self) -> Milestones {
        let Self { way, held, missing, .. } = *self;
        // Nobody has to notice that nothing was lost.
        let noticed = self.noticed.or(way.filter(|_| !missing));
        let after = |before: Option<SimTime>, end: Option<SimTime>| {
            before.zip(end).map(|(before, end)| end.max(before))
        };
        let noticed = after(way, noticed);
        let ready = if held { after(noticed, self.ready) } else { noticed };
        let repaired = if missing { after(ready, self.repaired) } else { ready };
        Milestones { way, noticed, ready, repaired }
    }
}

/// How far a stream is, in bytes from its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamProgress {
    sent: u64,
    delivered: u64,
    /// End of the data that must be delivered before nothing is missing.
    required: Option<u64>,
    /// Its messages travel apart, in no order: none of them is required.
    is_apart: bool,
}

impl StreamProgress {
    /// Takes in a report; whether it completes what has to be delivered.
    #[inline]
    pub(super) fn update(streams: &mut Vec<Self>, report: Report) -> bool {
        let (stream, sent, delivered) = match report {
            Report::Sent { stream, offset } => (stream, offset, 0),
            Report::Delivered { stream, offset } => (stream, 0, offset),
            Report::Opened { stream, .. } => (stream, 0, 0),
            Report::Room { .. }
            | Report::Datagram { .. }
            | Report::Lost { .. }
            | Report::Part { .. }
            | Report::Cancelled { .. } => return false,
        };
        let stream = stream.index();
        if streams.len() <= stream {
            streams.resize_with(stream + 1, Self::default);
        }
        let known = &mut streams[stream];
        known.is_apart |= matches!(report, Report::Opened { .. });
        known.sent = known.sent.max(sent);
        known.delivered = known.delivered.max(delivered);
        if known.required.is_none_or(|required| known.delivered < required) {
            return false;
        }
        known.required = None;
        streams.iter().all(|stream| stream.required.is_none())
    }

    /// Everything sent so far has to be delivered; whether anything is missing.
    pub(super) fn require(streams: &mut [Self]) -> bool {
        let is_missing = |stream: &&mut Self| !stream.is_apart && stream.sent > stream.delivered;
        for stream in streams.iter_mut().filter(is_missing) {
            stream.required = Some(stream.sent);
        }
        streams.iter().any(|stream| stream.required.is_some())
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::SimDuration;

    use super::*;

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(millis)
    }

    /// The ends of the phases in ms.
    fn ends(answer: &Answer) -> [Option<u64>; 4] {
        let Milestones { way, noticed, ready, repaired } = answer.milestones();
        [way, noticed, ready, repaired].map(|end| end.map(|end| end.as_nanos() / 1_000_000))
    }

    #[test]
    fn nobody_has_to_notice_that_nothing_was_lost() {
        let mut answer = Answer::default();
        assert_eq!(ends(&answer), [None; 4], "there is no way");
        answer.on_way(at(10));
        assert_eq!(ends(&answer), [Some(10); 4]);
    }

    #[test]
    fn a_phase_begins_where_the_one_before_it_ends() {
        let mut answer = Answer::default();
        answer.on_missing();
        answer.on_notice(at(5));
        answer.on_way(at(10));
        answer.on_repaired(at(40));
        assert_eq!(ends(&answer), [Some(10), Some(10), Some(10), Some(40)]);
        answer.on_missing();
        assert_eq!(ends(&answer), [Some(10), Some(10), Some(10), None], "more was lost");
        answer.on_repaired(at(50));
        answer.on_repaired(at(60));
        assert_eq!(ends(&answer)[3], Some(50));
    }

    #[test]
    fn validation_holds_up_the_end_that_sends_data_only() {
        let mut answer = Answer::default();
        answer.on_way(at(10));
        answer.on_step(at(20), End::Receiver, MoveStep::Validating);
        assert_eq!(ends(&answer), [Some(10), Some(20), Some(20), Some(20)]);
        answer.on_step(at(30), End::Sender, MoveStep::Validating);
        answer.on_step(at(35), End::Receiver, MoveStep::Ready);
        assert_eq!(ends(&answer), [Some(10), Some(20), None, None]);
        answer.on_step(at(60), End::Sender, MoveStep::Ready);
        assert_eq!(ends(&answer), [Some(10), Some(20), Some(60), Some(60)]);
    }

    #[test]
    fn a_sender_that_has_moved_only_probes_where_it_was() {
        let mut answer = Answer::default();
        answer.on_step(at(20), End::Receiver, MoveStep::Noticed);
        answer.on_step(at(20), End::Sender, MoveStep::Reconnecting);
        assert!(answer.takes_data());
        answer.on_step(at(30), End::Sender, MoveStep::Validating);
        assert!(!answer.takes_data());
    }

    #[test]
    fn another_connection_holds_up_both_ends_until_data_may_be_sent() {
        let mut answer = Answer::default();
        answer.on_way(at(10));
        answer.on_notice(at(60));
        answer.on_step(at(100), End::Receiver, MoveStep::Reconnecting);
        answer.on_step(at(160), End::Receiver, MoveStep::Ready);
        assert_eq!(ends(&answer)[2], None);
        answer.on_step(at(190), End::Sender, MoveStep::Ready);
        assert_eq!(ends(&answer), [Some(10), Some(100), Some(190), Some(190)]);
    }

    #[test]
    fn what_was_sent_on_any_stream_has_to_be_delivered() {
        let mut streams = Vec::new();
        assert!(!StreamProgress::require(&mut streams));
        let sent = |stream: usize, offset| Report::Sent { stream: stream.into(), offset };
        let delivered = |stream: usize, offset| Report::Delivered { stream: stream.into(), offset };
        for report in [sent(0, 100), sent(1, 50), delivered(1, 50), sent(2, 70)] {
            assert!(!StreamProgress::update(&mut streams, report));
        }
        assert!(StreamProgress::require(&mut streams));
        for report in [sent(0, 900), delivered(0, 99), delivered(2, 70), delivered(1, 60)] {
            assert!(!StreamProgress::update(&mut streams, report));
        }
        assert!(StreamProgress::update(&mut streams, delivered(0, 100)));
        assert!(!StreamProgress::update(&mut streams, delivered(0, 200)), "once");
    }
}
