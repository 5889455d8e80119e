//! Messages of the receiving end, and when feedback about arrivals is due.

use leobench_base::{Bytes, SimDuration, SimTime};

use crate::rate_control::FeedbackKind;

/// RTCP header and two identifiers of sources (RFC 4585, section 6.1).
const HEADER: u64 = 12;
/// Time between two reports of transport-wide feedback. libwebrtc gives them 5 % of the rate at which the receiving end itself might
/// send (`TransportSequenceNumberFeedbackGenenerator`): at 218 kbit/s and more, and so at the 300 kbit/s of one that has sent nothing
/// yet, this is its shortest interval.
const INTERVAL: SimDuration = SimDuration::from_millis(50);
/// Packets reported missing at most, in one feedback.
const MOST_REPORTED: u64 = 10_000;

/// A message of the receiving end.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Feedback about arrivals.
    Feedback {
        /// Packets in order of their numbers: those that have arrived since the feedback before, and those missing between them.
        reports: Vec<(u64, Option<Arrival>)>,
        /// When it was made.
        made: SimTime,
        /// Its format.
        kind: FeedbackKind,
    },
    /// Sequence numbers of packets of frames that are missing (RFC 4585, section 6.2.1).
    Missing(Vec<u64>),
    /// A request for a key frame (RFC 4585, section 6.3.1).
    KeyFrame,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Its time.
    pub time: SimTime,
    /// Whether it bore the mark "congestion experienced" of ECN.
    pub is_marked: bool,
}

impl Message {
    /// Its size.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(match self {
            // Eight bytes of base, count and reference time, a status of two bits, and a delta of a byte for what arrived
            // (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1).
            Self::Feedback { reports, kind: FeedbackKind::TransportWide, .. } => {
                let arrived = reports.iter().filter(|(_, arrival)| arrival.is_some()).count();
                HEADER + 8 + 2 * reports.len().div_ceil(7) as u64 + arrived as u64
            }
            // Four bytes of range, two for every packet, four of timestamp (RFC 8888, section 3.1).
            Self::Feedback { reports, kind: FeedbackKind::CongestionControl, .. } => {
                HEADER + 8 + 2 * (reports.len().next_multiple_of(2)) as u64
            }
            // Each entry names a packet and, by a bit mask, the sixteen behind it; here, one packet an entry.
            Self::Missing(sequences) => HEADER + 4 * sequences.len() as u64,
            Self::KeyFrame => HEADER,
        })
    }
}

impl Message {
    /// The same in messages of at most `most`, which is 100 B or more.
    pub fn split(self, most: Bytes) -> Vec<Self> {
        if self.bytes() <= most {
            return vec![self];
        }
        // Two bytes a report are enough for both kinds of feedback, and four for a packet that is missing.
        let room = most.get().saturating_sub(HEADER + 16).max(4) as usize;
        match self {
            Self::Feedback { reports, made, kind } => reports
                .chunks(room / 2)
                .map(|reports| Self::Feedback { reports: reports.to_vec(), made, kind })
                .collect(),
            Self::Missing(sequences) => {
                sequences.chunks(room / 4).map(|some| Self::Missing(some.to_vec())).collect()
            }
            Self::KeyFrame => vec![self],
        }
    }
}

/// Arrivals that are to be reported.
#[derive(Debug)]
pub(super) struct Reporter {
    kind: FeedbackKind,
    arrivals: Vec<(u64, Arrival)>,
    /// The number behind the highest that was reported.
    next: u64,
    due: Option<SimTime>,
    last: Option<SimTime>,
    /// Bits since the last feedback, and the rate they came with in bit/s.
    bits: u64,
    rate: f64,
}

impl Reporter {
    pub fn new(kind: FeedbackKind) -> Self {
        Self { kind, arrivals: Vec::new(), next: 0, due: None, last: None, bits: 0, rate: 0.0 }
    }

    /// Adds an arrival. The first makes feedback due an interval later, or later than the feedback before.
    pub fn on_arrival(&mut self, number: u64, arrival: Arrival, bytes: Bytes) {
        self.arrivals.push((number, arrival));
        self.bits += bytes.bits();
        if self.due.is_none() {
            let since = self.last.unwrap_or(arrival.time);
            self.due = Some((since + self.interval()).max(arrival.time));
        }
    }

    /// The interval of feedback at the rate that arrives.
    fn interval(&self) -> SimDuration {
        match self.kind {
            FeedbackKind::TransportWide => INTERVAL,
            // RFC 8298, section 4.2.1.
            FeedbackKind::CongestionControl => {
                SimDuration::from_secs_f64(1.0 / (self.rate / 10_000.0).clamp(2.5, 50.0))
            }
        }
    }

