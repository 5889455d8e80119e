//! The player: its buffer, its playback, and when it asks for the next segment.

use leobench_base::{Bytes, RngTree, SimDuration, SimTime};
use leobench_transport::Plugins;

use crate::adaptation::{Adaptation, AdaptationContext, Download, PlayerView};
use crate::film::Film;
use crate::quality::quality;
use crate::spec::{LiveSpec, VideoSpec};

/// The next step of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It asks for a segment of so many bytes.
    Ask(Bytes),
    /// It looks again at this time.
    Wait(SimTime),
    /// All segments have arrived.
    Done,
}

/// A segment that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The number of its bitrate in the ladder.
    pub rung: usize,
    /// Its size.
    pub bytes: Bytes,
    /// When it was asked for.
    pub requested: SimTime,
    /// When all of it had arrived, if it has.
    pub arrived: Option<SimTime>,
    /// Content of the buffer then, the segment included.
    pub buffer: SimDuration,
    /// Time without pictures between the arrival of the segment before and its own, after the first picture.
    pub stalled: SimDuration,
}

/// A time without pictures, after the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When the buffer had run empty.
    pub begin: SimTime,
    /// When playback went on, if it did.
    pub end: Option<SimTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Playback {
    Starting,
    Playing,
    Stalled,
    Ended,
}

/// A player of one video. It has one request under way at most.
#[derive(Debug)]
pub struct Player {
    ladder: Vec<f64>,
    spec: VideoSpec,
    film: Film,
    /// By segment, its size over that of a constant bitrate.
    factors: Vec<f64>,
    adaptation: Box<dyn Adaptation>,
    /// The last download, until the adaptation learns of it.
    download: Option<Download>,
    start: SimTime,
    /// The time that buffer and position are of.
    now: SimTime,
    playback: Playback,
    buffer: SimDuration,
    /// Content that has been played.
    position: SimDuration,
    speed: f64,
    segments: Vec<Segment>,
    stalls: Vec<Stall>,
    startup: Option<SimDuration>,
    latency: Latency,
}

/// How far behind the event the viewer was, while pictures moved.
#[derive(Clone, Copy, Debug, Default)]
struct Latency {
    /// Its integral over time, and that time, in seconds.
    sum: f64,
    seconds: f64,
    most: f64,
}

impl Player {
    /// A player of a film whose viewer begins at `start`. Sizes vary by `rng`, as does an adaptation that is random.
    ///
    /// # Errors
    /// A description of the failure of an adaptation that is a plug-in.
    pub fn new(
        spec: &VideoSpec,
        film: Film,
        start: SimTime,
        rng: &RngTree,
        plugins: &Plugins,
    ) -> Result<Self, String> {
        let context = AdaptationContext { film: &film, rng: &rng.child("adaptation"), plugins };
        Ok(Self {
            ladder: film.bitrates(),
            factors: spec.factors(film.segments(), rng),
            adaptation: spec.adaptation.model().build(&context)?,
            download: None,
            spec: spec.clone(),
            film,
            start,
            now: start,
            playback: Playback::Starting,
            buffer: SimDuration::ZERO,
            position: SimDuration::ZERO,
            speed: 1.0,
            segments: Vec::new(),
            stalls: Vec::new(),
            startup: None,
            latency: Latency::default(),
        })
    }

    /// Returns what to do at `now`, with no request under way.
    ///
    /// # Errors
    /// A description of the failure of an adaptation that is a plug-in; then there is no further call.
    pub fn next(&mut self, now: SimTime) -> Result<Next, String> {
        self.play_until(now);
        if let Some(download) = self.download.take() {
            self.adaptation.on_download(&download)?;
        }
        let number = self.segments.len() as u64;
        if number == self.film.segments() {
            return Ok(Next::Done);
        }
        let available = self.available(number);
        if now < available {
            return Ok(Next::Wait(available));
        }
        let length = self.film.segment_length(number);
        let excess = (self.buffer + length).saturating_sub(self.spec.most_buffer);
        if !excess.is_zero() && self.playback == Playback::Playing {
            return Ok(Next::Wait(now + scaled(excess, 1.0 / self.speed)));
        }
        let bits: Vec<_> = self.ladder.iter().map(|rate| self.bits(number, *rate)).collect();
        let rung = self.adaptation.choose(&PlayerView {
            now,
            ladder: &self.ladder,
            bits: &bits,
            segment_s: self.film.segment.as_secs_f64(),
            buffer_s: self.buffer.as_secs_f64(),
            most_buffer_s: self.spec.most_buffer.as_secs_f64(),
            last: self.segments.last().map(|segment| segment.rung),
        })?;
        let chosen =
            bits.get(rung).ok_or_else(|| format!("chose bitrate {rung} of {}", bits.len()))?;
        let bytes = Bytes::new((chosen / 8.0).ceil().max(1.0) as u64);
        self.segments.push(Segment {
            rung,
            bytes,
            requested: now,
            arrived: None,
            buffer: SimDuration::ZERO,
            stalled: SimDuration::ZERO,
        });
        Ok(Next::Ask(bytes))
    }

    /// The segment that was asked for has arrived.
    pub fn on_arrival(&mut self, now: SimTime) {
        self.play_until(now);
        let number = self.segments.len() as u64 - 1;
        let is_last = number + 1 == self.film.segments();
        self.buffer += self.film.segment_length(number);
        let (buffer, stalled) = (self.buffer, self.stalled_since_arrival(now));
        let Some(segment) = self.segments.last_mut() else { return };
        (segment.arrived, segment.buffer, segment.stalled) = (Some(now), buffer, stalled);
        let seconds = now.saturating_since(segment.requested).as_secs_f64();
        self.download = Some(Download { bytes: segment.bytes, seconds });
        let needed = match self.playback {
            Playback::Starting => self.spec.start_buffer(self.film.segment),
            Playback::Stalled => self.spec.resume_buffer(self.film.segment),
            Playback::Playing | Playback::Ended => SimDuration::ZERO,
        };
        if buffer >= needed || is_last {
            self.play(now);
        }
        self.speed = self.spec.live.map_or(1.0, |live| self.speed_of(live));
    }

