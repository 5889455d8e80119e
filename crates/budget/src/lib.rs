//! Link budgets: from a range and an elevation to a rate.
//!
//! All of it is a pure function of numbers that the caller hands in, except the fading processes, which are handed the
//! time. The crate knows neither orbits nor links: whoever knows the geometry fills in a [`Geometry`], asks a
//! [`Budget`] for a [`Reading`], and the rate model for the rate.
//!
//! Angles are in degrees and levels in decibels, as the recommendations have them. Scenarios write every quantity with
//! its unit ([`quantity`](leobench_base::quantity)).
//!
//! ```
//! use leobench_base::spec::{At, Spec};
//! use leobench_base::{RngTree, SimDuration, SimTime};
//! use leobench_budget::{Budget, BudgetSpec, Cell, CellSpec, FadingSpec, Geometry, Path, Pointing};
//!
//! # fn read<T: Spec>(json: &str) -> T { T::read(&serde_json::from_str(json).unwrap(), &At::ROOT).unwrap() }
//! let budget = Budget::new(read::<BudgetSpec>(r#"{
//!     "frequency": "12 GHz", "bandwidth": "240 MHz",
//!     "transmitter": {"eirp": "36 dBW"},
//!     "receiver": {"antenna": {"kind": "phased", "gain": "33 dBi"}, "noise": {"temperature": "250 K"}},
//!     "atmosphere": {"exceeded": "0.1 %", "rain": {"rate": "30 mm/h", "zero_isotherm": "2.1 km"}, "gas": {}, "noise": true},
//!     "rate": {"kind": "modcod", "table": "dvb-s2x", "margin": "1 dB", "hysteresis": "0.5 dB"}
//! }"#)).unwrap();
//! let shadowing: FadingSpec = read(r#"{"kind": "log_normal", "deviation": "1 dB", "correlation": "10 s"}"#);
//! let mut shadowing = shadowing.model().build(&RngTree::new(7).child("links/downlink/fading"));
//! let cell = Cell::new(&read::<CellSpec>(CELL));
//! # const CELL: &str = <CellSpec as leobench_base::spec::TableSpec>::EXAMPLE;
//!
//! let mut before = None;
//! for second in 0..60 {
//!     let now = SimTime::ZERO + SimDuration::from_secs(second);
//!     // A satellite that rises: whoever knows the orbit fills this in.
//!     let geometry = Geometry {
//!         range_m: 1_120e3 - 5e3 * second as f64,
//!         path: Some(Path { elevation_deg: 25.0 + 0.3 * second as f64, latitude_deg: 47.6, altitude_km: 0.1 }),
//!         transmit: Pointing::default(),
//!         receive: Pointing { off_axis_deg: 0.0, scan_deg: 50.0 },
//!     };
//!     let reading = budget.at(&geometry, shadowing.advance(now));
//!     let choice = budget.rate(&reading, before);
//!     before = Some(choice);
//!     assert!(choice.rate.min(cell.share(now)) > leobench_base::BitRate::ZERO);
//! }
//! ```

#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests expect exact numbers where they are exact")
)]

pub mod antenna;
pub mod atmosphere;
pub mod cell;
pub mod fading;
pub mod free_space;
pub mod link;
pub mod noise;
pub mod rate;
pub mod receiver;
#[cfg(test)]
mod testing;
pub mod transmitter;

pub use antenna::{AntennaModel, AntennaSpec, Pointing};
pub use atmosphere::{AtmosphereSpec, Attenuation, Effect, Path};
pub use cell::{Cell, CellSpec};
pub use fading::{Fading, FadingModel, FadingSpec};
pub use link::{Budget, BudgetSpec, Geometry, Reading};
pub use noise::{NoiseModel, NoiseSpec};
pub use rate::{Choice, RateModel, RateSpec};
pub use receiver::{ReceiverModel, ReceiverSpec};
pub use transmitter::{TransmitterModel, TransmitterSpec};
