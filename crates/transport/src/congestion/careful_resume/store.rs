//! Saved congestion control parameters, one set for each path ("CC parameters").

use std::net::IpAddr;

use leobench_base::{Bytes, SimDuration, SimTime};

/// "`saved_cwnd`" and "`saved_rtt`".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Bytes that the path carried in a round trip.
    pub cwnd: Bytes,
    /// Its shortest round trip.
    pub rtt: SimDuration,
}

/// The key of a path ("Remote Endpoint"): our address and the peer's. Ports do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Our address.
    pub local: IpAddr,
    /// The peer's address.
    pub remote: IpAddr,
}

impl std::fmt::Display for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.local, self.remote)
    }
}

/// Saved parameters of all paths.
#[derive(Clone, Debug)]
pub struct Store {
    /// The scenario's parameters for paths that were not observed.
    given: Option<Saved>,
    max_jump: Option<Bytes>,
    lifetime: SimDuration,
    /// Observed parameters and their times; `None` if a retreat deleted them.
    entries: Vec<(Remote, Option<(Saved, SimTime)>)>,
}

impl Store {
    /// A store without observations. `given` holds for every path until it is observed.
    pub fn new(given: Option<Saved>, max_jump: Option<Bytes>, lifetime: SimDuration) -> Self {
        Self { given, max_jump, lifetime, entries: Vec::new() }
    }

    /// Replaces the parameters of a path.
    pub(super) fn save(&mut self, now: SimTime, remote: Remote, saved: Saved) {
        self.put(remote, Some((saved, now)));
    }

    /// Deletes the parameters of a path, those of the scenario too.
    pub(super) fn delete(&mut self, remote: Remote) {
        self.put(remote, None);
    }

    fn put(&mut self, remote: Remote, entry: Option<(Saved, SimTime)>) {
        match self.entries.iter_mut().find(|(known, _)| *known == remote) {
            Some((_, known)) => *known = entry,
            None => self.entries.push((remote, entry)),
        }
    }

    /// The parameters of a path, or why there are none.
    pub(super) fn find(&mut self, now: SimTime, remote: Remote) -> Result<Saved, String> {
        let known = self.entries.iter_mut().find(|(known, _)| *known == remote);
        let Some((_, entry)) = known else {
            return self.given.ok_or_else(|| format!("nothing is saved of {remote}"));
        };
        match *entry {
            Some((saved, at)) if now.saturating_since(at) <= self.lifetime => Ok(saved),
            Some(_) => {
                *entry = None;
                Err(format!("what was saved of {remote} is too old"))
            }
            None => Err(format!("what was saved of {remote} proved wrong or too old")),
        }
    }

    /// "`jump_cwnd`".
    pub(super) fn jump(&self, saved: Saved) -> Bytes {
        let half = Bytes::new(saved.cwnd.get() / 2);
        self.max_jump.map_or(half, |most| most.min(half))
    }
}
