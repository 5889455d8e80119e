//! Laws of sizes that were measured in data centres, as simulators tabulate them.
//!
//! Both tables are those of the traffic generator of HKUST (github.com/HKUST-SING/TrafficGenerator, `conf/DCTCP_CDF.txt` and
//! `conf/VL2_CDF.txt`): points of the distribution function, linear between them. Its table of web search is also that of the
//! simulator netbench (github.com/ndal-eth/netbench, `PFabricWebSearchLowerBoundFSD`).

use leobench_base::SimRng;

use super::{SCALE, SizeModel};

/// A point of a distribution function: bytes, and the share of transfers up to this size.
type Point = (f64, f64);

const WEB_SEARCH: &[Point] = &[
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];

const DATA_MINING: &[Point] = &[
    (0.0, 0.0),
    (180.0, 0.1),
    (216.0, 0.2),
    (560.0, 0.3),
    (900.0, 0.4),
    (1_100.0, 0.5),
    (1_870.0, 0.6),
    (3_160.0, 0.7),
    (10e3, 0.8),
    (400e3, 0.9),
    (3.16e6, 0.95),
    (100e6, 0.98),
    (1e9, 1.0),
];

leobench_base::spec! {
    /// Web search: the flows of a cluster that answers queries, 1.7 MB on average.
    ///
    /// Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, as tabulated in HKUST's TrafficGenerator.
    pub struct WebSearchSpec: Default {
        /// Factor on all sizes.
        pub scale: f64 [SCALE] = 1.0,
    }
}

leobench_base::spec! {
    /// Data mining: mostly tiny flows, and a few very large ones, 13 MB on average.
    ///
    /// Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009, as tabulated in HKUST's TrafficGenerator.
    pub struct DataMiningSpec: Default {
        /// Factor on all sizes.
        pub scale: f64 [SCALE] = 1.0,
    }
}

impl SizeModel for WebSearchSpec {
    fn draw(&self, rng: &mut SimRng) -> Option<f64> {
        Some(inverse(WEB_SEARCH, rng.unit()) * self.scale)
    }

    fn mean(&self) -> Option<f64> {
        Some(mean(WEB_SEARCH) * self.scale)
    }
}

impl SizeModel for DataMiningSpec {
    fn draw(&self, rng: &mut SimRng) -> Option<f64> {
        Some(inverse(DATA_MINING, rng.unit()) * self.scale)
    }

    fn mean(&self) -> Option<f64> {
        Some(mean(DATA_MINING) * self.scale)
    }
}

/// The size up to which there is a share of the transfers.
fn inverse(points: &[Point], share: f64) -> f64 {
    let segment = points.windows(2).find(|segment| share < segment[1].1);
    let [(low, from), (high, to)] =
        segment.map_or([points[points.len() - 1]; 2], |segment| [segment[0], segment[1]]);
    if to > from { low + (high - low) * (share - from) / (to - from) } else { high }
}

fn mean(points: &[Point]) -> f64 {
    points.windows(2).map(|each| (each[1].1 - each[0].1) * (each[0].0 + each[1].0) / 2.0).sum()
}
