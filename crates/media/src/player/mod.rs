//! The player: its buffer, its playback, and when it asks for the next segment.
//!
//! By its keys it may also abandon a download, and replace segments that it has. Both follow dash.js 5.2
//! (`AbandonRequestsRule`, and `StreamProcessor` with `fastSwitchEnabled`).

mod abandonment;
mod session;

use leobench_base::{Bytes, RngTree, SimDuration, SimTime};
use leobench_transport::Plugins;

use self::abandonment::{Abandonment, lower_bitrate};
use crate::adaptation::{Adaptation, AdaptationContext, Download, PlayerView};
use crate::film::Film;
use crate::spec::{LiveSpec, VideoSpec};

/// How long after it abandoned a download a player asks for no higher bitrate than before (`abandonLoadTimeout`).
const CAUTION: SimDuration = SimDuration::from_secs(10);

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
    /// Its number in the film, counted from 0.
    pub number: u64,
    /// The number of its bitrate in the ladder.
    pub rung: usize,
    /// Its size.
    pub bytes: Bytes,
    /// When it was asked for.
    pub requested: SimTime,
    /// When all of it had arrived, if it has.
    pub arrived: Option<SimTime>,
    /// Whether the player gave it up.
    pub is_abandoned: bool,
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
    /// All that it asked for, in order.
    segments: Vec<Segment>,
    /// The bitrate of each segment that was played or is in the buffer, by its number.
    shown: Vec<usize>,
    /// The number of the segment that it asks for next, unless it replaces one.
    following: u64,
    /// The segment that it asks for after a pause, and its bitrate.
    chosen: Option<(u64, usize)>,
    abandonment: Abandonment,
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
            shown: Vec::new(),
            following: 0,
            chosen: None,
            abandonment: Abandonment::default(),
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
        if let Some((number, rung)) = self.chosen.take() {
            return Ok(Next::Ask(self.ask(number, rung)));
        }
        let number = self.following;
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
        let rung = self.choose(number)?;
        let number = self.improved(rung).unwrap_or(number);
        let pause = SimDuration::from_secs_f64(self.adaptation.pause_s());
        if !pause.is_zero() {
            self.chosen = Some((number, rung));
            return Ok(Next::Wait(now + pause));
        }
        Ok(Next::Ask(self.ask(number, rung)))
    }

    /// Chooses the bitrate of the segment of a number.
    fn choose(&mut self, number: u64) -> Result<usize, String> {
        let bits = self.sizes(number);
        let last = self.segments.last().map(|segment| segment.rung);
        let (view, adaptation) = self.view(&bits, last);
        let rung = adaptation.choose(&view)?;
        if rung >= bits.len() {
            return Err(format!("chose bitrate {rung} of {}", bits.len()));
        }
        let highest = last.filter(|_| self.is_cautious());
        Ok(highest.map_or(rung, |highest| rung.min(highest)))
    }

    /// The first segment that is replaced on a change to this bitrate, if one is: it is far enough ahead, and in a lower one.
    fn improved(&self, rung: usize) -> Option<u64> {
        let changes = self.segments.last().is_some_and(|last| last.rung != rung);
        let beyond =
            self.spec.replaces_beyond.filter(|beyond| changes && self.buffer >= *beyond)?;
        if self.is_cautious() {
            return None;
        }
        let number = (self.position + beyond).as_nanos() / self.film.segment.as_nanos();
        self.shown.get(number as usize).is_some_and(|shown| *shown < rung).then_some(number)
    }

    fn is_cautious(&self) -> bool {
        self.abandonment.last().is_some_and(|last| self.now < last + CAUTION)
    }

    /// Asks for a segment in a bitrate; returns its size.
    fn ask(&mut self, number: u64, rung: usize) -> Bytes {
        let bits = self.bits(number, self.ladder[rung]);
        let bytes = Bytes::new((bits / 8.0).ceil().max(1.0) as u64);
        self.following = number + 1;
        self.abandonment.begin();
        self.segments.push(Segment {
            number,
            rung,
            bytes,
            requested: self.now,
            arrived: None,
            is_abandoned: false,
            buffer: SimDuration::ZERO,
            stalled: SimDuration::ZERO,
        });
        bytes
    }

    /// So many bytes of the segment that was asked for have arrived, but not all; the bitrate in which the player asks for it anew, if
    /// it abandons it for that.
    pub fn on_progress(&mut self, now: SimTime, arrived: Bytes) -> Option<usize> {
        let segment = self.segments.last().filter(|_| self.spec.abandons)?;
        let (number, rung, bytes) = (segment.number, segment.rung, segment.bytes);
        let throughput = self.abandonment.on_progress(now, arrived)?;
        self.play_until(now);
        if self.abandonment.is_done(number) || rung == 0 || self.buffer > self.spec.most_buffer {
            return None;
        }
        let download = (rung, bytes, arrived);
        lower_bitrate(&self.ladder, download, throughput, self.film.segment)
    }

    /// Abandons the download, of which so many bytes have arrived, and asks for the segment in a lower bitrate; returns its size.
    ///
    /// # Errors
    /// A description of the failure of an adaptation that is a plug-in; then there is no further call.
    pub fn abandon(&mut self, now: SimTime, arrived: Bytes, rung: usize) -> Result<Bytes, String> {
        self.play_until(now);
        let segment = self.segments.last_mut().expect("a download is under way");
        segment.is_abandoned = true;
        let number = segment.number;
        let seconds = now.saturating_since(segment.requested).as_secs_f64();
        self.abandonment.abandon(now, number);
        let is_replacement = number < self.shown.len() as u64;
        self.adaptation.on_download(&Download { bytes: arrived, seconds, is_replacement })?;
        let bits = self.sizes(number);
        let (view, adaptation) = self.view(&bits, Some(rung));
        adaptation.on_abandonment(&view);
        Ok(self.ask(number, rung))
    }

    /// The segment that was asked for has arrived.
    pub fn on_arrival(&mut self, now: SimTime) {
        self.play_until(now);
        let Some(segment) = self.segments.last() else { return };
        let (number, rung) = (segment.number, segment.rung);
        let is_last = number + 1 == self.film.segments();
        let is_replacement = self.show(number, rung);
        let (buffer, stalled) = (self.buffer, self.stalled_since_arrival(now));
        let Some(segment) = self.segments.last_mut() else { return };
        (segment.arrived, segment.buffer, segment.stalled) = (Some(now), buffer, stalled);
        let seconds = now.saturating_since(segment.requested).as_secs_f64();
        self.download = Some(Download { bytes: segment.bytes, seconds, is_replacement });
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

    /// A segment comes into the buffer, or takes the place of one whose pictures are not all played; whether it replaces one.
    fn show(&mut self, number: u64, rung: usize) -> bool {
        let Some(shown) = self.shown.get_mut(number as usize) else {
            self.shown.push(rung);
            self.buffer += self.film.segment_length(number);
            return false;
        };
        if self.position < self.film.segment * (number + 1) {
            *shown = rung;
        }
        true
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

    /// The player's knowledge after a segment in a bitrate, given the bits of the next, and the adaptation that uses it.
    fn view<'a>(
        &'a mut self,
        bits: &'a [f64],
        last: Option<usize>,
    ) -> (PlayerView<'a>, &'a mut dyn Adaptation) {
        let view = PlayerView {
            now: self.now,
            ladder: &self.ladder,
            bits,
            segment_s: self.film.segment.as_secs_f64(),
            buffer_s: self.buffer.as_secs_f64(),
            most_buffer_s: self.spec.most_buffer.as_secs_f64(),
            last,
        };
        (view, &mut *self.adaptation)
    }

    /// The bits of a segment, by bitrate.
    fn sizes(&self, number: u64) -> Vec<f64> {
        self.ladder.iter().map(|rate| self.bits(number, *rate)).collect()
    }

    fn bits(&self, number: u64, rate: f64) -> f64 {
        let seconds = self.film.segment_length(number).as_secs_f64();
        rate * seconds * self.factors.get(number as usize).copied().unwrap_or(1.0)
    }
}

/// At a speed of 1, spans of up to 104 days stay as they are, to the nanosecond.
fn scaled(span: SimDuration, factor: f64) -> SimDuration {
    SimDuration::from_nanos((span.as_nanos() as f64 * factor).round() as u64)
}

#[cfg(test)]
mod tests;
