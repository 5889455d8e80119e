//! The rows of the tables of `leobench orbit`.

use serde::Serialize;

/// Passes, handovers and link states of a constellation during a run.
#[derive(Debug, Default, Serialize)]
pub struct OrbitReport {
    /// The instant at which the run starts.
    pub start: String,
    /// How long it takes, in seconds.
    pub duration_s: f64,
    /// Number of satellites; none of a chain, which has no end.
    pub satellites: Option<usize>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Terminals.
    pub terminals: Vec<Station>,
    /// Gateways.
    pub gateways: Vec<Station>,
    /// Passes over each terminal, by terminal, then by set.
    pub passes: Vec<PassRow>,
    /// Changes of serving satellites.
    pub handovers: Vec<HandoverRow>,
    /// States of the links over time.
    pub samples: Vec<SampleRow>,
    /// The choice at each slot of 15 s.
    pub slots: Vec<SlotRow>,
    /// Routes of the links over satellites, on change; none of a chain.
    pub routes: Vec<RouteRow>,
}

/// A place on the ground.
#[derive(Debug, Serialize)]
pub struct Station {
    /// Its name.
    pub name: String,
    /// In degrees.
    pub latitude: f64,
    /// In degrees.
    pub longitude: f64,
    /// Lowest elevation at which it uses satellites, in degrees.
    pub lowest_deg: f64,
}

/// A pass of a satellite over a terminal.
#[derive(Debug, Serialize)]
pub struct PassRow {
    /// The terminal.
    pub terminal: String,
    /// The satellite.
    pub satellite: String,
    /// When it comes into use, in seconds of the run.
    pub rise_s: f64,
    /// When it goes out of use.
    pub set_s: f64,
    /// Highest elevation, in degrees.
    pub highest_deg: f64,
    /// Shortest distance, in km.
    pub closest_km: f64,
}

/// A change of the serving satellite of a link.
#[derive(Debug, Serialize)]
pub struct HandoverRow {
    /// In seconds of the run.
    pub t_s: f64,
    /// The link.
    pub link: String,
    /// The satellite before; none at first, and after a gap.
    pub from: Option<String>,
    /// The satellite from then on; none if there is none.
    pub to: Option<String>,
    /// Time in which packets wait, in milliseconds.
    pub outage_ms: f64,
}

/// State of a link at an instant.
#[derive(Debug, Serialize)]
pub struct SampleRow {
    /// In seconds of the run.
    pub t_s: f64,
    /// The link.
    pub link: String,
    /// The serving satellite; without one, the rest is missing.
    pub satellite: Option<String>,
    /// The gateway.
    pub gateway: Option<String>,
    /// Azimuth in degrees from north over east.
    pub azimuth_deg: Option<f64>,
    /// Elevation in degrees.
    pub elevation_deg: Option<f64>,
    /// Distance in km.
    pub range_km: Option<f64>,
    /// Links between satellites on the way.
    pub hops: Option<usize>,
    /// Delay from the terminal in milliseconds, with that of a fit, without the link's own.
    pub delay_ms: Option<f64>,
    /// Rate from the terminal, in Mbit/s.
    pub uplink_mbps: f64,
    /// Rate to the terminal, in Mbit/s.
    pub downlink_mbps: f64,
    /// Probability of loss from the terminal by a fit, 1 in an outage; missing without a fit.
    pub uplink_loss: Option<f64>,
    /// Probability of loss to the terminal by a fit.
    pub downlink_loss: Option<f64>,
    /// Carrier over noise from the terminal, in dB.
    pub uplink_db: Option<f64>,
    /// Carrier over noise to the terminal, in dB.
    pub downlink_db: Option<f64>,
    /// Latitude below the satellite, in degrees.
    pub latitude: Option<f64>,
    /// Longitude below the satellite, in degrees.
    pub longitude: Option<f64>,
}

/// The choice of a link at a slot of Starlink's grid.
#[derive(Debug, Serialize)]
pub struct SlotRow {
    /// In seconds of the run.
    pub t_s: f64,
    /// The link.
    pub link: String,
    /// Satellites that the terminal sees.
    pub candidates: usize,
    /// Whether the highest of them serves.
    pub highest: bool,
    /// Whether the same satellite serves as at the slot before; missing at the first.
    pub kept: Option<bool>,
    /// Angle between the serving satellite and the arc of the geostationary ones, in degrees.
    pub separation_deg: f64,
}

/// Route of a link's packets in one direction from a time on.
#[derive(Debug, Serialize)]
pub struct RouteRow {
    /// In seconds of the run.
    pub t_s: f64,
    /// The link.
    pub link: String,
    /// `there` (from the terminal) or `back`.
    pub direction: &'static str,
    /// Station where packets go up; without a way, the rest is missing.
    pub from_station: Option<String>,
    /// Names of the satellites in order of travel, with `->` between.
    pub satellites: Option<String>,
    /// Station where packets come down.
    pub to_station: Option<String>,
    /// Links between satellites on the way.
    pub hops: Option<usize>,
    /// Delay at that time in milliseconds, without the link's own.
    pub delay_ms: Option<f64>,
}
