//! Layouts of links between satellites: who is linked with whom. One file per layout, one line here to register it.
//!
//! A link of the present layout that is too long, too low or too far north is off until it can be used again; whether another
//! one takes its place is decided at the next arrangement.

mod arrangements;
mod nearest;
pub mod plus_grid;
pub mod range;

use std::fmt::Debug;

pub use arrangements::Arrangements;

use leobench_base::SimDuration;
use leobench_base::spec::Fault;

use super::links::{Isl, Limits};
use crate::motion::{Constellation, Ephemeris};

/// The links of a constellation over time.
pub trait Layout: Debug + Send {
    /// Fills in the links that are set up from now on, each pair of satellites once.
    fn arrange(&mut self, ephemeris: &Ephemeris, out: &mut Vec<Isl>);

    /// The time from one arrangement to the next, counted from the start of the run; `None` if the first one stays.
    fn period(&self) -> Option<SimDuration> {
        None
    }
}

/// A specification of a layout.
pub trait LayoutModel {
    /// Builds it.
    ///
    /// # Errors
    /// If it cannot link these satellites.
    fn build(
        &self,
        constellation: &Constellation,
        limits: Limits,
    ) -> Result<Box<dyn Layout>, Fault>;
}

leobench_base::kinds! {
    /// Layouts of links between satellites.
    pub enum LayoutSpec as dyn LayoutModel {
        PlusGrid(plus_grid::PlusGridSpec) = "plus_grid",
        Range(range::RangeSpec) = "range",
    }
}

impl Default for LayoutSpec {
    fn default() -> Self {
        Self::PlusGrid(plus_grid::PlusGridSpec::default())
    }
}

/// Refuses a time between arrangements of less than a second.
fn check_every(every: SimDuration) -> Result<(), Fault> {
    let least = SimDuration::from_secs(1);
    if every < least {
        return Err(Fault::new("every", "is too short", format!("{least} or more")));
    }
    Ok(())
}
