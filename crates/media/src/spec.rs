//! The specification of a film, or of a live stream, and of its player.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration};

use crate::adaptation::AdaptationSpec;
use crate::film::Film;
use crate::manifest::{self, MANIFEST};

/// Length of a segment unless given.
const SEGMENT: SimDuration = SimDuration::from_secs(4);

/// Bytes of a request, as that of an object of a page.
const REQUEST: Bytes = Bytes::new(400);

/// Bytes of the largest request, far more than servers accept.
const MOST_REQUEST: Bytes = Bytes::new(1_000_000);

leobench_base::spec! {
    /// A video that the receiving end watches: segments that it asks for one after the other, each in a bitrate of the ladder.
    pub struct VideoSpec check = VideoSpec::check {
        /// Bitrates of the encodings, from the lowest to the highest.
        pub ladder: Option<Vec<BitRate>>,
        /// How long the video is.
        pub length: Option<SimDuration>,
        /// Length of a segment; 4 s unless given.
        pub segment: Option<SimDuration>,
        /// File with a DASH manifest (MPD, ISO/IEC 23009-1), which gives ladder, length and segments in place of these keys.
        pub manifest: Option<String>,
        /// How the bitrate of the next segment is chosen.
        pub adaptation: AdaptationSpec = AdaptationSpec::default(),
        /// Standard deviation of the logarithm of a segment's size around that of its bitrate, the same for all bitrates; 0 for
        /// a constant bitrate.
        pub variation: f64 = 0.0,
        /// Playback starts with this much in the buffer; with a segment unless given.
        pub start_buffer: Option<SimDuration>,
        /// After a stall, playback goes on with this much in the buffer; as at the start unless given.
        pub resume_buffer: Option<SimDuration>,
        /// The player asks for nothing that would make the buffer longer than this.
        pub most_buffer: SimDuration = SimDuration::from_secs(30),
        /// Whether it gives up a download that would take longer than 1.8 segments for the same segment in a lower bitrate, as
        /// dash.js does (`AbandonRequestsRule`). For 10 s after, it asks for no higher bitrate.
        pub abandons: bool = false,
        /// A change of the bitrate replaces what is in the buffer, from the segment so far ahead of the picture on, if that is in a
        /// lower one; unless given, nothing is replaced. The code of dash.js has 1.5 segments (`fastSwitchEnabled`), but takes
        /// 0 s in 5.2.1, as it does not know the length of a segment there.
        pub replaces_beyond: Option<SimDuration>,
        /// Bytes of a request.
        pub request: Bytes = REQUEST,
        /// Time that the sending end takes to answer a request.
        pub think: SimDuration = SimDuration::ZERO,
        /// The viewer begins at a random time within this of the flow's start.
        pub begins_within: SimDuration = SimDuration::ZERO,
        /// A stream that is encoded while it is watched; unless given, all segments are there from the start.
        pub live: Option<LiveSpec>,
    }
}

leobench_base::spec! {
    /// A live stream. A segment is there when its last picture has been taken.
    #[derive(Copy)]
    pub struct LiveSpec check = LiveSpec::check {
        /// How far behind the event the viewer begins to watch.
        pub latency: SimDuration,
        /// Share by which playback is faster while the viewer is further behind than that; 0 for never.
        pub catch_up: f64 = 0.0,
    }
}

impl LiveSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.latency.is_zero() {
            return Err(Fault::new("latency", "is zero", "a time of at least a segment"));
        }
        if !(0.0..=0.5).contains(&self.catch_up) {
            return Err(Fault::new("catch_up", "is not a share", "a number from 0 to 0.5"));
        }
        Ok(())
    }
}

/// The ways to describe a film, for messages.
const EITHER: &str = "either `ladder`, `length` and `segment`, or a `manifest`";

