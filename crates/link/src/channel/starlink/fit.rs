//! Fits: the parameters of a link as they were found in measurements, in a JSON file.

use std::io::Read;

use leobench_base::files::open_regular;
use leobench_base::spec::{
    At, Fault, Range, Spec, SpecError, Table, UpTo, Value, nearest, quoted, sentence,
};

use super::super::ChannelContext;
use super::super::files::unreadable;
use super::drawn_value::MOST_MBPS;
use super::outages::OutageSpec;
use crate::process::ProcessSpec;

/// The fits that come with leobench, by name.
pub const FITS: &[(&str, &str)] = &[
    ("autobahn-2024", include_str!("fits/autobahn-2024.json")),
    ("lagos-lasers-2023", include_str!("fits/lagos-lasers-2023.json")),
    ("osnabrueck-2024", include_str!("fits/osnabrueck-2024.json")),
    ("seattle-2023", include_str!("fits/seattle-2023.json")),
    ("starlink", include_str!("fits/starlink.json")),
];

/// The version of the format that is read.
const VERSION: u32 = 1;
/// Bytes of the longest file; scores take most of one.
const LONGEST: u64 = 10_000_000;
/// The end of a name that is a file's.
const ENDING: &str = ".json";

leobench_base::words! {
    /// The format of the file.
    pub enum FitFormat {
        /// A fit of a link to measurements.
        Fit = "leobench-fit",
    }
}

leobench_base::spec! {
    /// The slots that were fitted, on the time axis of the seconds of a minute.
    pub struct SlotSpec: Default {
        /// Length of a slot, in seconds.
        pub every_s: f64 [Range::from(1e-3).to(86_400.0)] = 15.0,
        /// Beginning of one of them, in seconds.
        pub phase_s: f64 [Range::from(0.0).to(86_400.0)] = 12.0,
    }
}

leobench_base::spec! {
    /// The delay of a path without load.
    pub struct DelayPart {
        /// The round-trip time, in milliseconds.
        pub process: ProcessSpec,
    }
}

leobench_base::spec! {
    /// The probability that a packet is lost, by a Markov chain of two states that moves at each slot.
    pub struct LossPart {
        /// Probability of loss in a clean slot.
        pub clean: f64 [Range::from(0.0).to(1.0)],
        /// Probability of loss in a lossy slot.
        pub lossy: f64 [Range::from(0.0).to(1.0)],
        /// Probability that a lossy slot follows a clean one.
        pub to_lossy: f64 [Range::from(0.0).to(1.0)],
        /// Probability that a clean slot follows a lossy one.
        pub to_clean: f64 [Range::from(0.0).to(1.0)],
    }
}

leobench_base::words! {
    /// The state of motion of a terminal.
    pub enum TerminalMotion {
        /// At rest.
        Parked = "parked",
        /// On the road.
        Driving = "driving",
    }
}

leobench_base::spec! {
    /// The shifts of a capacity's `location` by the motion of the terminal; fitted recordings have both.
    pub struct MotionPart {
        /// While it is parked.
        pub parked: f64 [Range::from(-5.0).to(5.0)],
        /// While it is driving.
        pub driving: f64 [Range::from(-5.0).to(5.0)],
    }
}

impl MotionPart {
    fn shift(&self, motion: TerminalMotion) -> f64 {
        match motion {
            TerminalMotion::Parked => self.parked,
            TerminalMotion::Driving => self.driving,
        }
    }
}

leobench_base::spec! {
    /// The parts of one direction.
    pub struct DirectionPart: Default {
        /// The capacity, in Mbit/s.
        pub capacity: Option<ProcessSpec>,
        /// Its shifts by the motion of the terminal, if recordings tell them.
        pub motion: Option<MotionPart>,
        /// The loss besides that of outages.
        pub loss: Option<LossPart>,
    }
}

leobench_base::spec! {
    /// A fit. A part that was not measured is absent.
    pub struct FitSpec check = check {
        /// Always `leobench-fit`.
        pub format: FitFormat,
        /// Version of the format.
        pub version: u32,
        /// Name of the fit.
        pub name: String,
        /// Origin of the measurements: place, dates, hardware, load, licence, and unsuitable uses.
        pub about: Table = Table::new(),
        /// The slots.
        pub slots: SlotSpec = SlotSpec::default(),
        /// Delay, half of the round trip in each direction.
        pub delay: Option<DelayPart>,
        /// From the satellites to the terminal.
        pub downlink: DirectionPart = DirectionPart::default(),
        /// From the terminal to the satellites.
        pub uplink: DirectionPart = DirectionPart::default(),
        /// Times at which nothing gets through in either direction.
        pub outages: Option<OutageSpec>,
        /// Shorter ones, which a measurement shows by single lost packets at a time of the slot.
        pub interruptions: Option<OutageSpec>,
        /// Confidence intervals of the parameters.
        pub uncertainty: Table = Table::new(),
        /// Scores on measurements that were not fitted.
        pub score: Table = Table::new(),
    }
}