    /// When feedback is due.
    pub fn due(&self) -> Option<SimTime> {
        self.due
    }

    /// The feedback that is due.
    pub fn take(&mut self, now: SimTime) -> Option<Message> {
        self.due.take_if(|due| *due <= now)?;
        if let Some(last) = self.last {
            self.rate = self.bits as f64 / now.saturating_since(last).as_secs_f64().max(1e-3);
        }
        (self.bits, self.last) = (0, Some(now));
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.sort_by_key(|(number, _)| *number);
        let mut reports = Vec::with_capacity(arrivals.len());
        for (number, arrival) in arrivals {
            let missing = self.next.max(number.saturating_sub(MOST_REPORTED))..number;
            reports.extend(missing.map(|missing| (missing, None)));
            reports.push((number, Some(arrival)));
            self.next = self.next.max(number + 1);
        }
        Some(Message::Feedback { reports, made: now, kind: self.kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::from_nanos(ms * 1_000_000)
    }

    /// The feedback after packets 0 and 3 reports those between as missing, once; one that comes later is reported then.
    #[test]
    fn feedback_reports_what_is_missing() {
        let mut reporter = Reporter::new(FeedbackKind::CongestionControl);
        let arrival = |ms| Arrival { time: at(ms), is_marked: false };
        reporter.on_arrival(0, arrival(10), Bytes::new(1_000));
        reporter.on_arrival(3, arrival(20), Bytes::new(1_000));
        // Without a rate, 2.5 messages a second.
        assert_eq!(reporter.due(), Some(at(410)));
        assert_eq!(reporter.take(at(409)), None);
        let Some(Message::Feedback { reports, .. }) = reporter.take(at(410)) else { panic!() };
        assert_eq!(reports, [(0, Some(arrival(10))), (1, None), (2, None), (3, Some(arrival(20)))]);
        assert_eq!(reporter.due(), None);
        reporter.on_arrival(2, arrival(420), Bytes::new(1_000));
        let due = reporter.due().unwrap();
        let Some(Message::Feedback { reports, .. }) = reporter.take(due) else { panic!() };
        assert_eq!(reports, [(2, Some(arrival(420)))]);
    }

    /// 60 packets of 1,250 B in 100 ms are 6 Mbit/s: feedback of RFC 8888 is due every 20 ms, and the transport-wide one, at any rate,
    /// every 50 ms.
    #[test]
    fn feedback_is_more_frequent_at_a_high_rate() {
        for (kind, ms) in [(FeedbackKind::CongestionControl, 20), (FeedbackKind::TransportWide, 50)]
        {
            let mut reporter = Reporter::new(kind);
            let arrival = |ms| Arrival { time: at(ms), is_marked: false };
            reporter.on_arrival(0, arrival(0), Bytes::new(1_250));
            let first = reporter.due().unwrap();
            reporter.take(first);
            let later = first.as_nanos() / 1_000_000 + 100;
            for number in 1..=60 {
                reporter.on_arrival(number, arrival(later), Bytes::new(1_250));
            }
            reporter.take(at(later).max(reporter.due().unwrap()));
            let taken = reporter.last.unwrap();
            reporter.on_arrival(61, Arrival { time: taken, is_marked: false }, Bytes::new(1_250));
            assert_eq!(reporter.due(), Some(taken + SimDuration::from_millis(ms)), "{kind:?}");
        }
    }

    #[test]
    fn messages_are_cut_to_the_datagrams() {
        let arrived = Some(Arrival { time: at(0), is_marked: false });
        let most = Bytes::new(100);
        for kind in [FeedbackKind::TransportWide, FeedbackKind::CongestionControl] {
            let reports: Vec<_> = (0..500).map(|number| (number, arrived)).collect();
            let whole = Message::Feedback { reports: reports.clone(), made: at(0), kind };
            let parts = whole.split(most);
            assert!(parts.iter().all(|part| part.bytes() <= most));
            let reported = parts.iter().flat_map(|part| match part {
                Message::Feedback { reports, .. } => reports.clone(),
                _ => Vec::new(),
            });
            assert_eq!(reported.collect::<Vec<_>>(), reports);
        }
        let parts = Message::Missing((0..100).collect()).split(most);
        assert!(parts.len() > 1 && parts.iter().all(|part| part.bytes() <= most));
    }
}