impl VideoSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.manifest.is_none() {
            self.check_film(&self.described()?)?;
        }
        let keys = [self.ladder.is_some(), self.length.is_some(), self.segment.is_some()];
        let mut given = ["ladder", "length", "segment"].into_iter().zip(keys);
        if self.manifest.is_some()
            && let Some((key, _)) = given.find(|(_, given)| *given)
        {
            return Err(Fault::new(key, "is given together with a `manifest`", EITHER));
        }
        if !(0.0..=1.0).contains(&self.variation) {
            return Err(Fault::new("variation", "is out of range", "a number from 0 to 1"));
        }
        if self.request.is_zero() || self.request > MOST_REQUEST {
            let problem = if self.request.is_zero() { "is zero" } else { "is too large" };
            return Err(Fault::new("request", problem, format!("from 1 B to {MOST_REQUEST}")));
        }
        Ok(())
    }

    /// The film. If it is that of a manifest, `read` returns the text of the file of this name.
    ///
    /// # Errors
    /// If the manifest cannot be read, or its film cannot be played with these keys.
    pub fn film(&self, read: impl FnOnce(&str) -> Result<String, Fault>) -> Result<Film, Fault> {
        let Some(name) = &self.manifest else { return self.described() };
        let film = manifest::read(name, &read(name)?)?;
        self.check_film(&film).map_err(|fault| match fault.field.as_str() {
            "ladder" | "length" | "segment" => {
                let problem = format!("{name}: its {} {}", fault.field, fault.problem);
                Fault::new(MANIFEST, problem, fault.allowed)
            }
            _ => fault,
        })?;
        Ok(film)
    }

    /// The film of the keys beside a manifest.
    fn described(&self) -> Result<Film, Fault> {
        let missing = |key| Fault::new(key, "is required but missing", EITHER);
        Ok(Film {
            ladder: self.ladder.clone().ok_or_else(|| missing("ladder"))?,
            length: self.length.ok_or_else(|| missing("length"))?,
            segment: self.segment.unwrap_or(SEGMENT),
        })
    }

    fn check_film(&self, film: &Film) -> Result<(), Fault> {
        film.check()?;
        self.check_buffers(film.segment)?;
        if let AdaptationSpec::Fixed(fixed) = &self.adaptation
            && fixed.rung.get() as usize >= film.ladder.len()
        {
            let problem = format!("is no bitrate of the ladder, which has {}", film.ladder.len());
            let allowed = format!("from 0 to {}", film.ladder.len() - 1);
            return Err(Fault::new("adaptation.rung", problem, allowed));
        }
        let by_bola =
            matches!(self.adaptation, AdaptationSpec::Bola(_) | AdaptationSpec::Dynamic(_));
        let room = self.most_buffer.as_nanos() / film.segment.as_nanos();
        if by_bola && room < 2 {
            let kind = self.adaptation.kind();
            let problem =
                format!("has no room for the two segments that the adaptation `{kind}` needs");
            let allowed = format!("at least {}", film.segment * 2);
            return Err(Fault::new("most_buffer", problem, allowed));
        }
        self.check_long_buffer(film.segment)
    }

    /// Refuses a handover to BOLA that is asked for, and never comes.
    fn check_long_buffer(&self, segment: SimDuration) -> Result<(), Fault> {
        let AdaptationSpec::Dynamic(dynamic) = &self.adaptation else { return Ok(()) };
        let most = self.longest_choice(segment);
        if dynamic.long_buffer.is_some_and(|long| long > most) {
            let field = "adaptation.long_buffer";
            let allowed = format!("up to `most_buffer` without a segment, {most}");
            return Err(Fault::new(field, "is never reached", allowed));
        }
        Ok(())
    }

    /// The longest buffer with which a player chooses: a segment still has room.
    fn longest_choice(&self, segment: SimDuration) -> SimDuration {
        self.most_buffer.saturating_sub(segment)
    }

    /// The buffer from which BOLA would decide, and the longest with which the player of the film chooses, if that is shorter.
    pub fn unreached_bola(&self, film: &Film) -> Option<(SimDuration, SimDuration)> {
        let AdaptationSpec::Dynamic(dynamic) = &self.adaptation else { return None };
        let (long, most) = (dynamic.long_buffer(), self.longest_choice(film.segment));
        (long > most).then_some((long, most))
    }

    fn check_buffers(&self, segment: SimDuration) -> Result<(), Fault> {
        if self.most_buffer < segment {
            let problem = format!("has no room for a segment of {segment}");
            return Err(Fault::new("most_buffer", problem, "at least a segment"));
        }
        for (field, buffer) in
            [("start_buffer", self.start_buffer), ("resume_buffer", self.resume_buffer)]
        {
            // The buffer grows by whole segments, so more than the last of them that has room never comes.
            let most = segment * (self.most_buffer.as_nanos() / segment.as_nanos());
            if let Some(buffer) = buffer.filter(|buffer| buffer.is_zero() || *buffer > most) {
                let problem = if buffer.is_zero() { "is zero" } else { "is never reached" };
                let allowed = format!("up to the segments that `most_buffer` has room for, {most}");
                return Err(Fault::new(field, problem, allowed));
            }
        }
        if self.replaces_beyond.is_some_and(|beyond| beyond >= self.most_buffer) {
            let allowed = format!("below `most_buffer`, {}", self.most_buffer);
            return Err(Fault::new("replaces_beyond", "is never reached", allowed));
        }
        let least = self.start_buffer(segment).max(segment);
        match self.live {
            Some(live) if live.latency < least => {
                let problem = "is shorter than what playback starts with";
                Err(Fault::new("live.latency", problem, format!("at least {least}")))
            }
            _ => Ok(()),
        }
    }

    /// Content with which playback starts, given the length of a segment.
    pub fn start_buffer(&self, segment: SimDuration) -> SimDuration {
        self.start_buffer.unwrap_or(segment)
    }

    /// Content with which it goes on after a stall.
    pub fn resume_buffer(&self, segment: SimDuration) -> SimDuration {
        self.resume_buffer.unwrap_or_else(|| self.start_buffer(segment))
    }

    /// How long after the flow's start the viewer begins.
    pub fn wait(&self, rng: &RngTree) -> SimDuration {
        let bound = self.begins_within.as_nanos();
        if bound == 0 {
            return SimDuration::ZERO;
        }
        SimDuration::from_nanos(rng.child("begin").rng().below(bound))
    }

    /// Returns for so many segments the size of each over that of a constant bitrate: log-normal with a mean of 1.
    pub(crate) fn factors(&self, segments: u64, rng: &RngTree) -> Vec<f64> {
        let mut rng = rng.child("sizes").rng();
        let factor = |_| {
            let normal = rng.normal();
            libm::exp(self.variation * normal - self.variation * self.variation / 2.0)
        };
        (0..segments).map(factor).collect()
    }
}
