//! Both ends of a link: what one radiates, and what the other makes of it.

use leobench_base::decibel::{db, ratio};
use leobench_base::quantity::{
    Decibels, FigureOfMerit, Frequency, NoiseDensity, Power, Temperature,
};
use leobench_base::spec::Fault;

use crate::antenna::{AntennaSpec, Pointing};
use crate::free_space::{BOLTZMANN_J_PER_K, REFERENCE_K};

/// A transmitter specification.
pub trait TransmitterModel {
    /// Equivalent isotropic radiated power in dBW towards the other end.
    fn eirp_dbw(&self, frequency: Frequency, pointing: Pointing) -> f64;
}

leobench_base::kinds! {
    /// The transmitter models.
    pub enum TransmitterSpec as dyn TransmitterModel {
        Eirp(EirpSpec) = "eirp",
        Power(PowerSpec) = "power",
    }
}

leobench_base::spec! {
    /// A given equivalent isotropic radiated power, the same in all directions.
    pub struct EirpSpec example = r#"{"eirp": "36 dBW"}"# {
        /// Equivalent isotropic radiated power.
        pub eirp: Power,
    }
}

leobench_base::spec! {
    /// An amplifier and an antenna.
    pub struct PowerSpec example = r#"{"power": "5 W", "antenna": {"kind": "fixed", "gain": "33 dBi"}}"# {
        /// Power of the amplifier.
        pub power: Power,
        /// Antenna.
        pub antenna: AntennaSpec,
        /// Loss between the amplifier and the antenna.
        pub loss: Decibels = Decibels::constant(0.0),
    }
}

impl TransmitterModel for EirpSpec {
    fn eirp_dbw(&self, _frequency: Frequency, _pointing: Pointing) -> f64 {
        self.eirp.dbw()
    }
}

impl TransmitterModel for PowerSpec {
    fn eirp_dbw(&self, frequency: Frequency, pointing: Pointing) -> f64 {
        self.power.dbw() - self.loss.db() + self.antenna.model().gain_dbi(frequency, pointing)
    }
}

/// A receiver specification.
pub trait ReceiverModel {
    /// Figure of merit G/T in dB/K towards the other end, with `extra_k` of noise from the atmosphere.
    fn figure_of_merit(&self, frequency: Frequency, pointing: Pointing, extra_k: f64) -> f64;

    /// Whether noise from the atmosphere can be added.
    fn takes_noise(&self) -> bool {
        true
    }
}

leobench_base::kinds! {
    /// The receiver models.
    pub enum ReceiverSpec as dyn ReceiverModel {
        FigureOfMerit(FigureSpec) = "g_over_t",
        Antenna(ChainSpec) = "antenna",
    }
}

leobench_base::spec! {
    /// A given figure of merit, the same in all directions.
    pub struct FigureSpec example = r#"{"g_over_t": "9.2 dB/K"}"# {
        /// Figure of merit G/T.
        pub g_over_t: FigureOfMerit,
    }
}

leobench_base::spec! {
    /// An antenna and the noise of what follows it.
    pub struct ChainSpec
        example = r#"{"antenna": {"kind": "phased", "gain": "33 dBi"}, "noise": {"temperature": "250 K"}}"#
    {
        /// Antenna.
        pub antenna: AntennaSpec,
        /// Noise of the system, referred to the antenna's terminals.
        pub noise: NoiseSpec,
    }
}

impl ReceiverModel for FigureSpec {
    fn figure_of_merit(&self, _frequency: Frequency, _pointing: Pointing, _extra_k: f64) -> f64 {
        self.g_over_t.db_per_k()
    }

    fn takes_noise(&self) -> bool {
        false
    }
}

impl ReceiverModel for ChainSpec {
    fn figure_of_merit(&self, frequency: Frequency, pointing: Pointing, extra_k: f64) -> f64 {
        let kelvin = self.noise.model().system_k() + extra_k;
        self.antenna.model().gain_dbi(frequency, pointing) - db(kelvin)
    }
}

/// A noise specification.
pub trait NoiseModel {
    /// Noise temperature of the system in K under a clear sky.
    fn system_k(&self) -> f64;
}

leobench_base::kinds! {
    /// The noise models.
    pub enum NoiseSpec as dyn NoiseModel {
        Temperature(TemperatureSpec) = "temperature",
        Figure(NoiseFigureSpec) = "figure",
        Density(DensitySpec) = "density",
    }
}

leobench_base::spec! {
    /// The noise temperature of the whole system.
    pub struct TemperatureSpec example = r#"{"temperature": "250 K"}"# {
        /// Noise temperature.
        pub temperature: Temperature,
    }
}

