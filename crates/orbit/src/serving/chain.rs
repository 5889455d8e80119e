//! The chain of satellites of Yang et al. 2024 (MACO, section 3.1), in closed form.
//!
//! Satellites follow each other at spacing R1 in one orbit, straight over a terminal with two interfaces; footprints have radius
//! R2. In state s1 the terminal has one subflow, in s2 two over different satellites, in s3 two over the same one, whose link
//! they share. The paper's text and its numbers do not agree, so there are two readings:
//!
//! - [`Printed`](Reading::Printed): after s1, the states s2 and s3 alternate with the times that the text prints,
//!   d1/v = (2 R2 - R1)/(2v) and d2/v = (2 R2 - 2 d1)/v. With R1 = 105 km they make the handovers every 15 s that the text
//!   measures, with its R1 = 150 km every 21.4 s. (d1 is half of the overlap of two footprints.)
//! - [`Geometric`](Reading::Geometric): what is in view decides. With footprints of 460 km and R1 from 105 to 150 km, three to
//!   five satellites always are, so s3 does not occur; it needs R1 above 230 km.

use leobench_base::{SimDuration, SimTime};

/// The access state of the terminal: its number of subflows, and whether they share a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// s1: one subflow.
    Single,
    /// s2: two subflows over different satellites.
    Disjoint,
    /// s3: two subflows over the same satellite.
    Shared,
}

/// How the chain is read; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The times that the text prints.
    Printed,
    /// The times that follow from the satellites in view.
    Geometric,
}

/// A chain of satellites over a terminal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    /// Between two satellites along the orbit, R1, in metres.
    pub spacing_m: f64,
    /// The radius of a footprint, R2, in metres.
    pub footprint_m: f64,
    /// Of the orbit over the terminal, in metres.
    pub altitude_m: f64,
    /// Of the satellites over the ground, v, in metres per second.
    pub speed: f64,
}

impl Default for Chain {
    /// The paper's section 6.2: 150 km, footprints of 460 km across, 550 km, 7 km/s.
    fn default() -> Self {
        Self { spacing_m: 150e3, footprint_m: 230e3, altitude_m: 550e3, speed: 7e3 }
    }
}

/// The state of a chain from some time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// From when.
    pub at: SimTime,
    /// The access state.
    pub access: Access,
    /// The satellites of both subflows, counted in the order in which they come; the same one if they share it.
    pub satellites: [u64; 2],
}

impl Chain {
    /// Why it is no chain, if it is none.
    ///
    /// # Errors
    /// The value that is refused, and those that are allowed.
    pub fn check(&self) -> Result<(), String> {
        let lengths = [self.spacing_m, self.footprint_m, self.altitude_m, self.speed];
        if lengths.iter().any(|length| !(length.is_finite() && *length > 0.0)) {
            return Err(
                "spacing, footprint, altitude and speed of a chain must be above 0".to_owned()
            );
        }
        let (spacing, most) = (self.spacing_m / 1e3, self.footprint_m / 500.0);
        if spacing >= most {
            return Err(format!(
                "satellites {spacing} km apart with footprints {most} km across leave gaps; the spacing must be smaller"
            ));
        }
        Ok(())
    }

    /// d1 as printed: (2 R2 - R1)/2, in metres.
    pub fn overlap_m(&self) -> f64 {
        (2.0 * self.footprint_m - self.spacing_m) / 2.0
    }

    /// d2 as printed: 2 R2 - 2 d1, in metres; it is R1.
    pub fn clear_m(&self) -> f64 {
        2.0 * self.footprint_m - 2.0 * self.overlap_m()
    }

    /// How long s2 lasts as printed, d1/v.
    pub fn disjoint(&self) -> SimDuration {
        SimDuration::from_secs_f64(self.overlap_m() / self.speed)
    }

    /// How long s3 lasts as printed, d2/v.
    pub fn shared(&self) -> SimDuration {
        SimDuration::from_secs_f64(self.clear_m() / self.speed)
    }

    /// Between two satellites that come into view, R1/v.
    pub fn interval(&self) -> SimDuration {
        SimDuration::from_secs_f64(self.spacing_m / self.speed)
    }

    /// How long the states take until they repeat: s2 and s3 as printed; otherwise until the satellite that has just come into
    /// view is the oldest, which each subflow changes once in that time.
    pub fn cycle(&self, reading: Reading) -> SimDuration {
        match reading {
            Reading::Printed => self.disjoint() + self.shared(),
            Reading::Geometric => self.interval() * self.in_view().0.max(2),
        }
    }

    /// The fewest and the most satellites in view at a time.
    pub fn in_view(&self) -> (u64, u64) {
        let across = 2.0 * self.footprint_m / self.spacing_m;
        (across.floor() as u64, across.ceil() as u64)
    }