fn check(fit: &FitSpec) -> Result<(), Fault> {
    if fit.version != VERSION {
        return Err(Fault::new("version", "is unknown", format!("{VERSION}")));
    }
    let directions = [&fit.downlink, &fit.uplink];
    let has_direction =
        directions.iter().any(|part| part.capacity.is_some() || part.loss.is_some());
    if fit.delay.is_none() && fit.silences().next().is_none() && !has_direction {
        let allowed =
            "at least one of `delay`, `downlink`, `uplink`, `outages` and `interruptions`";
        return Err(Fault::new("", "has no part of a link", allowed));
    }
    check_medians(fit)?;
    let every = fit.slots.every_s;
    for (name, spec) in fit.silences() {
        if spec.latest_s() > every {
            let problem = "ends after the slot, if it begins at `after_s`";
            let allowed = format!("at most {}", (every - spec.after_s).max(0.0));
            return Err(Fault::new(format!("{name}.within_s"), problem, allowed));
        }
    }
    Ok(())
}

/// Refuses processes whose median no link has.
fn check_medians(fit: &FitSpec) -> Result<(), Fault> {
    let capacity = |part: &'static str, direction: &DirectionPart| {
        let median = direction.capacity.as_ref().map(|process| process.warp(0.0));
        (format!("{part}.capacity"), median, MOST_MBPS, "Mbit/s")
    };
    let delay = fit.delay.as_ref().map(|part| part.process.warp(0.0));
    let most_ms = UpTo::DELAY.0.as_millis_f64();
    let parts = [
        ("delay.process".to_owned(), delay, most_ms, "ms"),
        capacity("downlink", &fit.downlink),
        capacity("uplink", &fit.uplink),
    ];
    for (place, median, most, unit) in parts {
        if median.is_some_and(|median| median > most) {
            let problem = format!("has a median above {most} {unit}");
            return Err(Fault::new(
                format!("{place}.location"),
                problem,
                "the logarithm of a median",
            ));
        }
    }
    Ok(())
}

impl FitSpec {
    /// The fit of this name, or in this file.
    ///
    /// # Errors
    /// If there is none, or it is not sound.
    pub fn load(name: &str, context: &ChannelContext) -> Result<Self, Fault> {
        if let Some(shipped) = Self::shipped(name) {
            return shipped;
        }
        if !name.ends_with(ENDING) {
            return Err(unknown(name));
        }
        let mut text = String::new();
        let path = context.folder.join(name);
        let opened = open_regular(&path);
        let read = opened.and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
        read.map_err(|error| unreadable("fit", &path, &error))?;
        if text.len() as u64 > LONGEST {
            let allowed = format!("at most {} MB", LONGEST / 1_000_000);
            return Err(Fault::new("fit", format!("{name} is too large"), allowed));
        }
        Self::parse(name, &text)
    }

    /// The times at which nothing gets through, of both kinds, with their names.
    pub fn silences(&self) -> impl Iterator<Item = (&'static str, &OutageSpec)> {
        let kinds = [("outages", &self.outages), ("interruptions", &self.interruptions)];
        kinds.into_iter().filter_map(|(name, spec)| Some((name, spec.as_ref()?)))
    }

    /// The fit of a terminal that is always parked, or always driving.
    ///
    /// # Errors
    /// If no recording tells the two apart.
    pub(super) fn moving(mut self, motion: TerminalMotion) -> Result<Self, Fault> {
        let mut told = false;
        for part in [&mut self.downlink, &mut self.uplink] {
            if let (Some(capacity), Some(shifts)) = (&mut part.capacity, &part.motion) {
                capacity.location += shifts.shift(motion);
                told = true;
            }
        }
        if told {
            return Ok(self);
        }
        let problem =
            format!("is given, but the fit {} does not tell parked from driving", self.name);
        Err(Fault::new(
            "motion",
            problem,
            "no `motion`, or a fit of recordings with the speeds of both",
        ))
    }

    /// A fit that comes with leobench.
    pub fn shipped(name: &str) -> Option<Result<Self, Fault>> {
        let (_, text) = FITS.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(name, text))
    }

    fn parse(name: &str, text: &str) -> Result<Self, Fault> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            let problem = format!("{name} is not the JSON of a fit: {error}");
            Fault::new("fit", sentence(&problem), "a file by `leobench fit`")
        })?;
        Self::read(&value, &At::ROOT).map_err(|error| within(name, error))
    }
}

/// Checks the name of a fit that comes with leobench; a file can only be checked in its folder.
pub(super) fn check_name(name: &str) -> Result<(), Fault> {
    match FitSpec::shipped(name) {
        Some(shipped) => shipped.map(drop),
        None if name.ends_with(ENDING) => Ok(()),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Fault {
    let names: Vec<_> = FITS.iter().map(|(name, _)| *name).collect();
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let meant = nearest(name, &names).map(|near| format!("; did you mean `{near}`?"));
    let meant = meant.unwrap_or_default();
    let allowed = format!("{listed}, or a file whose name ends in `{ENDING}`{meant}");
    let problem = format!("there is no fit {}", quoted(name));
    Fault::new("fit", problem, allowed)
}

/// The fault of a scenario whose fit has an error.
fn within(name: &str, error: SpecError) -> Fault {
    let allowed = error.allowed.clone().unwrap_or_else(|| "a file by `leobench fit`".into());
    let inner = SpecError { allowed: None, ..error };
    Fault::new("fit", format!("{name}: {inner}"), allowed)
}
