//! The links of a scenario that names a folder of Hypatia.

use leobench_base::spec::{Fault, nearest};
use leobench_base::{RngTree, SimDuration};
use leobench_orbit::hypatia::Network;
use leobench_orbit::{Angle, Constellation, Ephemeris, HandoverCost, SatelliteId, Track, View};

use super::super::forwarded::{Ends, ForwardedLinks};
use super::super::stations::{EarthStation, EarthStations};
use super::super::{Kind, SatelliteLinks};
use super::{Passage, links, passages, path, subflow, transit};
use crate::scenario::{ConstellationSpec, Forwarded, LinkSpec, Scenario, hypatia_fault};

/// The links whose packets follow a forwarding state.
pub(super) fn build(
    scenario: &Scenario,
    spec: &ConstellationSpec,
    forwarded: Forwarded,
    rng: &RngTree,
) -> Result<SatelliteLinks, Fault> {
    let Forwarded { network, states, length } = forwarded;
    let into = offset(scenario, spec, &network, length)?;
    let constellation = Constellation::of_satellites(network.satellites.clone());
    let names = constellation.satellites().iter().map(|one| one.name.clone()).collect();
    let wrong = |problem: String| hypatia_fault(problem).within("constellation.satellites");
    let ephemeris = Ephemeris::new(constellation, spec.start.0, spec.knots);
    let ephemeris = ephemeris.map_err(|error| wrong(error.to_string()))?;
    let stations = stations(scenario, &network, &ephemeris)?;
    let passages = passages(scenario, &stations)?;
    let (mut paths, mut ends) = (Vec::new(), Vec::new());
    for passage in &passages {
        subflow(passage, false)?;
        paths.push(path(scenario, &stations, passage, rng)?);
        ends.push(ends_of(spec, &network, passage, rng)?);
    }
    let pairs: Vec<_> = ends.iter().map(|ends: &Ends| ends.stations).collect();
    let satellites = ForwardedLinks::new(network, states, ephemeris, into, ends).map_err(wrong)?;
    let kind = if spec.has_hops() {
        passages.iter().try_for_each(transit::refuse)?;
        let state = satellites.into_state();
        let links = transit::by_state(state, &stations, &passages, &pairs).map_err(wrong)?;
        Kind::Transit(Box::new(links))
    } else {
        Kind::Forwarded(Box::new(satellites))
    };
    Ok(SatelliteLinks { names, ..links(spec, kind, paths, stations) })
}

/// How far into the forwarding state the run starts; it lasts as long as the run, if its end is known.
fn offset(
    scenario: &Scenario,
    spec: &ConstellationSpec,
    network: &Network,
    length: SimDuration,
) -> Result<SimDuration, Fault> {
    let (start, epoch) = (spec.start.0, network.epoch);
    let into = start.seconds_since(epoch);
    if !(0.0..length.as_secs_f64()).contains(&into) {
        let allowed =
            format!("an instant in the {length} from {epoch}, which the forwarding state covers");
        return Err(Fault::new("constellation.start", "is outside the forwarding state", allowed));
    }
    let into = SimDuration::from_secs_f64(into);
    let Some(longest) = scenario.spec.end() else { return Ok(into) };
    if into + longest > length {
        let problem =
            format!("ends {into} + {longest} after the start of a forwarding state of {length}");
        return Err(Fault::new("duration", problem, format!("at most {}", length - into)));
    }
    Ok(into)
}

/// The stations that links use.
fn stations(
    scenario: &Scenario,
    network: &Network,
    ephemeris: &Ephemeris,
) -> Result<EarthStations, Fault> {
    let mut stations = EarthStations::default();
    for (name, link) in &scenario.spec.links {
        let Some((terminal, gateway)) = stations_of(name, link)? else { continue };
        let table = format!("links.{name}.constellation");
        let terminal = station(network, format!("{table}.terminal"), terminal)?;
        let gateway = station(network, format!("{table}.gateways[0]"), gateway)?;
        if terminal == gateway {
            let problem = "is also the station of the terminal";
            return Err(Fault::new(format!("{table}.gateways[0]"), problem, "another station"));
        }
        for (number, list) in
            [(terminal, &mut stations.terminals), (gateway, &mut stations.gateways)]
        {
            let place = place(network, ephemeris, number)?;
            if list.iter().all(|other| other.name != place.name) {
                list.push(place);
            }
        }
    }
    Ok(stations)
}

/// The stations that a link through the constellation names.
fn stations_of<'a>(name: &str, link: &'a LinkSpec) -> Result<Option<(&'a str, &'a str)>, Fault> {
    let Some(spec) = &link.constellation else { return Ok(None) };
    let table = format!("links.{name}.constellation");
    if spec.policy.is_some() {
        let problem = "is given together with a folder of Hypatia";
        let allowed = "no `policy`, because the forwarding state selects the satellites";
        return Err(Fault::new(format!("{table}.policy"), problem, allowed));
    }
    match spec.gateways.as_deref() {
        Some([gateway]) => Ok(Some((&spec.terminal, gateway))),
        other => {
            let problem = match other {
                None => "is required with a folder of Hypatia but missing".to_owned(),
                Some(names) => format!("names {} stations", names.len()),
            };
            let allowed = "one ground station, at which the link ends";
            Err(Fault::new(format!("{table}.gateways"), problem, allowed))
        }
    }
}

/// The number of a ground station.
fn station(network: &Network, field: String, name: &str) -> Result<usize, Fault> {
    network.stations.iter().position(|station| station.name == name).ok_or_else(|| {
        let names: Vec<_> = network.stations.iter().map(|one| one.name.as_str()).collect();
        let hint = nearest(name, &names).map(|name| format!("; did you mean `{name}`?"));
        let hint = hint.unwrap_or_default();
        Fault::new(field, "no such station", format!("a name in ground_stations.txt{hint}"))
    })
}

fn place(network: &Network, ephemeris: &Ephemeris, number: usize) -> Result<EarthStation, Fault> {
    let station = &network.stations[number];
    let track = Track::fixed(&station.position);
    let track = track.map_err(|error| hypatia_fault(error).within("constellation.satellites"))?;
    let height = ephemeris.position(SatelliteId::from(0));
    let lowest = ForwardedLinks::lowest_elevation(network, &station.position, height);
    let view = View::above(Angle::from_degrees(lowest));
    let (name, onwards) = (station.name.clone(), SimDuration::ZERO);
    Ok(EarthStation { name, track, view, apart: false, cell: None, onwards })
}

fn ends_of(
    spec: &ConstellationSpec,
    network: &Network,
    passage: &Passage<'_>,
    rng: &RngTree,
) -> Result<Ends, Fault> {
    let (terminal, gateway) =
        stations_of(passage.name, passage.link)?.expect("it leads through the constellation");
    let mut stations = [0; 2];
    for (number, name) in stations.iter_mut().zip([terminal, gateway]) {
        *number = station(network, format!("links.{}.constellation", passage.name), name)?;
    }
    let cost = HandoverCost { outage: spec.outage.clone(), overlap: spec.overlap.clone() };
    let rng = rng.child("links").child(passage.name).child("outage").rng();
    Ok(Ends::new(stations, passage.gateways[0], cost, rng))
}
