//! The specification of a film, or of a live stream, and of its player.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration};

use crate::adaptation::AdaptationSpec;
use crate::film::Film;

/// Segments of a film at most.
pub const MOST_SEGMENTS: u64 = 65_535;

/// Bytes of a request, as that of an object of a page.
const REQUEST: Bytes = Bytes::new(400);

leobench_base::spec! {
    /// A video that the receiving end watches: segments that it asks for one after the other, each in a bitrate of the ladder.
    pub struct VideoSpec check = VideoSpec::check {
        /// Bitrates of the encodings, from the lowest to the highest.
        pub ladder: Vec<BitRate>,
        /// How long the video is.
        pub length: SimDuration,
        /// Length of a segment.
        pub segment: SimDuration = SimDuration::from_secs(4),
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

impl VideoSpec {
    fn check(&self) -> Result<(), Fault> {
        self.check_ladder()?;
        self.check_times()?;
        if !(0.0..=1.0).contains(&self.variation) {
            return Err(Fault::new("variation", "is out of range", "a number from 0 to 1"));
        }
        if self.request.is_zero() {
            return Err(Fault::new("request", "is zero", "at least 1 B"));
        }
        self.check_adaptation()
    }

    fn check_ladder(&self) -> Result<(), Fault> {
        if self.ladder.is_empty() {
            return Err(Fault::new("ladder", "is empty", "at least one bitrate"));
        }
        if self.ladder.iter().any(|rate| rate.is_zero()) {
            return Err(Fault::new("ladder", "has a bitrate of zero", "bitrates above zero"));
        }
        if self.ladder.windows(2).any(|pair| pair[0] >= pair[1]) {
            let problem = "does not rise from the lowest to the highest bitrate";
            return Err(Fault::new("ladder", problem, "each bitrate above the one before"));
        }
        Ok(())
    }

    fn check_adaptation(&self) -> Result<(), Fault> {
        if let AdaptationSpec::Fixed(fixed) = &self.adaptation
            && fixed.rung.get() as usize >= self.ladder.len()
        {
            let problem = format!("is no bitrate of the ladder, which has {}", self.ladder.len());
            let allowed = format!("from 0 to {}", self.ladder.len() - 1);
            return Err(Fault::new("adaptation.rung", problem, allowed));
        }
        let room = self.most_buffer.as_nanos() / self.segment.as_nanos();
        let by_bola =
            matches!(self.adaptation, AdaptationSpec::Bola(_) | AdaptationSpec::Dynamic(_));
        if by_bola && room < 2 {
            let kind = self.adaptation.kind();
            let problem =
                format!("has no room for the two segments that the adaptation `{kind}` needs");
            return Err(Fault::new(
                "most_buffer",
                problem,
                format!("at least {}", self.segment * 2),
            ));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), Fault> {
        const SHORTEST: SimDuration = SimDuration::from_millis(10);
        if self.segment < SHORTEST {
            return Err(Fault::new("segment", "is too short", format!("{SHORTEST} or more")));
        }
        if self.length < self.segment {
            let problem = format!("is shorter than a segment of {}", self.segment);
            return Err(Fault::new("length", problem, "at least a segment"));
        }
        let segments = self.film().segments();
        if segments > MOST_SEGMENTS {
            let problem = format!("makes {segments} segments");
            return Err(Fault::new("length", problem, format!("at most {MOST_SEGMENTS} segments")));
        }
        if self.most_buffer < self.segment {
            let problem = format!("has no room for a segment of {}", self.segment);
            return Err(Fault::new("most_buffer", problem, "at least a segment"));
        }
        for (field, buffer) in
            [("start_buffer", self.start_buffer), ("resume_buffer", self.resume_buffer)]
        {
            // The buffer grows by whole segments, so more than the last of them that has room never comes.
            let most = self.segment * (self.most_buffer.as_nanos() / self.segment.as_nanos());
            if let Some(buffer) = buffer.filter(|buffer| buffer.is_zero() || *buffer > most) {
                let problem = if buffer.is_zero() { "is zero" } else { "is never reached" };
                let allowed = format!("up to the segments that `most_buffer` has room for, {most}");
                return Err(Fault::new(field, problem, allowed));
            }
        }
        match self.live {
            Some(live) if live.latency < self.start_buffer().max(self.segment) => {
                let problem = "is shorter than what playback starts with";
                let least = self.start_buffer().max(self.segment);
                Err(Fault::new("live.latency", problem, format!("at least {least}")))
            }
            _ => Ok(()),
        }
    }

    /// The film.
    pub fn film(&self) -> Film {
        Film { ladder: self.ladder.clone(), length: self.length, segment: self.segment }
    }

    /// Content with which playback starts.
    pub fn start_buffer(&self) -> SimDuration {
        self.start_buffer.unwrap_or(self.segment)
    }

    /// Content with which it goes on after a stall.
    pub fn resume_buffer(&self) -> SimDuration {
        self.resume_buffer.unwrap_or_else(|| self.start_buffer())
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
