//! Loo's model: a shadowed direct wave and scattered ones.

use leobench_base::decibel::{db, ratio};
use leobench_base::quantity::{Decibels, Level};
use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimDuration};

use super::gauss::{OrnsteinUhlenbeck, Scattered};
use super::{Fading, FadingModel, Process, Stepped, check_times, log_normal, step};

leobench_base::spec! {
    /// Loo's fading: a direct wave with log-normal shadowing, and scattered waves of constant mean power.
    ///
    /// The model is that of Loo 1985, "A statistical model for a land mobile satellite link", IEEE Transactions on Vehicular
    /// Technology 34(3). Levels are relative to the unshadowed direct wave, as in ITU-R P.681 and Fontán et al. 2001.
    pub struct LooSpec
        example = r#"{"direct": "-1 dB", "deviation": "2 dB", "multipath": "-12 dB", "correlation": "2 s", "multipath_correlation": "100 ms"}"#
        check = LooSpec::check
    {
        /// Mean of the direct wave in decibels.
        pub direct: Level,
        /// Standard deviation of the direct wave in decibels.
        pub deviation: Decibels,
        /// Mean power of the scattered waves.
        pub multipath: Level,
        /// Correlation time of the shadowing.
        pub correlation: SimDuration,
        /// Correlation time of the scattered waves.
        pub multipath_correlation: SimDuration,
        /// Time between two values; a tenth of the shorter correlation time if not given, and at least 1 ms.
        pub step: Option<SimDuration>,
    }
}

impl LooSpec {
    fn check(&self) -> Result<(), Fault> {
        check_times(&[
            ("correlation", Some(self.correlation)),
            ("multipath_correlation", Some(self.multipath_correlation)),
            ("step", self.step),
        ])
    }
}

struct Loo {
    shadow: OrnsteinUhlenbeck,
    scattered: Scattered,
    direct_db: f64,
    deviation_db: f64,
    multipath: f64,
}

impl Process for Loo {
    fn step(&mut self) {
        self.shadow.step();
        self.scattered.step();
    }

    /// The phase of the direct wave is left at zero: that of the scattered ones is uniform.
    fn gain_db(&self) -> f64 {
        let direct = ratio(self.direct_db + self.deviation_db * self.shadow.value()).sqrt();
        let [real, imaginary] = self.scattered.value().map(|part| part * self.multipath.sqrt());
        db((direct + real) * (direct + real) + imaginary * imaginary)
    }
}

impl FadingModel for LooSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn Fading> {
        let step = step(self.step, self.correlation.min(self.multipath_correlation));
        let parts = ["real", "imaginary"].map(|part| rng.child(part).rng());
        let process = Loo {
            shadow: OrnsteinUhlenbeck::new(self.correlation, step, rng.child("shadow").rng()),
            scattered: Scattered::new(self.multipath_correlation, step, parts),
            direct_db: self.direct.db(),
            deviation_db: self.deviation.db(),
            multipath: ratio(self.multipath.db()),
        };
        Stepped::boxed(process, step)
    }

    /// That of the log-normal direct wave, and that of the scattered ones.
    fn mean_power(&self) -> f64 {
        let direct = log_normal::mean_power(self.direct.db(), self.deviation.db());
        direct + ratio(self.multipath.db())
    }
}
