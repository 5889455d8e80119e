//! The session as its viewer noticed it.

use leobench_base::{SimDuration, SimTime};

use super::{Latency, Playback, Player, Segment, Stall};
use crate::quality::quality;

impl Player {
    /// Bitrates of the ladder in bit/s.
    pub fn ladder(&self) -> &[f64] {
        &self.ladder
    }

    /// The segments asked for, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Times without pictures; the time before the first picture is none of them.
    pub fn stalls(&self) -> &[Stall] {
        &self.stalls
    }

    /// Time until the first picture, if there was one.
    pub fn startup(&self) -> Option<SimDuration> {
        self.startup
    }

    /// Content that was played.
    pub fn played(&self) -> SimDuration {
        self.position
    }

    /// How many segments of the film have arrived.
    pub fn arrived(&self) -> u64 {
        self.shown.len() as u64
    }

    /// Whether all of them have.
    pub fn is_complete(&self) -> bool {
        self.arrived() == self.film.segments()
    }

    /// Whether there is nothing that it will ask for, unless it abandons the last download.
    pub fn has_asked_for_all(&self) -> bool {
        self.following == self.film.segments()
    }

    /// How many segments took the place of others that had arrived, if it replaces any.
    pub fn replaced(&self) -> Option<u64> {
        let arrived = self.segments.iter().filter(|segment| segment.arrived.is_some());
        self.spec.replaces_beyond.map(|_| arrived.count() as u64 - self.arrived())
    }

    /// How many downloads it gave up, if it abandons any.
    pub fn abandoned(&self) -> Option<u64> {
        let abandoned = self.segments.iter().filter(|segment| segment.is_abandoned);
        self.spec.abandons.then(|| abandoned.count() as u64)
    }

    /// Whether all of it was played.
    pub fn has_ended(&self) -> bool {
        self.playback == Playback::Ended
    }

    /// The mean bitrate of the segments that arrived in bit/s, by their length; of one that was replaced, that of the last.
    pub fn mean_bitrate(&self) -> Option<f64> {
        let (mut sum, mut seconds) = (0.0, 0.0);
        for (number, rung) in (0..).zip(&self.shown) {
            let length = self.film.segment_length(number).as_secs_f64();
            sum += length * self.ladder[*rung];
            seconds += length;
        }
        (seconds > 0.0).then(|| sum / seconds)
    }

    /// How often two segments in a row had different bitrates.
    pub fn switches(&self) -> u64 {
        self.shown.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
    }

    /// Time without pictures after the first one, up to `end`: in all, and the longest.
    pub fn stalled(&self, end: SimTime) -> (SimDuration, SimDuration) {
        let length = |stall: &Stall| stall.end.unwrap_or(end).saturating_since(stall.begin);
        let lengths = || self.stalls.iter().map(length);
        (lengths().sum(), lengths().max().unwrap_or_default())
    }

    /// How far behind the event the viewer was while pictures moved, in seconds: the mean and the largest; none if it is not live.
    pub fn latency(&self) -> Option<(f64, f64)> {
        let Latency { sum, seconds, most } = self.latency;
        (self.spec.live.is_some() && seconds > 0.0).then(|| (sum / seconds, most))
    }

    /// The quality of the session in bit/s ([`quality`]), up to `end`.
    pub fn quality(&self, end: SimTime) -> Option<f64> {
        let bitrates: Vec<_> = self.shown.iter().map(|rung| self.ladder[*rung]).collect();
        let startup = self.startup.unwrap_or_else(|| end.saturating_since(self.start));
        let waited = (startup + self.stalled(end).0).as_secs_f64();
        quality(&bitrates, self.ladder[self.ladder.len() - 1], waited)
    }
}
