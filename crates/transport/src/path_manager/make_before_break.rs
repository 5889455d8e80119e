//! One path at a time, and the next one before a forecast handover takes the present one away.

use leobench_base::spec::{Fault, UpTo};
use leobench_base::{SimDuration, SimTime};

use super::active::Active;
use super::standby::Timeouts;
use super::{Candidate, ManagedFlow, PathManager, PathManagerModel, PathState, Want};

leobench_base::spec! {
    /// One path at a time; the next of `links` opens, or stops being a backup, before a forecast handover.
    ///
    /// The path that is left stays open as a backup. The flow needs a `forecast`. A path that fails without a forecast is replaced as
    /// by `standby`.
    #[derive(Copy)]
    pub struct MakeBeforeBreakSpec: Default {
        /// Time before a forecast handover at which the next path opens. It takes a round trip to validate a path, and the data in
        /// flight on the old one another half.
        pub lead: SimDuration [UpTo::DELAY] = SimDuration::from_secs(1),
        /// Probe timeouts in a row after which a path has failed.
        pub after: Timeouts = Timeouts::nearest(2),
    }
}

impl PathManagerModel for MakeBeforeBreakSpec {
    fn check(&self, flow: ManagedFlow) -> Result<(), Fault> {
        if flow.has_forecasts {
            return Ok(());
        }
        let allowed = "a flow with `forecast`, or `standby`";
        Err(Fault::new("", "needs forecasts of handovers", allowed))
    }

    fn build(&self) -> Box<dyn PathManager> {
        let Self { lead, after } = *self;
        Box::new(MakeBeforeBreak { lead, after: after.get(), active: Active::default() })
    }
}

struct MakeBeforeBreak {
    lead: SimDuration,
    after: u32,
    active: Active,
}

impl MakeBeforeBreak {
    /// Whether a candidate is interrupted between `now` and the lead time after it.
    fn is_near_handover(&self, now: SimTime, candidate: &Candidate) -> bool {
        let near = |at: SimTime| at <= now + self.lead;
        candidate.handover.is_some_and(|handover| near(handover.from) && handover.until > now)
    }

    /// Whether a path that is not in use is kept: it answers, or it is interrupted as forecast.
    fn is_backup(&self, now: SimTime, candidate: &Candidate) -> bool {
        match candidate.path {
            PathState::Usable => true,
            PathState::Silent(timeouts) => {
                timeouts < self.after || self.is_near_handover(now, candidate)
            }
            PathState::Closed | PathState::Opening => candidate.is_backup && candidate.is_up,
        }
    }

    /// When the present path is to be replaced, if that is known and in the future.
    fn next_replacement(&self, now: SimTime, candidates: &[Candidate]) -> Option<SimTime> {
        let handover = candidates[self.active.current()].handover?;
        let from = handover.from.as_nanos().saturating_sub(self.lead.as_nanos());
        Some(SimTime::from_nanos(from)).filter(|from| *from > now)
    }
}

impl PathManager for MakeBeforeBreak {
    fn decide(
        &mut self,
        now: SimTime,
        candidates: &[Candidate],
        wants: &mut [Want],
    ) -> Option<SimTime> {
        self.active.advance(candidates);
        let current = &candidates[self.active.current()];
        let has_failed = current.has_failed(self.after);
        if has_failed || self.is_near_handover(now, current) {
            let stays = |candidate: &Candidate| !self.is_near_handover(now, candidate);
            let mut active = self.active;
            active.replace(candidates, |candidate| candidate.peer == 0 && stays(candidate));
            self.active = active;
            if has_failed {
                // A path that is about to be interrupted is better than one that has failed.
                self.active.replace(candidates, |candidate| candidate.peer == 0);
            }
        } else {
            self.active.keep();
        }
        for (candidate, want) in candidates.iter().zip(wants.iter_mut()) {
            if candidate.peer == 0 && self.is_backup(now, candidate) {
                *want = Want::Backup;
            }
        }
        self.active.want(wants);
        self.next_replacement(now, candidates)
    }
}
