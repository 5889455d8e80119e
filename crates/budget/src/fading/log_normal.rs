//! Log-normal shadowing.

use leobench_base::decibel::ratio;
use leobench_base::quantity::{Decibels, Level};
use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimDuration};

use super::gauss::OrnsteinUhlenbeck;
use super::{Fading, FadingModel, Process, Stepped, check_times, step};

/// Natural logarithm of a ratio of powers per decibel.
const NEPERS: f64 = std::f64::consts::LN_10 / 10.0;

/// The mean power of a log-normal variable by its mean and deviation in decibels: exp(σ²/2) times the median, with σ in nepers of
/// power.
pub(super) fn mean_power(mean_db: f64, deviation_db: f64) -> f64 {
    let sigma = NEPERS * deviation_db;
    ratio(mean_db) * libm::exp(0.5 * sigma * sigma)
}

leobench_base::spec! {
    /// Log-normal shadowing: the gain in decibels is an Ornstein-Uhlenbeck process.
    ///
    /// Its correlation falls as exp(-t/τ) (Gudmundson 1991, "Correlation model for shadow fading in mobile radio systems",
    /// Electronics Letters 27(23)).
    pub struct LogNormalSpec example = r#"{"deviation": "3 dB", "correlation": "10 s"}"# check = LogNormalSpec::check {
        /// Mean of the gain in decibels, which is its median.
        pub mean: Level = Level::constant(0.0),
        /// Standard deviation of the gain in decibels.
        pub deviation: Decibels,
        /// Correlation time τ.
        pub correlation: SimDuration,
        /// Time between two values; a tenth of the correlation time if not given, and at least 1 ms.
        pub step: Option<SimDuration>,
    }
}

impl LogNormalSpec {
    fn check(&self) -> Result<(), Fault> {
        check_times(&[("correlation", Some(self.correlation)), ("step", self.step)])
    }
}

struct LogNormal {
    shadow: OrnsteinUhlenbeck,
    mean_db: f64,
    deviation_db: f64,
}

impl Process for LogNormal {
    fn step(&mut self) {
        self.shadow.step();
    }

    fn gain_db(&self) -> f64 {
        self.mean_db + self.deviation_db * self.shadow.value()
    }
}

impl FadingModel for LogNormalSpec {
    fn build(&self, rng: &RngTree) -> Box<dyn Fading> {
        let step = step(self.step, self.correlation);
        let process = LogNormal {
            shadow: OrnsteinUhlenbeck::new(self.correlation, step, rng.child("shadow").rng()),
            mean_db: self.mean.db(),
            deviation_db: self.deviation.db(),
        };
        Stepped::boxed(process, step)
    }

    fn mean_power(&self) -> f64 {
        mean_power(self.mean.db(), self.deviation.db())
    }
}
