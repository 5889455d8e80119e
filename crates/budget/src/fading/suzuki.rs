//! Suzuki's model: scattered waves under a common shadow.

use leobench_base::decibel::db;
use leobench_base::quantity::{Decibels, Level};
use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimDuration};

use super::gauss::{OrnsteinUhlenbeck, Scattered};
use super::{Fading, FadingModel, Process, Stepped, check_times, log_normal, step};

leobench_base::spec! {
    /// Suzuki's fading: no direct wave, and scattered waves (Rayleigh) whose mean power has log-normal shadowing.
    ///
    /// The model is that of Suzuki 1977, "A statistical model for urban radio propagation", IEEE Transactions on
    /// Communications 25(7).
    pub struct SuzukiSpec
        example = r#"{"mean": "-8 dB", "deviation": "4 dB", "correlation": "2 s", "multipath_correlation": "100 ms"}"#
        check = SuzukiSpec::check
    {
        /// Mean of the shadowing in decibels, relative to the unshadowed direct wave.
        pub mean: Level,
        /// Standard deviation of the shadowing in decibels.
        pub deviation: Decibels,
        /// Correlation time of the shadowing.
        pub correlation: SimDuration,
        /// Correlation time of the scattered waves.
        pub multipath_correlation: SimDuration,
        /// Time between two values; a tenth of the shorter correlation time if not given, and at least 1 ms.
        pub step: Option<SimDuration>,
    }
}

impl SuzukiSpec {
    fn check(&self) -> Result<(), Fault> {
        check_times(&[
            ("correlation", Some(self.correlation)),
            ("multipath_correlation", Some(self.multipath_correlation)),
            ("step", self.step),
        ])
    }
}

struct Suzuki {
    shadow: OrnsteinUhlenbeck,
    scattered: Scattered,
    mean_db: f64,
    deviation_db: f64,
}

impl Process for Suzuki {
    fn step(&mut self) {
        self.shadow.step();
        self.scattered.step();
    }

    fn gain_db(&self) -> f64 {
        let [real, imaginary] = self.scattered.value();
        let shadow_db = self.mean_db + self.deviation_db * self.shadow.value();
        shadow_db + db(real * real + imaginary * imaginary)
    }
}

impl FadingModel for SuzukiSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn Fading> {
        let step = step(self.step, self.correlation.min(self.multipath_correlation));
        let parts = ["real", "imaginary"].map(|part| rng.child(part).rng());
        let process = Suzuki {
            shadow: OrnsteinUhlenbeck::new(self.correlation, step, rng.child("shadow").rng()),
            scattered: Scattered::new(self.multipath_correlation, step, parts),
            mean_db: self.mean.db(),
            deviation_db: self.deviation.db(),
        };
        Stepped::boxed(process, step)
    }

    /// That of the shadowing: the scattered waves have a mean power of 1.
    fn mean_power(&self) -> f64 {
        log_normal::mean_power(self.mean.db(), self.deviation.db())
    }
}
