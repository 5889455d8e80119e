//! The satellites of a constellation: a preset, shells, element sets, or the chain of a paper.

use std::io::Read;
use std::path::Path;

use leobench_base::files::open_regular;
use leobench_base::quantity::{Angle, Bearing, Distance};
use leobench_base::spec::{Fault, Range, UpTo, Whole, nearest};
use leobench_base::{Phase, SimDuration, SimTime};
use leobench_orbit::elements::presets::{PRESETS, preset};
use leobench_orbit::elements::{self, Acceptance, OnDecayed};
use leobench_orbit::motion::Pattern;
use leobench_orbit::serving::chain::{Chain, Reading};
use leobench_orbit::{Angle as Turn, Constellation, Epoch, Shell};

use super::hypatia::{Forwarded, HypatiaSpec};

/// Bytes of the largest file of elements, tracks or places; 10,000 satellites as XML take about 10 MB.
const LARGEST_FILE: u64 = 100_000_000;

/// Days of the largest age of an element set: a century.
const LONGEST_AGE: f64 = 36_525.0;

/// Half the circumference of the Earth: no two places on it are further apart, and no footprint is wider.
const HALF_WAY_ROUND: UpTo<Distance> = UpTo(Distance::constant(20_038e3));

/// Speeds of satellites in km/s: below that at which they would leave the Earth, 11.2 km/s.
const FASTEST: Range = Range::above(0.0).below(11.2);

/// Satellites as built from a specification.
pub enum Satellites {
    /// Satellites on orbits.
    Orbits {
        /// All of them.
        constellation: Constellation,
        /// The lowest elevation of their filing, in degrees.
        lowest: Option<f64>,
        /// Warnings for the user.
        warnings: Vec<String>,
    },
    /// A chain in closed form, and its time at the start of the run.
    Chain(Chain, Reading, Phase),
    /// Satellites with the ways that a forwarding state says.
    Forwarded(Box<Forwarded>),
}

/// A specification of satellites: builds what it describes.
pub trait SatellitesModel {
    /// The satellites of a run that starts at an instant and takes a length of time.
    ///
    /// # Errors
    /// If a file cannot be used, or there is no such thing.
    fn build(&self, folder: &Path, start: Epoch, length: SimDuration) -> Result<Satellites, Fault>;
}

leobench_base::kinds! {
    /// Source of the satellites.
    pub enum SatellitesSpec as dyn SatellitesModel {
        Preset(PresetSpec) = "preset",
        Walker(WalkerSpec) = "walker",
        Elements(ElementsSpec) = "elements",
        Chain(ChainSpec) = "chain",
        Hypatia(HypatiaSpec) = "hypatia",
    }
}

leobench_base::words! {
    /// How the planes of a shell are spread.
    pub enum PatternWord {
        /// Around the whole equator.
        Delta = "delta",
        /// Around half of it.
        Star = "star",
    }
}

leobench_base::words! {
    /// How the chain of Yang et al. 2024 is read.
    pub enum ReadingWord {
        /// Its states last as long as printed in the text.
        Printed = "printed",
        /// Its states follow from the satellites in view.
        Geometric = "geometric",
    }
}

leobench_base::spec! {
    /// A constellation by name, from public filings: `starlink`, `oneweb`, `kuiper`, `iridium`, `telesat`.
    pub struct PresetSpec example = r#"{"preset": "starlink"}"# check = PresetSpec::check {
        /// Name of the constellation.
        pub preset: String,
    }
}

leobench_base::spec! {
    /// Walker shells: circular orbits in equally spaced planes (Walker 1984).
    pub struct WalkerSpec
        example = r#"{"walker": {"own": {"altitude": "550 km", "inclination": "53 deg", "planes": 72, "per_plane": 22}}}"#
        check = WalkerSpec::check
    {
        /// Shells by name.
        pub walker: Vec<(String, ShellSpec)>,
        /// Whether the flattening of the Earth moves the planes (J2).
        pub flattening: bool = true,
    }
}