    /// Time without pictures since the last arrival.
    fn stalled_since_arrival(&self, now: SimTime) -> SimDuration {
        let Some(stall) = self.stalls.last().filter(|stall| stall.end.is_none()) else {
            return SimDuration::ZERO;
        };
        let last = self.segments.iter().rev().find_map(|segment| segment.arrived);
        now.saturating_since(last.map_or(stall.begin, |last| last.max(stall.begin)))
    }

    /// Pictures move from `now` on.
    fn play(&mut self, now: SimTime) {
        match self.playback {
            Playback::Starting => self.startup = Some(now.saturating_since(self.start)),
            Playback::Stalled => {
                if let Some(stall) = self.stalls.last_mut() {
                    stall.end = Some(now);
                }
            }
            Playback::Playing | Playback::Ended => {}
        }
        self.playback = Playback::Playing;
    }

    /// Plays what is in the buffer up to `now`.
    pub fn play_until(&mut self, now: SimTime) {
        let elapsed = now.saturating_since(self.now);
        if self.playback == Playback::Playing {
            let lasts = scaled(self.buffer, 1.0 / self.speed);
            let playing = elapsed.min(lasts);
            let played = if lasts <= elapsed { self.buffer } else { scaled(playing, self.speed) };
            self.note_latency(playing, played);
            self.buffer = self.buffer.saturating_sub(played);
            self.position += played;
            if lasts <= elapsed {
                self.run_empty(self.now + lasts);
            }
        }
        self.now = self.now.max(now);
    }

    fn run_empty(&mut self, at: SimTime) {
        if self.position >= self.film.length {
            self.playback = Playback::Ended;
        } else {
            self.playback = Playback::Stalled;
            self.stalls.push(Stall { begin: at, end: None });
        }
    }

    fn note_latency(&mut self, playing: SimDuration, played: SimDuration) {
        let Some(live) = self.spec.live else { return };
        let begin = self.behind(live);
        let (seconds, played) = (playing.as_secs_f64(), played.as_secs_f64());
        let end = begin + seconds - played;
        self.latency.sum += seconds * (begin + end) / 2.0;
        self.latency.seconds += seconds;
        self.latency.most = self.latency.most.max(begin).max(end);
    }

    /// How far behind the event the viewer is, in seconds.
    fn behind(&self, live: LiveSpec) -> f64 {
        let watched = self.now.saturating_since(self.start) + live.latency;
        watched.as_secs_f64() - self.position.as_secs_f64()
    }

    /// The speed with which what the viewer is behind is gone after a segment, as far as it may.
    fn speed_of(&self, live: LiveSpec) -> f64 {
        let excess = self.behind(live) - live.latency.as_secs_f64();
        1.0 + (excess / self.film.segment.as_secs_f64()).clamp(0.0, live.catch_up)
    }

    /// When a segment can be asked for.
    fn available(&self, number: u64) -> SimTime {
        let Some(live) = self.spec.live else { return self.start };
        let taken = self.film.segment * number + self.film.segment_length(number);
        self.start + taken.saturating_sub(live.latency)
    }

    fn bits(&self, number: u64, rate: f64) -> f64 {
        let seconds = self.film.segment_length(number).as_secs_f64();
        rate * seconds * self.factors.get(number as usize).copied().unwrap_or(1.0)
    }
}

/// The session as its viewer noticed it.
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

    /// Whether all segments have arrived.
    pub fn is_complete(&self) -> bool {
        self.arrived().count() as u64 == self.film.segments()
    }

    /// Whether all of it was played.
    pub fn has_ended(&self) -> bool {
        self.playback == Playback::Ended
    }

    /// The mean bitrate of the segments that arrived in bit/s, by their length.
    pub fn mean_bitrate(&self) -> Option<f64> {
        let lengths =
            self.arrived().map(|(number, _)| self.film.segment_length(number).as_secs_f64());
        let rates = self.arrived().map(|(_, segment)| self.ladder[segment.rung]);
        let (mut sum, mut seconds) = (0.0, 0.0);
        for (length, rate) in lengths.zip(rates) {
            sum += length * rate;
            seconds += length;
        }
        (seconds > 0.0).then(|| sum / seconds)
    }

    /// How often two segments in a row had different bitrates.
    pub fn switches(&self) -> u64 {
        let rungs: Vec<_> = self.arrived().map(|(_, segment)| segment.rung).collect();
        rungs.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
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
        let bitrates: Vec<_> =
            self.arrived().map(|(_, segment)| self.ladder[segment.rung]).collect();
        let startup = self.startup.unwrap_or_else(|| end.saturating_since(self.start));
        let waited = (startup + self.stalled(end).0).as_secs_f64();
        quality(&bitrates, self.ladder[self.ladder.len() - 1], waited)
    }

    fn arrived(&self) -> impl Iterator<Item = (u64, &Segment)> {
        (0..).zip(&self.segments).filter(|(_, segment)| segment.arrived.is_some())
    }
}

/// At a speed of 1, spans of up to 104 days stay as they are, to the nanosecond.
fn scaled(span: SimDuration, factor: f64) -> SimDuration {
    SimDuration::from_nanos((span.as_nanos() as f64 * factor).round() as u64)
}

#[cfg(test)]
mod tests;
