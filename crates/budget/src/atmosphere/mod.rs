//! The atmosphere: rain, clouds, gases and scintillation, each optional, and their sum.

pub mod cloud;
pub mod gas;
mod lines;
pub mod rain;
pub mod scintillation;
pub mod specific;

use leobench_base::decibel::ratio;
use leobench_base::quantity::{Frequency, TimeShare};
use leobench_base::spec::Fault;

use cloud::{Cloud, CloudSpec};
use gas::{Gas, GasSpec};
use rain::{Rain, RainSpec};
use scintillation::{Scintillation, ScintillationSpec};

/// Mean radiating temperature of the medium in K (Recommendation ITU-R P.618-13, section 3).
const MEDIUM_K: f64 = 275.0;

leobench_base::spec! {
    /// The atmosphere between a terminal and a satellite; parts that are left out attenuate nothing.
    ///
    /// The state is one of the year's statistics, not a time series: with `exceeded = "0.1 %"`, the attenuation is less during
    /// 99.9 % of the year. Water in clouds and vapour are those exceeded for the same share, but for 1 % at least (ITU-R P.618-13,
    /// section 2.5).
    pub struct AtmosphereSpec example = r#"{"gas": {}}"# check = check {
        /// Share of an average year in which rain and scintillation attenuate more; required with them.
        pub exceeded: Option<TimeShare>,
        /// Rain (ITU-R P.618-13).
        pub rain: Option<RainSpec>,
        /// Clouds (ITU-R P.840-8).
        pub cloud: Option<CloudSpec>,
        /// Oxygen and water vapour (ITU-R P.676-12).
        pub gas: Option<GasSpec>,
        /// Scintillation (ITU-R P.618-13).
        pub scintillation: Option<ScintillationSpec>,
        /// Whether the atmosphere also radiates noise into the receiver: true for a receiver on the ground.
        pub noise: bool = false,
    }
}

fn check(spec: &AtmosphereSpec) -> Result<(), Fault> {
    // P.618-13 gives rain from 0.001 to 5 %, scintillation from 0.01 to 50 %.
    let bounds = match (&spec.rain, &spec.scintillation) {
        (None, None) => return Ok(()),
        (Some(_), None) => 0.001..=5.0,
        (None, Some(_)) => 0.01..=50.0,
        (Some(_), Some(_)) => 0.01..=5.0,
    };
    let allowed = format!("a share of the year from {} to {} %", bounds.start(), bounds.end());
    match spec.exceeded {
        None => Err(Fault::new("exceeded", "is missing", allowed)),
        Some(share) if !bounds.contains(&share.percent()) => {
            Err(Fault::new("exceeded", "is outside the range of the model", allowed))
        }
        Some(_) => Ok(()),
    }
}

impl AtmosphereSpec {
    /// Refuses a frequency that one of the models does not cover.
    ///
    /// # Errors
    /// Names the part.
    pub fn check_frequency(&self, frequency: Frequency) -> Result<(), Fault> {
        let parts = [
            ("rain", self.rain.is_some(), 1.0, 55.0),
            ("cloud", self.cloud.is_some(), 0.0, 200.0),
            ("gas", self.gas.is_some(), 1.0, 350.0),
            ("scintillation", self.scintillation.is_some(), 4.0, 55.0),
        ];
        let ghz = frequency.ghz();
        for (field, given, least, most) in parts {
            if given && !(least..=most).contains(&ghz) {
                return Err(Fault::new(
                    field,
                    format!("does not cover a `frequency` of {ghz} GHz"),
                    format!("a `frequency` from {least} to {most} GHz, or no `{field}`"),
                ));
            }
        }
        Ok(())
    }
}

/// A path from a terminal to a satellite, as the atmosphere meets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Elevation of the satellite in degrees.
    pub elevation_deg: f64,
    /// Latitude of the terminal in degrees.
    pub latitude_deg: f64,
    /// Altitude of the terminal above sea level in km.
    pub altitude_km: f64,
}

/// An atmosphere at one frequency.
#[derive(Clone, Debug)]
pub struct Attenuation {
    percent: f64,
    rain: Option<Rain>,
    cloud: Option<Cloud>,
    gas: Option<Gas>,
    scintillation: Option<Scintillation>,
    radiates: bool,
}

impl Attenuation {
    /// The atmosphere that `spec` describes, at `frequency`.
    ///
    /// # Errors
    /// If a model does not cover the frequency, or the share of the year.
    pub fn new(spec: &AtmosphereSpec, frequency: Frequency) -> Result<Self, Fault> {
        check(spec)?;
        spec.check_frequency(frequency)?;
        Ok(Self {
            percent: spec.exceeded.map_or(100.0, TimeShare::percent),
            rain: spec.rain.as_ref().map(|rain| Rain::new(rain, frequency)),
            cloud: spec.cloud.as_ref().map(|cloud| Cloud::new(cloud, frequency)),
            gas: spec.gas.as_ref().map(|gas| Gas::new(gas, frequency)),
            scintillation: spec.scintillation.as_ref().map(|it| Scintillation::new(it, frequency)),
            radiates: spec.noise,
        })
    }

    /// Attenuation in dB by gases, rain and clouds together, and by scintillation.
    fn parts(&self, path: &Path) -> Parts {
        Parts {
            gas: self.gas.as_ref().map_or(0.0, |gas| gas.attenuation_db(path)),
            rain: self.rain.as_ref().map_or(0.0, |rain| rain.attenuation_db(path, self.percent)),
            cloud: self.cloud.as_ref().map_or(0.0, |cloud| cloud.attenuation_db(path)),
            scintillation: self
                .scintillation
                .as_ref()
                .map_or(0.0, |it| it.attenuation_db(path, self.percent)),
        }
    }

    /// The effect on a signal along `path`; the loss is infinite at and below the horizon if there is any atmosphere.
    pub fn effect(&self, path: &Path) -> Effect {
        let parts = self.parts(path);
        // Scintillation redirects power and absorbs none.
        let noise_k = if self.radiates {
            MEDIUM_K * (1.0 - ratio(-(parts.gas + parts.rain + parts.cloud)))
        } else {
            0.0
        };
        Effect { loss_db: parts.total_db(), noise_k }
    }
}

/// The effect of an atmosphere on a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effect {
    /// Total attenuation in dB.
    pub loss_db: f64,
    /// Noise in K that it adds at a receiver on the ground; 0 unless the specification says so.
    pub noise_k: f64,
}

/// Attenuations in dB by cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// By gases.
    pub gas: f64,
    /// By rain.
    pub rain: f64,
    /// By clouds.
    pub cloud: f64,
    /// By scintillation.
    pub scintillation: f64,
}

impl Parts {
    /// Their combination (P.618-13, section 2.5).
    pub fn total_db(&self) -> f64 {
        let water = self.rain + self.cloud;
        self.gas + (water * water + self.scintillation * self.scintillation).sqrt()
    }
}

#[cfg(test)]
mod tests;