leobench_base::spec! {
    /// A noise figure, and the temperature that the antenna sees: T = Ta + 290 K (F - 1) (ITU-R P.372).
    pub struct NoiseFigureSpec example = r#"{"figure": "1.2 dB", "antenna": "40 K"}"# check = NoiseFigureSpec::check {
        /// Noise figure F of the receiver.
        pub figure: Decibels,
        /// Noise temperature Ta of the antenna; 290 K for one that looks at the Earth.
        pub antenna: Temperature,
    }
}

leobench_base::spec! {
    /// A spectral density of noise power.
    pub struct DensitySpec example = r#"{"density": "1.6e-20 W/Hz"}"# {
        /// Power per hertz.
        pub density: NoiseDensity,
    }
}

impl NoiseFigureSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.figure.db() <= 100.0 {
            return Ok(());
        }
        Err(Fault::new("figure", "is out of range", "a noise figure from 0 to 100 dB"))
    }
}

impl NoiseModel for TemperatureSpec {
    fn system_k(&self) -> f64 {
        self.temperature.kelvin()
    }
}

impl NoiseModel for NoiseFigureSpec {
    fn system_k(&self) -> f64 {
        self.antenna.kelvin() + REFERENCE_K * (ratio(self.figure.db()) - 1.0)
    }
}

impl NoiseModel for DensitySpec {
    fn system_k(&self) -> f64 {
        ratio(self.density.dbw_per_hz()) / BOLTZMANN_J_PER_K
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_near, assert_refused, read};

    fn system_k(json: &str) -> f64 {
        read::<NoiseSpec>(json).unwrap().model().system_k()
    }

    /// A noise figure of 3.0103 dB doubles the noise of 290 K; kT at 290 K is -203.975 dBW/Hz (ITU-R P.372: -174 dBm/Hz).
    #[test]
    fn noise_is_that_of_its_definition() {
        assert_near("temperature", system_k(r#"{"temperature": "250 K"}"#), 250.0, 1e-9);
        assert_near(
            "figure",
            system_k(r#"{"figure": "3.0103 dB", "antenna": "290 K"}"#),
            580.0,
            1e-4,
        );
        assert_near("no figure", system_k(r#"{"figure": "0 dB", "antenna": "40 K"}"#), 40.0, 1e-9);
        assert_near("density", system_k(r#"{"density": "-203.975 dBW/Hz"}"#), 290.0, 0.02);
    }

    /// 3GPP TR 38.821, Table 6.1.1.1-3: a VSAT with 39.7 dBi, a noise figure of 1.2 dB and an antenna of 150 K has 15.9 dB/K.
    #[test]
    fn the_figure_of_merit_is_that_of_the_report() {
        let vsat = r#"{"antenna": {"kind": "fixed", "gain": "39.7 dBi"}, "noise": {"figure": "1.2 dB", "antenna": "150 K"}}"#;
        let receiver = read::<ReceiverSpec>(vsat).unwrap();
        let at = |extra| {
            receiver.model().figure_of_merit(
                Frequency::new(20e9).unwrap(),
                Pointing::default(),
                extra,
            )
        };
        assert_near("VSAT", at(0.0), 15.9, 0.05);
        // 150 + 290 (1.3183 - 1) = 242.3 K; as much again costs 3 dB.
        assert_near("under rain", at(242.3), at(0.0) - 3.0103, 1e-3);
    }

    /// 2 W are 3.01 dBW.
    #[test]
    fn the_radiated_power_is_the_sum() {
        let json =
            r#"{"power": "2 W", "antenna": {"kind": "fixed", "gain": "43.2 dBi"}, "loss": "1 dB"}"#;
        let eirp = |json| {
            let transmitter = read::<TransmitterSpec>(json).unwrap();
            transmitter.model().eirp_dbw(Frequency::new(30e9).unwrap(), Pointing::default())
        };
        assert_near("VSAT", eirp(json), 46.21 - 1.0, 0.01);
        assert_near("given", eirp(r#"{"eirp": "66 dBm"}"#), 36.0, 1e-9);
    }

    #[test]
    fn wrong_radios_are_refused() {
        assert_refused::<TransmitterSpec>(r#"{"eirp": "36 dB"}"#, "eirp", "unknown unit");
        assert_refused::<TransmitterSpec>(r#"{"watts": 3}"#, "kind", "missing");
        assert_refused::<ReceiverSpec>(r#"{"g_over_t": "9 dB"}"#, "g_over_t", "unknown unit");
        assert_refused::<NoiseSpec>(r#"{"temperature": "0 K"}"#, "temperature", "out of range");
        assert_refused::<NoiseSpec>(
            r#"{"figure": "200 dB", "antenna": "40 K"}"#,
            "figure",
            "out of range",
        );
    }
}
