//! Networks that Hypatia generates (Kassing et al. 2020, Exploring the Internet from Space): element sets, links between
//! satellites, ground stations, and the changes of the forwarding state over time. Nodes are numbered: satellites from 0, then
//! ground stations.

use std::collections::BTreeSet;

use leobench_base::spec::quoted;

use crate::elements::{self, MeanElements};
use crate::error::FileError;
use crate::frame::{Epoch, Geodetic};
use crate::isl::Isl;
pub use crate::isl::routing::table::Hop;
use crate::motion::{GroundStation, Satellite, SatelliteId};

/// Its positions are another library's: a link may be longer than its limit by this factor.
const SLACK: f64 = 1.01;

/// A file that a folder of Hypatia holds: its name, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// As messages name it.
    pub file: &'a str,
    /// The content of the file.
    pub text: &'a str,
}

/// Satellites, links and ground stations.
#[derive(Clone, Debug)]
pub struct Network {
    /// By number.
    pub satellites: Vec<Satellite>,
    /// The epoch of all element sets, at which the forwarding state starts.
    pub epoch: Epoch,
    /// Ground stations in order.
    pub stations: Vec<GroundStation>,
    /// The longest link between a station and a satellite, in metres.
    pub longest_gsl_m: f64,
    /// The longest link between two satellites, in metres.
    pub longest_isl_m: f64,
    links: BTreeSet<[u32; 2]>,
}

impl Network {
    /// Reads `tles.txt`, `isls.txt`, `ground_stations.txt` and `description.txt`.
    ///
    /// # Errors
    /// The first line that is wrong, and what would be right.
    pub fn read(
        tles: Text<'_>,
        isls: Text<'_>,
        stations: Text<'_>,
        description: Text<'_>,
    ) -> Result<Self, FileError> {
        let (satellites, epoch) = read_satellites(tles)?;
        let links = read_links(isls, satellites.len())?;
        let stations = read_stations(stations)?;
        let limits = read_limits(description)?;
        Ok(Self {
            satellites,
            epoch,
            stations,
            longest_gsl_m: limits[0],
            longest_isl_m: limits[1],
            links,
        })
    }

    /// Number of satellites and stations.
    pub fn nodes(&self) -> usize {
        self.satellites.len() + self.stations.len()
    }

    /// The links between satellites.
    pub fn isls(&self) -> impl Iterator<Item = Isl> {
        let isl = |[from, to]: &[u32; 2]| {
            let [from, to] = [*from, *to].map(|end| SatelliteId::from(end as usize));
            Isl { from, to, across: false }
        };
        self.links.iter().map(isl)
    }

    /// Whether a node is a satellite.
    pub fn is_satellite(&self, node: u32) -> bool {
        (node as usize) < self.satellites.len()
    }

    /// The longest that a link between two nodes may be, in metres.
    pub fn longest_m(&self, one: u32, other: u32) -> f64 {
        let between = self.is_satellite(one) && self.is_satellite(other);
        SLACK * if between { self.longest_isl_m } else { self.longest_gsl_m }
    }

    /// Reads the changes of one `fstate_<nanoseconds>.txt`.
    ///
    /// # Errors
    /// The first line that is wrong, and what would be right.
    pub fn changes(&self, state: Text<'_>) -> Result<Vec<Hop>, FileError> {
        let nodes = self.nodes() as i64;
        let satellites = self.satellites.len() as i64;
        let mut hops = Vec::new();
        for (number, line) in (1..).zip(state.text.lines()) {
            let wrong = |problem: String| FileError::line(state.file, number, problem);
            let Some([node, end, next, ..]) = whole::<5>(line.split(',')) else {
                let right = "node, destination, next hop and two interfaces, as whole numbers";
                return Err(wrong(format!("has {}; it should have {right}", quoted(line))));
            };
            if !(0..nodes).contains(&node) || !(satellites..nodes).contains(&end) {
                let right =
                    format!("nodes should be below {nodes}, destinations from {satellites} on");
                return Err(wrong(format!("has node {node} and destination {end}; {right}")));
            }
            let pair = [node.min(next), node.max(next)].map(|node| node as u32);
            let touches_ground =
                (0..nodes).contains(&next) && (node < satellites) != (next < satellites);
            if next != -1 && !touches_ground && !(next >= 0 && self.links.contains(&pair)) {
                let right =
                    "it should be a neighbour listed in isls.txt, a station, or -1 for none";
                return Err(wrong(format!("has the next hop {next} for node {node}; {right}")));
            }
            let next = u32::try_from(next).ok();
            hops.push(Hop { node: node as u32, end: end as u32, next });
        }
        Ok(hops)
    }
}

