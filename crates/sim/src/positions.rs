//! Positions of satellites of a file of element sets, for readers of other programs' files.

use leobench_base::SimTime;
use leobench_base::spec::Fault;
use leobench_orbit::elements::{self, Ages};
use leobench_orbit::{Constellation, Epoch, SatelliteId, Vector};

/// The position of the satellite of each number at its time after `start`, in metres in the frame of the Earth (ECEF).
///
/// # Errors
/// If the text is no file of element sets, `start` no instant, or a satellite has no orbit.
pub fn positions(
    file: &str,
    text: &str,
    start: &str,
    wanted: &[(SimTime, usize)],
) -> Result<Vec<[f64; 3]>, Fault> {
    let start = Epoch::parse(start)
        .ok_or_else(|| Fault::new("start", "is no instant", "an instant of UTC"))?;
    let ages = Ages { warn_days: f64::INFINITY, refuse_days: f64::INFINITY };
    let end = wanted.iter().map(|(at, _)| *at).max().unwrap_or(SimTime::ZERO);
    let wrong = |problem: String| Fault::new("elements", problem, "element sets with orbits");
    let loaded = elements::load(file, text, start, end, ages).map_err(|e| wrong(e.to_string()))?;
    let constellation = Constellation::of_satellites(loaded.satellites);
    let count = constellation.satellites().len();
    let place = |&(at, satellite): &(SimTime, usize)| {
        if satellite >= count {
            return Err(wrong(format!("has no satellite {satellite}, but {count} in all")));
        }
        let state = constellation.state(SatelliteId::from(satellite), start.at(at));
        let Vector { x, y, z } = state.map_err(|error| wrong(error.to_string()))?.position;
        Ok([x, y, z])
    };
    wanted.iter().map(place).collect()
}