leobench_base::spec! {
    /// A Walker shell.
    pub struct ShellSpec {
        /// Around the whole equator (`delta`), or around half of it (`star`).
        pub pattern: PatternWord = PatternWord::Delta,
        /// Height above the radius of the equator.
        pub altitude: Distance,
        /// Inclination to the equator.
        pub inclination: Angle,
        /// Number of planes.
        pub planes: Whole<1, 10_000>,
        /// Satellites in each plane.
        pub per_plane: Whole<1, 10_000>,
        /// Phasing factor F: satellites of neighbouring planes are F 360/T degrees apart along their orbits, T being their
        /// total number.
        pub phasing: u32 [Range::from(0.0).below(1e8)] = 0,
        /// Angle between the nodes of neighbouring planes, if not 360 (`delta`) or 180 degrees (`star`) over their number.
        pub node_spacing: Option<Angle>,
        /// Right ascension of the first node.
        pub first_node: Bearing = Bearing::constant(0.0),
        /// Argument of latitude of the first satellite of the first plane.
        pub first_argument: Bearing = Bearing::constant(0.0),
    }
}

leobench_base::spec! {
    /// Element sets from a file: TLE, or OMM as CSV, JSON or XML; propagated by SGP4.
    pub struct ElementsSpec example = r#"{"elements": "starlink.tle"}"# {
        /// The file.
        pub elements: String,
        /// Age of an element set, in days, beyond which there is a warning.
        pub warn_days: f64 [Range::from(0.0).to(LONGEST_AGE)] = 7.0,
        /// Age of an element set, in days, beyond which it is refused.
        pub refuse_days: f64 [Range::from(0.0).to(LONGEST_AGE)] = 30.0,
        /// Treatment of satellites that decay before the run ends: `skip` leaves them out with a warning, `refuse` refuses the
        /// file.
        pub on_decayed: OnDecayed = OnDecayed::Skip,
    }
}

leobench_base::spec! {
    /// The chain of satellites over a terminal with two subflows (Yang et al. 2024, section 3.1).
    pub struct ChainSpec example = r#"{"chain": "printed"}"# check = ChainSpec::check {
        /// How the paper is read: `printed` or `geometric`.
        pub chain: ReadingWord,
        /// Distance between two satellites along the orbit, R1 (section 6.2).
        pub spacing: Distance [HALF_WAY_ROUND] = Distance::constant(150e3),
        /// Radius of a footprint, R2 (section 6.2: 460 km across).
        pub footprint: Distance [HALF_WAY_ROUND] = Distance::constant(230e3),
        /// Altitude (section 6.2).
        pub altitude: Distance = Distance::constant(550e3),
        /// Speed of the satellites over the ground in km/s (section 6.2).
        pub speed: f64 [FASTEST] = 7.0,
        /// Time since the first satellite came into view at the start of the run, or `"random"`: any time of the cycle of states,
        /// once the first cycle is over.
        pub phase: Phase = Phase::ZERO,
    }
}

impl PresetSpec {
    fn check(&self) -> Result<(), Fault> {
        if preset(&self.preset).is_some() {
            return Ok(());
        }
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        let hint = nearest(&self.preset, &names).map(|name| format!("; did you mean `{name}`?"));
        let allowed = format!("`{}`{}", names.join("`, `"), hint.unwrap_or_default());
        Err(Fault::new("preset", "no such constellation", allowed))
    }
}

impl SatellitesModel for PresetSpec {
    fn build(&self, _: &Path, start: Epoch, _: SimDuration) -> Result<Satellites, Fault> {
        self.check()?;
        let preset = preset(&self.preset).expect("it was checked");
        let constellation = Constellation::of_shells(&(preset.shells)(), start, true);
        let lowest = Some(preset.lowest_elevation);
        Ok(Satellites::Orbits { constellation, lowest, warnings: Vec::new() })
    }
}