    /// The distance along the orbit from the terminal's zenith to a satellite, in metres; negative before it passes over.
    /// Satellite 0 comes into view at time 0.
    pub fn along_m(&self, satellite: u64, now: SimTime) -> f64 {
        self.speed * now.as_secs_f64() - self.footprint_m - satellite as f64 * self.spacing_m
    }

    /// The distance to a satellite, in metres, over flat ground as in the paper.
    pub fn range_m(&self, satellite: u64, now: SimTime) -> f64 {
        let along = self.along_m(satellite, now);
        (along * along + self.altitude_m * self.altitude_m).sqrt()
    }

    /// The states from time 0 on, without end.
    pub fn stages(&self, reading: Reading) -> Box<dyn Iterator<Item = Stage> + Send> {
        match reading {
            Reading::Printed => Box::new(self.printed()),
            Reading::Geometric => Box::new(self.geometric()),
        }
    }

    /// s1 over satellite 0 until satellite 1 comes into view; then s2 for d1/v and s3 for d2/v in turn. Entering s3, the
    /// older subflow moves to the newer satellite; entering s2, it moves on to the next one.
    fn printed(&self) -> impl Iterator<Item = Stage> + use<> {
        let (disjoint, shared) = (self.disjoint(), self.shared());
        let first = Stage { at: SimTime::ZERO, access: Access::Single, satellites: [0, 0] };
        let start = SimTime::ZERO + self.interval();
        let cycles = (0u64..).flat_map(move |cycle| {
            let at = start + (disjoint + shared) * cycle;
            let [older, newer] = [cycle, cycle + 1];
            [
                Stage { at, access: Access::Disjoint, satellites: [older, newer] },
                Stage { at: at + disjoint, access: Access::Shared, satellites: [newer, newer] },
            ]
        });
        std::iter::once(first).chain(cycles)
    }

    /// Each subflow keeps its satellite while it is in view; then it moves to the newest one that the other subflow does not
    /// use, or shares the only one. A subflow that shares takes the next satellite that comes into view.
    fn geometric(&self) -> impl Iterator<Item = Stage> + use<> {
        let chain = *self;
        let mut stage = Stage { at: SimTime::ZERO, access: Access::Single, satellites: [0, 0] };
        std::iter::once(stage).chain(std::iter::from_fn(move || {
            loop {
                let [one, other] = stage.satellites;
                let newest = chain.newest(stage.at);
                let lost = chain.leaves(one.min(other));
                let comes = chain.comes(newest + 1);
                let alone = one == other;
                stage.at = if alone { lost.min(comes) } else { lost };
                let newest = chain.newest(stage.at);
                let kept = |satellite| chain.leaves(satellite) > stage.at;
                stage.satellites = match (kept(one), kept(other)) {
                    (true, true) if one == other => [one, newest],
                    (true, true) => [one, other],
                    (true, false) => [one, newest],
                    (false, true) => [newest, other],
                    (false, false) => {
                        [newest, newest.saturating_sub(1).max(chain.oldest(stage.at))]
                    }
                };
                let next = if stage.satellites[0] == stage.satellites[1] {
                    Access::Shared
                } else {
                    Access::Disjoint
                };
                let changed = stage.satellites != [one, other] || next != stage.access;
                stage.access = next;
                if changed {
                    return Some(stage);
                }
            }
        }))
    }

    /// When a satellite comes into view.
    fn comes(&self, satellite: u64) -> SimTime {
        SimTime::ZERO + self.interval() * satellite
    }

    /// When a satellite leaves the view.
    fn leaves(&self, satellite: u64) -> SimTime {
        self.comes(satellite) + SimDuration::from_secs_f64(2.0 * self.footprint_m / self.speed)
    }

    /// The satellite that has come into view last.
    fn newest(&self, now: SimTime) -> u64 {
        now.as_nanos() / self.interval().as_nanos()
    }

    /// The satellite that has been in view for longest.
    fn oldest(&self, now: SimTime) -> u64 {
        match now.as_nanos().checked_sub(self.leaves(0).as_nanos()) {
            None => 0,
            Some(since) => since / self.interval().as_nanos() + 1,
        }
    }
}

/// The time that slow start takes to reach a rate: `t_SS = τ (1 + log2(C τ / (l Ω)))`, section 3.2; rate in bit/s, round trip in
/// seconds, packet in bits, initial window in packets.
///
/// For 200 Mbit/s, 100 ms, 1 KB and one packet this is 1.229 s; the 1.13 s of the text leave out the 1.
pub fn slow_start_s(rate: f64, round_trip: f64, packet_bits: f64, window: f64) -> f64 {
    round_trip * (1.0 + libm::log2(rate * round_trip / (packet_bits * window)))
}
