//! Round robin over paths, by packets.

use leobench_base::SimTime;
use leobench_base::spec::{Fault, Whole};

use super::{Backlog, Choice, PathScheduler, PathSchedulerContext, PathSchedulerModel, PathView};
use crate::endpoint::PathId;
use crate::plugin::Plugins;

/// Packets that a path takes in its turn.
pub type Turn = Whole<1, 1_000>;

leobench_base::spec! {
    /// The next path in order that has room.
    pub struct RoundRobinSpec: Default {
        /// Packets in a row that a path of each link takes, in the order of `multipath.links`; 1 each by default.
        pub weights: Option<Vec<Turn>>,
    }
}

impl PathSchedulerModel for RoundRobinSpec {
    fn check(&self, links: &[String], _plugins: &Plugins) -> Result<(), Fault> {
        let Some(weights) = &self.weights else { return Ok(()) };
        let (given, links) = (weights.len(), links.len());
        if given == links {
            return Ok(());
        }
        let found =
            format!("has {given} weight{}, for {links} links", if given == 1 { "" } else { "s" });
        Err(Fault::new("weights", found, format!("{links} whole numbers, one for each of `links`")))
    }

    fn build(&self, _: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String> {
        let weights = self.weights.iter().flatten().map(|turn| turn.get()).collect();
        Ok(Box::new(RoundRobin { weights, turn: PathId(0), sent: 0, weight: 1 }))
    }
}

struct RoundRobin {
    /// Packets in a turn, by link; 1 where there is none.
    weights: Vec<u32>,
    /// The path whose turn it is, or that has just ended.
    turn: PathId,
    /// Packets that it has sent in its turn, of so many.
    sent: u32,
    weight: u32,
}

impl RoundRobin {
    fn weight(&self, path: &PathView) -> u32 {
        path.link.and_then(|link| self.weights.get(link)).copied().unwrap_or(1)
    }
}

impl PathScheduler for RoundRobin {
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        _backlog: &Backlog,
    ) -> Result<Choice, String> {
        let from = if self.sent < self.weight { self.turn } else { PathId(self.turn.0 + 1) };
        let available = || paths.iter().filter(|path| path.has_room(now));
        let Some(next) = available().find(|path| path.id >= from).or_else(|| available().next())
        else {
            return Ok(Choice::Wait);
        };
        if next.id != self.turn || self.sent >= self.weight {
            (self.turn, self.sent) = (next.id, 0);
        }
        self.weight = self.weight(next);
        Ok(Choice::One(next.id))
    }

    fn on_sent(&mut self, path: PathId) -> Result<(), String> {
        if path == self.turn {
            self.sent += 1;
        }
        Ok(())
    }
}
