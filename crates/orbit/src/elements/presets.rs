//! Constellations by name, from public filings.
//!
//! Filings state altitudes, inclinations, planes and satellites per plane. They do not state how the planes are phased. For
//! delta shells, the phasing here is the one with the largest smallest distance between satellites (Liang, Chaudhry,
//! Yanikomeroglu 2021, Phasing Parameter Analysis for Satellite Collision Avoidance in Starlink and Kuiper Constellations),
//! for star shells half a slot.

use crate::frame::Angle;
use crate::motion::Shell;

/// A constellation by name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line on it, with the source.
    pub about: &'static str,
    /// The lowest elevation at which its user terminals work, in degrees, from the same filing (OneWeb's from its first one,
    /// SAT-LOI-20160428-00041).
    pub lowest_elevation: f64,
    /// Makes its shells.
    pub shells: fn() -> Vec<Shell>,
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "starlink",
        about: "Starlink's first generation, 4,408 satellites in five shells (FCC 21-48 of 2021, table of SAT-MOD-20200417-00037)",
        lowest_elevation: 25.0,
        shells: starlink,
    },
    Preset {
        name: "oneweb",
        about: "OneWeb's first phase, 716 satellites in two shells (SAT-MPL-20200526-00062)",
        lowest_elevation: 55.0,
        shells: oneweb,
    },
    Preset {
        name: "kuiper",
        about: "Kuiper, 3,236 satellites in three shells (SAT-LOA-20190704-00057, granted by FCC 20-102)",
        lowest_elevation: 35.0,
        shells: kuiper,
    },
    Preset {
        name: "iridium",
        about: "Iridium NEXT, 66 satellites in six polar planes (SAT-MOD-20131227-00148; nodes 31.6 degrees apart)",
        lowest_elevation: 8.2,
        shells: iridium,
    },
    Preset {
        name: "telesat",
        about: "Telesat Lightspeed's first phase, 298 satellites in two shells (SAT-MPL-20200526-00053)",
        lowest_elevation: 10.0,
        shells: telesat,
    },
];

/// The preset of a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

fn starlink() -> Vec<Shell> {
    vec![
        Shell::delta("starlink-540", 540.0, 53.2, 72, 22).phased(13),
        Shell::delta("starlink-550", 550.0, 53.0, 72, 22).phased(65),
        Shell::delta("starlink-570", 570.0, 70.0, 36, 20).phased(25),
        Shell::delta("starlink-560a", 560.0, 97.6, 6, 58).phased(1),
        Shell::delta("starlink-560b", 560.0, 97.6, 4, 43).phased(0),
    ]
}

fn oneweb() -> Vec<Shell> {
    vec![
        Shell::star("oneweb-polar", 1200.0, 87.9, 12, 49).phased(6),
        Shell::delta("oneweb-inclined", 1200.0, 55.0, 8, 16).phased(1),
    ]
}

fn kuiper() -> Vec<Shell> {
    vec![
        Shell::delta("kuiper-630", 630.0, 51.9, 34, 34).phased(7),
        Shell::delta("kuiper-610", 610.0, 42.0, 36, 36).phased(11),
        Shell::delta("kuiper-590", 590.0, 33.0, 28, 28).phased(17),
    ]
}

fn iridium() -> Vec<Shell> {
    let shell = Shell::star("iridium", 780.0, 86.4, 6, 11).phased(3);
    vec![Shell { node_spacing: Some(Angle::from_degrees(31.6)), ..shell }]
}

fn telesat() -> Vec<Shell> {
    vec![
        Shell::delta("telesat-polar", 1015.0, 98.98, 6, 13).phased(4),
        Shell::delta("telesat-inclined", 1325.0, 50.88, 20, 11).phased(10),
    ]
}