/// As many whole numbers as a line should have.
fn whole<'a, const N: usize>(words: impl Iterator<Item = &'a str>) -> Option<[i64; N]> {
    let numbers: Option<Vec<i64>> = words.map(|word| word.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

/// The satellites, whose number line 1 says, and their common epoch.
fn read_satellites(tles: Text<'_>) -> Result<(Vec<Satellite>, Epoch), FileError> {
    let Text { file, text } = tles;
    let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
    let counts =
        whole::<2>(head.split_whitespace()).filter(|counts| *counts.iter().min().unwrap_or(&0) > 0);
    let Some([orbits, each]) = counts else {
        let right = "it should have the number of orbits and the number of satellites in each, such as `34 34`";
        return Err(FileError::line(file, 1, format!("has {head:?}; {right}")));
    };
    // A comment in place of line 1 keeps the numbers of lines.
    let placed = elements::read(file, &format!("#\n{rest}"))?;
    if placed.len() as i64 != orbits.saturating_mul(each) {
        let problem =
            format!("has {} element sets, but line 1 announces {orbits} x {each}", placed.len());
        return Err(FileError::whole(file, problem));
    }
    let epoch = placed[0].elements.epoch;
    let mut satellites = Vec::with_capacity(placed.len());
    for (number, elements::ElementRecord { elements, location }) in placed.into_iter().enumerate() {
        let wrong = |problem: String| FileError::at(file, location.clone(), problem);
        if elements.name.split_whitespace().last() != Some(&number.to_string()) {
            let problem =
                format!("has the name {}; it should end with {number}", quoted(&elements.name));
            return Err(wrong(problem));
        }
        if elements.epoch != epoch {
            let problem = format!("has the epoch {}; that of the first is {epoch}", elements.epoch);
            return Err(wrong(problem));
        }
        satellites.push(MeanElements::satellite(&elements).map_err(wrong)?);
    }
    Ok((satellites, epoch))
}

fn read_links(isls: Text<'_>, satellites: usize) -> Result<BTreeSet<[u32; 2]>, FileError> {
    let mut links = BTreeSet::new();
    for (number, line) in (1..).zip(isls.text.lines()) {
        let wrong = |problem: String| FileError::line(isls.file, number, problem);
        let pair = whole::<2>(line.split_whitespace());
        let pair =
            pair.filter(|[one, other]| 0 <= *one && one < other && *other < satellites as i64);
        let Some(pair) = pair else {
            let right =
                format!("two numbers of satellites below {satellites}, the lower one first");
            return Err(wrong(format!("has {line:?}; it should have {right}")));
        };
        if !links.insert(pair.map(|node| node as u32)) {
            return Err(wrong(format!("repeats the link {line:?}")));
        }
    }
    Ok(links)
}

fn read_stations(stations: Text<'_>) -> Result<Vec<GroundStation>, FileError> {
    let mut all: Vec<GroundStation> = Vec::new();
    for (number, line) in (1..).zip(stations.text.lines()) {
        let wrong = |problem: String| FileError::line(stations.file, number, problem);
        let cells: Vec<_> = line.split(',').collect();
        if ![5, 8].contains(&cells.len()) || cells[0] != all.len().to_string() {
            let right = format!("{}, name, latitude, longitude, elevation", all.len());
            return Err(wrong(format!("has {line:?}; it should have {right}")));
        }
        let degrees: Option<Vec<f64>> = cells[2..5].iter().map(|cell| cell.parse().ok()).collect();
        let Some([latitude, longitude, altitude]) = degrees.as_deref() else {
            let problem =
                format!("has {:?}; they should be degrees, degrees and metres", &cells[2..5]);
            return Err(wrong(problem));
        };
        let (name, position) =
            (cells[1].to_owned(), Geodetic::from_degrees(*latitude, *longitude, *altitude));
        position.check().map_err(|problem| wrong(format!("{name}: {problem}")))?;
        if all.iter().any(|other| other.name == name) {
            return Err(wrong(format!("repeats the name {}", quoted(&name))));
        }
        all.push(GroundStation { name, position });
    }
    if all.is_empty() {
        return Err(FileError::whole(
            stations.file,
            "contains no stations; it should have a line for each",
        ));
    }
    Ok(all)
}

/// The longest links to the ground and between satellites.
fn read_limits(description: Text<'_>) -> Result<[f64; 2], FileError> {
    let mut limits = [None; 2];
    let keys = ["max_gsl_length_m", "max_isl_length_m"];
    for (number, line) in (1..).zip(description.text.lines()) {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let Ok(value) = value.trim().parse::<f64>() else {
            let problem = format!("has {line:?}; it should have a key, `=`, and a number");
            return Err(FileError::line(description.file, number, problem));
        };
        for (known, limit) in keys.iter().zip(&mut limits) {
            if *known == key && value > 0.0 {
                *limit = Some(value);
            }
        }
    }
    for (key, limit) in keys.iter().zip(&limits) {
        if limit.is_none() {
            let problem = format!("has no {key}; it should be a number of metres above zero");
            return Err(FileError::whole(description.file, problem));
        }
    }
    Ok(limits.map(Option::unwrap_or_default))
}

#[cfg(test)]
mod tests;