impl WalkerSpec {
    fn shells(&self) -> impl Iterator<Item = Shell> + '_ {
        self.walker.iter().map(|(name, spec)| {
            let (planes, per_plane) = (spec.planes.get() as usize, spec.per_plane.get() as usize);
            let turn = |bearing: Bearing| Turn::from_degrees(bearing.degrees());
            Shell {
                name: name.clone(),
                pattern: match spec.pattern {
                    PatternWord::Delta => Pattern::Delta,
                    PatternWord::Star => Pattern::Star,
                },
                altitude_m: spec.altitude.m(),
                inclination: Turn::from_degrees(spec.inclination.degrees()),
                planes,
                per_plane,
                phasing: spec.phasing as usize,
                node_spacing: spec.node_spacing.map(|angle| Turn::from_degrees(angle.degrees())),
                first_node: turn(spec.first_node),
                first_argument: turn(spec.first_argument),
            }
        })
    }

    fn check(&self) -> Result<(), Fault> {
        if self.walker.is_empty() {
            return Err(Fault::new("walker", "has no satellites", "at least one shell"));
        }
        for shell in self.shells() {
            let field = format!("walker.{}", shell.name);
            shell.check().map_err(|problem| Fault::new(field, problem, "a Walker shell"))?;
        }
        Ok(())
    }
}

impl SatellitesModel for WalkerSpec {
    fn build(&self, _: &Path, start: Epoch, _: SimDuration) -> Result<Satellites, Fault> {
        self.check()?;
        let shells: Vec<_> = self.shells().collect();
        let constellation = Constellation::of_shells(&shells, start, self.flattening);
        Ok(Satellites::Orbits { constellation, lowest: None, warnings: Vec::new() })
    }
}

impl SatellitesModel for ElementsSpec {
    fn build(&self, folder: &Path, start: Epoch, length: SimDuration) -> Result<Satellites, Fault> {
        let text = text_of(folder, "elements", &self.elements)?;
        let acceptance = Acceptance {
            warn_days: self.warn_days,
            refuse_days: self.refuse_days,
            on_decayed: self.on_decayed,
        };
        let end = SimTime::ZERO + length;
        let loaded = elements::load(&self.elements, &text, start, end, acceptance);
        let allowed = "TLE, or OMM as CSV, JSON or XML, of a time close to `start`";
        let loaded = loaded.map_err(|error| Fault::new("elements", error.to_string(), allowed))?;
        let constellation = Constellation::of_satellites(loaded.satellites);
        Ok(Satellites::Orbits { constellation, lowest: None, warnings: loaded.warnings })
    }
}

impl ChainSpec {
    fn chain(&self) -> Chain {
        Chain {
            spacing_m: self.spacing.m(),
            footprint_m: self.footprint.m(),
            altitude_m: self.altitude.m(),
            speed: self.speed * 1e3,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        let allowed = "a chain that covers the terminal";
        self.chain().check().map_err(|problem| Fault::new("spacing", problem, allowed))
    }
}

impl SatellitesModel for ChainSpec {
    fn build(&self, _: &Path, _: Epoch, _: SimDuration) -> Result<Satellites, Fault> {
        self.check()?;
        let reading = match self.chain {
            ReadingWord::Printed => Reading::Printed,
            ReadingWord::Geometric => Reading::Geometric,
        };
        Ok(Satellites::Chain(self.chain(), reading, self.phase))
    }
}

/// The text of a file that a scenario names.
pub(crate) fn text_of(folder: &Path, field: &str, name: &str) -> Result<String, Fault> {
    let fault = |problem: String| Fault::new(field, problem, "a text file");
    let mut text = String::new();
    let read = open_regular(&folder.join(name))
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(fault("no such file".to_owned()))
        }
        Err(error) => Err(fault(format!("cannot be read: {error}"))),
        Ok(_) if text.len() as u64 > LARGEST_FILE => Err(fault("is too large".to_owned())),
        Ok(_) => Ok(text),
    }
}
