//! The budget of a link: from geometry to carrier over noise.

use leobench_base::decibel::{db, ratio};
use leobench_base::quantity::{Decibels, Frequency, Level};
use leobench_base::spec::Fault;

use crate::antenna::Pointing;
use crate::atmosphere::{AtmosphereSpec, Attenuation, Effect, Path};
use crate::free_space::{BOLTZMANN_J_PER_K, free_space_loss_db};
use crate::rate::{Choice, RateSpec};
use crate::receiver::ReceiverSpec;
use crate::transmitter::TransmitterSpec;

leobench_base::spec! {
    /// A radio link in one direction: its budget, and the rate that follows.
    pub struct BudgetSpec
        example = r#"{"frequency": "12 GHz", "bandwidth": "240 MHz", "transmitter": {"eirp": "36 dBW"}, "receiver": {"g_over_t": "9.2 dB/K"}}"#
        check = check
    {
        /// Frequency of the carrier.
        pub frequency: Frequency,
        /// Bandwidth that the carrier occupies.
        pub bandwidth: Frequency,
        /// Transmitter.
        pub transmitter: TransmitterSpec,
        /// Receiver.
        pub receiver: ReceiverSpec,
        /// Losses that change neither with time nor with place: pointing, polarisation, implementation.
        pub losses: Decibels = Decibels::constant(0.0),
        /// Carrier over interference from other beams and systems; no interference by default.
        pub interference: Option<Level>,
        /// Atmosphere; no attenuation by default.
        pub atmosphere: Option<AtmosphereSpec>,
        /// Rate for a carrier over noise.
        pub rate: RateSpec = RateSpec::default(),
    }
}

fn check(spec: &BudgetSpec) -> Result<(), Fault> {
    let Some(atmosphere) = &spec.atmosphere else { return Ok(()) };
    if atmosphere.noise && !spec.receiver.model().takes_noise() {
        return Err(Fault::new(
            "atmosphere.noise",
            "adds to a noise temperature, but the `receiver` has only `g_over_t`",
            "false, or a `receiver` with `antenna` and `noise`",
        ));
    }
    atmosphere.check_frequency(spec.frequency).map_err(|fault| fault.within("atmosphere"))
}

/// The relative position and pointing of both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Distance in m, above zero.
    pub range_m: f64,
    /// The path through the atmosphere; `None` for a link in space.
    pub path: Option<Path>,
    /// Direction of the receiver as the transmitter sees it.
    pub transmit: Pointing,
    /// Direction of the transmitter as the receiver sees it.
    pub receive: Pointing,
}

/// A budget line by line, in decibels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Equivalent isotropic radiated power towards the receiver, in dBW.
    pub eirp_dbw: f64,
    /// Free-space path loss in dB.
    pub free_space_db: f64,
    /// Attenuation by the atmosphere in dB.
    pub atmosphere_db: f64,
    /// Figure of merit of the receiver in dB/K.
    pub figure_of_merit: f64,
    /// Carrier over the density of noise and interference, in dB Hz.
    pub carrier_to_density: f64,
    /// Carrier over noise and interference within the bandwidth, in dB.
    pub carrier_to_noise: f64,
}

/// The budget of one link.
#[derive(Clone, Debug)]
pub struct Budget {
    spec: BudgetSpec,
    atmosphere: Option<Attenuation>,
}

impl Budget {
    /// The budget that `spec` describes.
    ///
    /// # Errors
    /// If its atmosphere does not cover its frequency.
    pub fn new(spec: BudgetSpec) -> Result<Self, Fault> {
        check(&spec)?;
        let atmosphere = match &spec.atmosphere {
            Some(atmosphere) => Some(Attenuation::new(atmosphere, spec.frequency)?),
            None => None,
        };
        Ok(Self { spec, atmosphere })
    }

    /// The specification.
    pub const fn spec(&self) -> &BudgetSpec {
        &self.spec
    }

    /// The budget at `geometry`, with `fading_db` of gain (below zero for a fade) from the processes of
    /// [`fading`](crate::fading).
    ///
    /// C/N0 = EIRP - losses + G/T - 10 log k; in linear terms, C/N is equation 2 of Yang et al. 2024 ("Mobility-Aware
    /// Congestion Control for Multipath QUIC in Integrated Terrestrial Satellite Networks").
    pub fn at(&self, geometry: &Geometry, fading_db: f64) -> Reading {
        let spec = &self.spec;
        let over_path = self.atmosphere.as_ref().zip(geometry.path.as_ref());
        let air = over_path.map_or_else(Effect::default, |(air, path)| air.effect(path));
        let eirp_dbw = spec.transmitter.model().eirp_dbw(spec.frequency, geometry.transmit);
        let receiver = spec.receiver.model();
        let figure_of_merit =
            receiver.figure_of_merit(spec.frequency, geometry.receive, air.noise_k);
        let free_space_db = free_space_loss_db(geometry.range_m, spec.frequency.hz());
        let thermal =
            eirp_dbw - free_space_db - air.loss_db - spec.losses.db() + figure_of_merit + fading_db
                - db(BOLTZMANN_J_PER_K);
        let bandwidth_db = db(spec.bandwidth.hz());
        let carrier_to_density = match spec.interference {
            // A fade that weakens the carrier weakens interference from the same satellite by as much.
            Some(level) => -db(ratio(-thermal) + ratio(-(level.db() + bandwidth_db))),
            None => thermal,
        };
        Reading {
            eirp_dbw,
            free_space_db,
            atmosphere_db: air.loss_db,
            figure_of_merit,
            carrier_to_density,
            carrier_to_noise: carrier_to_density - bandwidth_db,
        }
    }

    /// The rate for a reading. `before` is the last choice on this link, which hysteresis may keep.
    pub fn rate(&self, reading: &Reading, before: Option<Choice>) -> Choice {
        let model = self.spec.rate.model();
        model.rate(reading.carrier_to_density, self.spec.bandwidth.hz(), before)
    }
}

#[cfg(test)]
mod tests;
