//! Places of terminals and gateways, and the part of the sky that they use.

use std::path::Path;

use leobench_base::quantity::{Altitude, Angle, Bearing, Elevation, Latitude, Longitude};
use leobench_base::spec::{Fault, UpTo};
use leobench_base::{BitRate, SimDuration};
use leobench_link::QueueSpec;
use leobench_orbit::visibility::{Dish, Obstructions};
use leobench_orbit::{Angle as Turn, Epoch, Geodetic, Track, View};

use super::default_queue;
use super::satellites::text_of;

leobench_base::spec! {
    /// A terminal on the ground, on the water or in the air.
    pub struct TerminalSpec check = TerminalSpec::check {
        /// Latitude, north positive.
        pub latitude: Option<Latitude>,
        /// Longitude, east positive.
        pub longitude: Option<Longitude>,
        /// Height above the ellipsoid WGS84.
        pub altitude: Altitude = Altitude::constant(0.0),
        /// A file with places over time instead of one place: GPX, or CSV with `time` (seconds of the run or UTC), `latitude`,
        /// `longitude` and, if needed, `altitude`.
        pub track: Option<String>,
        /// Lowest elevation at which it uses satellites; that of the constellation unless given.
        pub lowest_elevation: Option<Elevation>,
        /// A dish that is tilted and reaches a part of the sky.
        pub dish: Option<DishSpec>,
        /// Lowest free elevations over equal sectors of azimuth, from north over east.
        pub obstructions: Vec<Elevation> = Vec::new(),
        /// Smallest angle to the arc of the geostationary satellites.
        pub arc: Option<Angle>,
        /// Whether each of its links chooses among the satellites that its other links do not use, if it sees any.
        pub apart: bool = false,
        /// Name of the cell whose terminals share a `beam`; without, it has one of its own.
        pub cell: Option<String>,
    }
}

leobench_base::spec! {
    /// A dish with a limited reach.
    pub struct DishSpec {
        /// Azimuth of its normal, from north over east.
        pub azimuth: Bearing,
        /// Elevation of its normal.
        pub elevation: Elevation,
        /// Largest angle from its normal.
        pub reach: Angle,
    }
}

leobench_base::spec! {
    /// A gateway.
    pub struct GatewaySpec {
        /// Latitude, north positive.
        pub latitude: Latitude,
        /// Longitude, east positive.
        pub longitude: Longitude,
        /// Height above the ellipsoid WGS84.
        pub altitude: Altitude = Altitude::constant(0.0),
        /// Delay over land from here to the node at the end of the link.
        pub delay: SimDuration [UpTo::DELAY] = SimDuration::ZERO,
        /// Transmitters and queues on the way over land.
        pub backhaul: Option<BackhaulSpec>,
    }
}

leobench_base::spec! {
    /// The way over land between a gateway and the node at the end of its links, shared by all of them.
    pub struct BackhaulSpec {
        /// Rate in each direction.
        pub rate: BitRate,
        /// Queue discipline at both ends.
        pub queue: QueueSpec = default_queue(),
    }
}

impl TerminalSpec {
    /// A terminal at a place that sees the whole sky.
    pub fn at(latitude: Latitude, longitude: Longitude, altitude: Altitude) -> Self {
        Self {
            latitude: Some(latitude),
            longitude: Some(longitude),
            altitude,
            track: None,
            lowest_elevation: None,
            dish: None,
            obstructions: Vec::new(),
            arc: None,
            apart: false,
            cell: None,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        let placed = self.latitude.is_some() || self.longitude.is_some();
        let either = "`latitude` and `longitude`, or a `track`";
        match &self.track {
            Some(_) if placed || self.altitude.metres() != 0.0 => {
                Err(Fault::new("track", "is given together with a place", either))
            }
            None if self.latitude.is_none() => {
                Err(Fault::new("latitude", "is required but missing", either))
            }
            None if self.longitude.is_none() => {
                Err(Fault::new("longitude", "is required but missing", either))
            }
            _ => Ok(()),
        }
    }

    /// Returns its position over time.
    ///
    /// # Errors
    /// If it is below the ground, or its track cannot be used.
    pub fn track(&self, folder: &Path, start: Epoch) -> Result<Track, Fault> {
        if let Some(name) = &self.track {
            let text = text_of(folder, "track", name)?;
            return Track::read(name, &text, start)
                .map_err(|error| Fault::new("track", error.to_string(), "a track over time"));
        }
        let degrees =
            (self.latitude.map(Latitude::degrees), self.longitude.map(Longitude::degrees));
        let (Some(latitude), Some(longitude)) = degrees else {
            return Err(Fault::new("latitude", "is required but missing", "a latitude"));
        };
        place(latitude, longitude, self.altitude)
    }

    /// The part of the sky that it uses.
    ///
    /// # Errors
    /// If an obstruction is higher than the zenith.
    pub fn view(&self, lowest: Turn) -> Result<View, Fault> {
        let sectors: Vec<_> = self.obstructions.iter().map(|angle| angle.degrees()).collect();
        let obstructions = Obstructions::new(&sectors)
            .map_err(|problem| Fault::new("obstructions", problem, "elevations to 90 deg"))?;
        let turn = |angle: Angle| Turn::from_degrees(angle.degrees());
        let height = |angle: Elevation| Turn::from_degrees(angle.degrees());
        let dish = self.dish.as_ref().map(|dish| Dish {
            azimuth: Turn::from_degrees(dish.azimuth.degrees()),
            elevation: height(dish.elevation),
            half_angle: turn(dish.reach),
        });
        let lowest = self.lowest_elevation.map_or(lowest, height);
        Ok(View { dish, obstructions, arc: self.arc.map(turn), ..View::above(lowest) })
    }
}

impl GatewaySpec {
    /// A gateway at a place, at the end of its links.
    pub fn at(latitude: Latitude, longitude: Longitude, altitude: Altitude) -> Self {
        Self { latitude, longitude, altitude, delay: SimDuration::ZERO, backhaul: None }
    }

    /// Returns its fixed position, as a track.
    ///
    /// # Errors
    /// If it is below the ground.
    pub fn track(&self) -> Result<Track, Fault> {
        place(self.latitude.degrees(), self.longitude.degrees(), self.altitude)
    }
}

fn place(latitude: f64, longitude: f64, altitude: Altitude) -> Result<Track, Fault> {
    let place = Geodetic::from_degrees(latitude, longitude, altitude.metres());
    Track::fixed(&place)
        .map_err(|problem| Fault::new("altitude", problem, "a place on the ground or in the air"))
}
