//! The plan of a run's transfers.

use std::path::Path;

use leobench_base::spec::Fault;
use leobench_base::{Bytes, RngTree, SimDuration, SimRng};

use super::arrivals::ArrivalContext;
use super::matrix::{Demand, MatrixContext};
use super::{MOST_TRANSFERS, Place, TrafficSpec};

/// The transfers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficPlan {
    /// The places with traffic.
    pub places: Vec<Place>,
    /// The ordered pairs of places that have transfers, sender first, by the numbers of the places.
    pub pairs: Vec<[usize; 2]>,
    /// The transfers in the order of their starts.
    pub transfers: Vec<Transfer>,
}

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Number of its pair.
    pub pair: usize,
    /// When it starts.
    pub start: SimDuration,
    /// Its bytes; `None` if it has no end.
    pub size: Option<Bytes>,
    /// Number of its transport.
    pub transport: usize,
}

impl TrafficPlan {
    /// The places of the pairs.
    pub fn used(&self) -> impl Iterator<Item = &Place> {
        let mut used = vec![false; self.places.len()];
        for place in self.pairs.iter().flatten() {
            used[*place] = true;
        }
        self.places.iter().zip(used).filter(|(_, used)| *used).map(|(place, _)| place)
    }

    /// The names of the places of a pair, sender first.
    pub fn names(&self, pair: usize) -> [&str; 2] {
        self.pairs[pair].map(|place| self.places[place].name.as_str())
    }
}

impl TrafficSpec {
    /// Draws the transfers of a run under `seed` that produces for `duration`. `named` are the names of the scenario that `between`
    /// may have.
    ///
    /// # Errors
    /// The fault, with its place below `traffic`.
    pub fn plan(
        &self,
        folder: &Path,
        named: &[&str],
        duration: SimDuration,
        seed: u64,
    ) -> Result<TrafficPlan, Fault> {
        let rng = RngTree::new(seed).child("traffic");
        let places = self.places(folder, named)?;
        let context = MatrixContext { places: &places, folder };
        let demands = self.matrix.model().demands(&context, &mut rng.child("matrix").rng());
        let demands = demands.map_err(|fault| fault.within("matrix"))?;
        let starts = self.starts(demands.len(), duration, &mut rng.child("arrivals").rng())?;
        let pairs = self.deal_pairs(&demands, starts.len(), &rng.child("pairs"));
        let transports = deal(&self.shares()?, starts.len(), &mut rng.child("transports").rng());
        let mut sizes = rng.child("sizes").rng();
        // Whole bytes, one at least.
        let whole = |size: f64| Bytes::new((size.round() as u64).max(1));
        let transfers = starts.into_iter().zip(pairs).zip(transports);
        let transfers = transfers.map(|((start, pair), transport)| {
            let size = self.size.model().draw(&mut sizes).map(whole);
            Transfer { pair, start, size, transport }
        });
        Ok(TrafficPlan::new(places, &demands, transfers.collect()))
    }

    fn starts(
        &self,
        pairs: usize,
        duration: SimDuration,
        rng: &mut SimRng,
    ) -> Result<Vec<SimDuration>, Fault> {
        let context = ArrivalContext {
            flows: self.flows.map(super::Whole::get),
            pairs,
            mean_bytes: self.size.model().mean(),
            duration,
        };
        let arrivals = self.arrivals.model();
        let at = |fault: Fault| fault.within("arrivals");
        let most = f64::from(MOST_TRANSFERS);
        let expected = arrivals.expected(&context).map_err(at)?;
        let too_many = |count: f64| {
            let problem = format!("makes {count:.0} transfers");
            let allowed =
                format!("at most {MOST_TRANSFERS}, as each has ports of its own (`flows`)");
            Fault::new("arrivals", problem, allowed)
        };
        if expected > most {
            return Err(too_many(expected));
        }
        let starts = arrivals.starts(&context, rng).map_err(at)?;
        if starts.is_empty() {
            let allowed = "more transfers, or a longer run";
            return Err(Fault::new("arrivals", "makes no transfer in this run", allowed));
        }
        if starts.len() as f64 > most { Err(too_many(starts.len() as f64)) } else { Ok(starts) }
    }

    /// The numbers of the demands of `count` transfers.
    fn deal_pairs(&self, demands: &[Demand], count: usize, rng: &RngTree) -> Vec<usize> {
        let weights: Vec<_> = demands.iter().map(|demand| demand.weight).collect();
        if self.arrivals.model().is_random() {
            draw(&weights, count, &mut rng.rng())
        } else {
            deal(&weights, count, &mut rng.rng())
        }
    }
}

impl TrafficPlan {
    /// A plan whose transfers have the numbers of demands for pairs; drops the demands without transfers.
    fn new(places: Vec<Place>, demands: &[Demand], mut transfers: Vec<Transfer>) -> Self {
        let mut used = vec![false; demands.len()];
        for transfer in &transfers {
            used[transfer.pair] = true;
        }
        let mut numbers = vec![0; demands.len()];
        let mut pairs = Vec::new();
        for (number, demand) in demands.iter().enumerate().filter(|(number, _)| used[*number]) {
            numbers[number] = pairs.len();
            pairs.push([demand.from, demand.to]);
        }
        for transfer in &mut transfers {
            transfer.pair = numbers[transfer.pair];
        }
        Self { places, pairs, transfers }
    }
}

/// The same values in random order (Durstenfeld 1964, "Algorithm 235: Random permutation").
pub(super) fn shuffled<T>(mut values: Vec<T>, rng: &mut SimRng) -> Vec<T> {
    for last in (1..values.len()).rev() {
        values.swap(last, rng.below(last as u64 + 1) as usize);
    }
    values
}

/// Independent draws in proportion to weights.
fn draw(weights: &[f64], count: usize, rng: &mut SimRng) -> Vec<usize> {
    let ends: Vec<f64> = weights
        .iter()
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let whole = ends.last().copied().unwrap_or_default();
    let mut one = || {
        let point = rng.unit() * whole;
        ends.partition_point(|end| *end <= point).min(weights.len() - 1)
    };
    (0..count).map(|_| one()).collect()
}

/// Deals `count` out in proportion to weights, each share rounded up or down, in random order. The largest remainders are
/// rounded up (method of Hamilton); `rng` decides between equal ones.
fn deal(weights: &[f64], count: usize, rng: &mut SimRng) -> Vec<usize> {
    let whole: f64 = weights.iter().sum();
    let exact: Vec<f64> = weights.iter().map(|weight| weight / whole * count as f64).collect();
    // A share that is whole but for rounding counts as whole.
    let floor = |share: f64| (share + 1e-9).floor();
    let mut counts: Vec<usize> = exact.iter().map(|share| floor(*share) as usize).collect();
    let mut order = shuffled((0..weights.len()).collect(), rng);
    let remainder = |index: &usize| exact[*index] - floor(exact[*index]);
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)));
    let left = count.saturating_sub(counts.iter().sum());
    for index in order.into_iter().take(left) {
        counts[index] += 1;
    }
    let dealt = counts.iter().enumerate().flat_map(|(index, count)| vec![index; *count]);
    shuffled(dealt.collect(), rng)
}
