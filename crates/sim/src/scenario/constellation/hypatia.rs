//! A folder that Hypatia generated, as satellites with the ways that its forwarding state says.

use std::path::Path;

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};
use leobench_orbit::hypatia::{Hop, Network, Text};
use leobench_orbit::{Constellation, Epoch, SatelliteId, Vector};

use super::satellites::{Satellites, SatellitesModel, text_of};

/// The key of the folder.
const KEY: &str = "hypatia";

leobench_base::spec! {
    /// A network that Hypatia generated: element sets, links, ground stations, and the forwarding state that packets follow.
    pub struct HypatiaSpec example = r#"{"hypatia": "kuiper_630"}"# {
        /// The folder with `tles.txt`, `isls.txt`, `ground_stations.txt`, `description.txt` and one folder `dynamic_state_*`.
        pub hypatia: String,
    }
}

/// A network with its forwarding state over time.
pub struct Forwarded {
    /// Satellites, links and stations.
    pub network: Network,
    /// From the epoch of the network on: the changes of an instant, by time, and their file.
    pub states: Vec<StateFile>,
    /// How long the state lasts.
    pub length: SimDuration,
}

/// The changes of an instant.
pub struct StateFile {
    /// After the network's epoch.
    pub at: SimTime,
    /// As messages name it.
    pub file: String,
    /// The changes.
    pub hops: Vec<Hop>,
}

impl SatellitesModel for HypatiaSpec {
    fn build(&self, folder: &Path, _: Epoch, _: SimDuration) -> Result<Satellites, Fault> {
        self.read(folder).map(|read| Satellites::Forwarded(Box::new(read)))
    }
}

impl Forwarded {
    /// Reads a folder that Hypatia generated.
    ///
    /// # Errors
    /// The first thing that is wrong: the file, the line, and what would be right.
    pub fn read(folder: &str) -> Result<Self, Fault> {
        HypatiaSpec { hypatia: folder.to_owned() }.read(Path::new(""))
    }

    /// Returns the positions of nodes at times after the epoch, in metres in the frame of the Earth (ECEF).
    ///
    /// # Errors
    /// If there is no such node, or a satellite has no orbit at a time.
    pub fn positions(&self, wanted: &[(SimTime, usize)]) -> Result<Vec<[f64; 3]>, Fault> {
        let Network { satellites, stations, epoch, .. } = &self.network;
        let constellation = Constellation::of_satellites(satellites.clone());
        let place = |&(at, node): &(SimTime, usize)| {
            let Vector { x, y, z } = if node < satellites.len() {
                let state = constellation.state(SatelliteId::from(node), epoch.at(at));
                state.map_err(|error| fault(error.to_string()))?.position
            } else {
                let station = stations.get(node - satellites.len());
                station.ok_or_else(|| fault(format!("has no node {node}")))?.position.to_ecef()
            };
            Ok([x, y, z])
        };
        wanted.iter().map(place).collect()
    }
}

impl HypatiaSpec {
    /// The folder, whose name starts from `folder`.
    fn read(&self, folder: &Path) -> Result<Forwarded, Fault> {
        let of = |name: &str| format!("{}/{name}", self.hypatia.trim_end_matches('/'));
        let names = ["tles.txt", "isls.txt", "ground_stations.txt", "description.txt"].map(of);
        let mut texts = Vec::new();
        for name in &names {
            texts.push(text(folder, name)?);
        }
        let part = |index: usize| Text { file: &names[index], text: &texts[index] };
        let network = Network::read(part(0), part(1), part(2), part(3));
        let network = network.map_err(|error| fault(error.to_string()))?;
        let (states, length) = self.states(folder, &network)?;
        Ok(Forwarded { network, states, length })
    }

    /// The forwarding state by time, and how long it lasts.
    fn states(
        &self,
        folder: &Path,
        network: &Network,
    ) -> Result<(Vec<StateFile>, SimDuration), Fault> {
        let inside = names(&folder.join(&self.hypatia), &self.hypatia)?;
        let dynamic: Vec<_> = inside
            .into_iter()
            .filter(|name| name.starts_with("dynamic_state_"))
            .filter(|name| folder.join(&self.hypatia).join(name).is_dir())
            .collect();
        let [name] = dynamic.as_slice() else {
            let found = if dynamic.is_empty() { "none".to_owned() } else { dynamic.join(", ") };
            return Err(fault(format!(
                "{}: should contain one folder `dynamic_state_*`, found {found}",
                self.hypatia
            )));
        };
        let state = format!("{}/{name}", self.hypatia.trim_end_matches('/'));
        let seconds =
            name.strip_suffix('s').and_then(|name| name.rsplit_once("ms_for_")?.1.parse().ok());
        let Some(seconds) = seconds else {
            let right = "it should end as in `dynamic_state_100ms_for_200s`";
            return Err(fault(format!("{state}: has no duration in its name; {right}")));
        };
        let mut files = Vec::new();
        for name in names(&folder.join(&state), &state)? {
            let time = name.strip_prefix("fstate_").and_then(|name| name.strip_suffix(".txt"));
            let Some(time) = time else { continue };
            let Ok(nanos) = time.parse() else {
                let right = "it should be `fstate_<nanoseconds>.txt`";
                return Err(fault(format!("{state}/{name}: has no time in its name; {right}")));
            };
            files.push((SimTime::from_nanos(nanos), format!("{state}/{name}")));
        }
        files.sort();
        if files.first().is_none_or(|(at, _)| *at != SimTime::ZERO) {
            return Err(fault(format!("{state}: has no fstate_0.txt, the state at the start")));
        }
        let mut states = Vec::with_capacity(files.len());
        for (at, file) in files {
            let text = text(folder, &file)?;
            let hops = network.changes(Text { file: &file, text: &text });
            let hops = hops.map_err(|error| fault(error.to_string()))?;
            states.push(StateFile { at, file, hops });
        }
        Ok((states, SimDuration::from_secs(seconds)))
    }
}

/// A fault of the folder.
pub(crate) fn fault(problem: String) -> Fault {
    Fault::new(KEY, problem, "a folder that Hypatia generated")
}

fn text(folder: &Path, file: &str) -> Result<String, Fault> {
    text_of(folder, KEY, file).map_err(|wrong| fault(format!("{file}: {}", wrong.problem)))
}

/// The names in a folder, in order.
fn names(folder: &Path, shown: &str) -> Result<Vec<String>, Fault> {
    let cannot = |error: std::io::Error| fault(format!("{shown}: cannot be read: {error}"));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        names.push(entry.map_err(cannot)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
