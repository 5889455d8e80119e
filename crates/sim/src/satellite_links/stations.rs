//! The terminals and gateways of a scenario.

use std::path::Path;

use leobench_base::quantity::{Distance, Elevation};
use leobench_base::spec::{Fault, cut, nearest, quoted};
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::motion::{GroundStation, ground_stations};
use leobench_orbit::{Angle, Observer, Track, View};

use crate::scenario::{ConstellationSpec, text_of};

/// A terminal or a gateway: an earth station in the terms of the ITU.
#[derive(Clone, Debug)]
pub struct EarthStation {
    /// Its name.
    pub name: String,
    /// Its position over time.
    pub track: Track,
    /// The part of the sky that it uses.
    pub view: View,
    /// Whether the links of a terminal choose different satellites where they can.
    pub apart: bool,
    /// The cell of a terminal, if others share it.
    pub cell: Option<String>,
    /// Delay over land from a gateway to the end of a link.
    pub onwards: SimDuration,
}

impl EarthStation {
    /// Latitude in degrees and altitude in km at the start of the run, as the atmosphere needs them.
    pub(super) fn air(&self) -> (f64, f64) {
        let place = self.track.place(SimTime::ZERO);
        (place.latitude.degrees(), place.altitude_m.max(0.0) / 1e3)
    }

    pub(super) fn observer(&self) -> Observer {
        Observer::new(self.track.clone(), self.view.clone())
    }
}

/// Terminals and gateways by name.
#[derive(Clone, Debug, Default)]
pub struct EarthStations {
    /// Terminals in the order of the scenario.
    pub terminals: Vec<EarthStation>,
    /// Gateways in the order of the scenario, those of a list last.
    pub gateways: Vec<EarthStation>,
}

/// The stations of a scenario; terminals use satellites from an elevation of `lowest` degrees on.
pub(super) fn stations_of(
    folder: &Path,
    spec: &ConstellationSpec,
    lowest: f64,
) -> Result<EarthStations, Fault> {
    let mut all = EarthStations::default();
    let longest_m = spec.longest_range.map_or(f64::INFINITY, Distance::m);
    for (name, terminal) in &spec.terminals {
        let at = |fault: Fault| fault.within(&format!("constellation.terminals.{name}"));
        let track = terminal.track(folder, spec.start.0).map_err(at)?;
        let view = terminal.view(Angle::from_degrees(lowest)).map_err(at)?;
        let view = View { longest_m, ..view };
        let onwards = SimDuration::ZERO;
        let (name, apart, cell) = (name.clone(), terminal.apart, terminal.cell.clone());
        all.terminals.push(EarthStation { name, track, view, apart, cell, onwards });
    }
    let lowest = spec.gateway_elevation.map_or(lowest, Elevation::degrees);
    let view = View { longest_m, ..View::above(Angle::from_degrees(lowest)) };
    for (name, gateway) in &spec.gateways {
        let at = |fault: Fault| fault.within(&format!("constellation.gateways.{name}"));
        let track = gateway.track().map_err(at)?;
        let (name, view, onwards) = (name.clone(), view.clone(), gateway.delay);
        all.gateways.push(EarthStation { name, track, view, apart: false, cell: None, onwards });
    }
    let Some(file) = &spec.gateway_list else { return Ok(all) };
    let at = |fault: Fault| fault.within("constellation");
    let allowed = "a list of gateways as CSV";
    let text = text_of(folder, "gateway_list", file).map_err(at)?;
    let listed = ground_stations::read(file, &text)
        .map_err(|error| at(Fault::new("gateway_list", error.to_string(), allowed)))?;
    for GroundStation { name, position } in listed {
        if all.gateways.iter().any(|gateway| gateway.name == name) {
            let problem =
                format!("{}: the gateway {} is also in the scenario", cut(file), quoted(&name));
            return Err(at(Fault::new("gateway_list", problem, allowed)));
        }
        let track = Track::fixed(&position)
            .map_err(|problem| at(Fault::new("gateway_list", problem, allowed)))?;
        let (view, onwards) = (view.clone(), SimDuration::ZERO);
        all.gateways.push(EarthStation { name, track, view, apart: false, cell: None, onwards });
    }
    Ok(all)
}

/// The number of a name among stations, or a fault with the nearest one.
pub(super) fn find(
    field: String,
    what: &str,
    name: &str,
    among: &[EarthStation],
) -> Result<usize, Fault> {
    among.iter().position(|station| station.name == name).ok_or_else(|| {
        let names: Vec<_> = among.iter().map(|station| station.name.as_str()).collect();
        let hint = nearest(name, &names).map(|name| format!("; did you mean `{name}`?"));
        let listed =
            if names.is_empty() { "none".into() } else { format!("`{}`", names.join("`, `")) };
        let allowed = format!("{listed}{}", hint.unwrap_or_default());
        Fault::new(field, format!("no such {what}"), allowed)
    })
}
