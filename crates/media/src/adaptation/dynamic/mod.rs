//! DYNAMIC, as dash.js has it: by throughput while the buffer is short, by BOLA once it is long.

mod bola_o;
mod version4;
mod version5;

#[cfg(test)]
mod tests;

use leobench_base::spec::{Fault, Whole};
use leobench_base::{BitRate, SimDuration};

use self::version4::Version4;
use self::version5::Version5;
use super::bola::BolaSpec;
use super::{Adaptation, AdaptationContext, AdaptationModel};

leobench_base::spec! {
    /// By throughput while the buffer is short, by BOLA once it is long: the default of dash.js 5.2, or of 4.7.
    ///
    /// DYNAMIC of Spiteri, Sitaraman and Sparacio 2018, with two rules of that player: from the third segment on a download may
    /// take a share of the buffer only (`InsufficientBufferRule`), and a bitrate that was left for a lower one in the last eight
    /// choices is not asked for (`SwitchHistoryRule`; version 5 alone). Throughput is the smaller of two means that forget half
    /// within 2 s and 5.3 s of download time; in version 4, the mean of the last downloads. That player also abandons and
    /// replaces segments, for which videos have keys.
    pub struct DynamicSpec: Default check = DynamicSpec::check {
        /// Version of dash.js: 5 for 5.2, 4 for 4.7.
        pub version: Whole<4, 5> = Whole::nearest(5),
        /// Share of the throughput that is used.
        pub share: f64 = 0.9,
        /// Bitrate of the first segment at most; 1 Mbit/s unless given, or the lowest in version 4.
        pub start: Option<BitRate>,
        /// Number of downloads whose mean is the throughput, in version 4; 4 unless given.
        pub window: Option<Whole<1, 100>>,
        /// Length of the buffer from which BOLA may decide; 12 s unless given, and BOLA goes on down to half of it. In version 4, 10 s.
        pub long_buffer: Option<SimDuration>,
        /// Share of the buffer that the next download may take at that throughput; 0.7 unless given, 0.5 in version 4.
        pub patience: Option<f64>,
    }
}

/// Segments before the buffer limits the choice (`segmentIgnoreCount`).
const IGNORED: usize = 2;

impl DynamicSpec {
    fn check(&self) -> Result<(), Fault> {
        let shares = [("share", Some(self.share)), ("patience", self.patience)];
        for (field, share) in shares {
            if share.is_some_and(|share| !(share > 0.0 && share <= 2.0)) {
                return Err(Fault::new(field, "is out of range", "a number above 0, up to 2"));
            }
        }
        if self.start.is_some_and(BitRate::is_zero) {
            return Err(Fault::new("start", "is zero", "a bitrate above zero"));
        }
        if self.window.is_some() && !self.is_4() {
            let allowed = "only with `version = 4`, whose throughput is a mean of downloads";
            return Err(Fault::new("window", "is not used by this version", allowed));
        }
        Ok(())
    }

    fn is_4(&self) -> bool {
        self.version.get() == 4
    }

    /// Length of the buffer from which BOLA may decide.
    pub(crate) fn long_buffer(&self) -> SimDuration {
        self.long_buffer.unwrap_or(SimDuration::from_secs(if self.is_4() { 10 } else { 12 }))
    }

    fn long_buffer_s(&self) -> f64 {
        self.long_buffer().as_secs_f64()
    }

    fn patience(&self) -> f64 {
        self.patience.unwrap_or(if self.is_4() { 0.5 } else { 0.7 })
    }

    fn start(&self) -> f64 {
        let usual = if self.is_4() { 0.0 } else { 1e6 };
        self.start.map_or(usual, |start| start.bps() as f64)
    }
}

impl AdaptationModel for DynamicSpec {
    fn build(&self, context: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        Ok(if self.is_4() {
            Box::new(Version4::new(self, BolaSpec::default().build(context)?))
        } else {
            Box::new(Version5::new(self))
        })
    }
}
