//! `Learn2Adapt`: a distribution over bitrates that is learned download by download.

use leobench_base::spec::Fault;

use super::{Adaptation, AdaptationContext, AdaptationModel, Download, PlayerView};

leobench_base::spec! {
    /// Online learning for short buffers, after Learn2Adapt (Karagkioules et al. 2020).
    ///
    /// A distribution over the bitrates takes a gradient step after each download: towards higher bitrates, and away from those whose
    /// download takes longer than they play, by the weight of a virtual queue that grows while that is violated. The bitrate
    /// asked for is the one nearest to the distribution's mean, but none whose download would empty the buffer.
    pub struct L2aSpec: Default check = L2aSpec::check {
        /// Segments over which it learns: shorter reacts faster.
        pub horizon: f64 = 4.0,
    }
}

impl L2aSpec {
    fn check(&self) -> Result<(), Fault> {
        if !(1.0..=1_000.0).contains(&self.horizon) {
            return Err(Fault::new("horizon", "is out of range", "a number from 1 to 1000"));
        }
        Ok(())
    }
}

impl AdaptationModel for L2aSpec {
    fn build(&self, _: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        let horizon = self.horizon;
        Ok(Box::new(Learner {
            horizon,
            weights: Vec::new(),
            queue: 0.0,
            throughput: None,
            is_new: false,
        }))
    }
}

#[derive(Debug)]
struct Learner {
    horizon: f64,
    /// The distribution.
    weights: Vec<f64>,
    /// By how much downloads have taken longer than segments play, in segments.
    queue: f64,
    /// Of the last download, in bit/s, and whether nothing was learned from it yet.
    throughput: Option<f64>,
    is_new: bool,
}

impl Learner {
    fn learn(&mut self, view: &PlayerView<'_>, throughput: f64) {
        let highest = view.ladder[view.ladder.len() - 1];
        let load: Vec<_> = view.ladder.iter().map(|rate| rate / throughput).collect();
        let step = 1.0 / (2.0 * self.horizon * libm::sqrt(self.horizon));
        let before = self.weights.clone();
        for ((weight, rate), load) in self.weights.iter_mut().zip(view.ladder).zip(&load) {
            *weight += step * (self.horizon * rate / highest - self.queue * load);
        }
        project(&mut self.weights);
        let violated = dot(&before, &load) - 1.0;
        let moved: f64 = self
            .weights
            .iter()
            .zip(&before)
            .zip(&load)
            .map(|((new, old), load)| (new - old) * load)
            .sum();
        self.queue = (self.queue + violated + moved).max(0.0);
    }
}

impl Adaptation for Learner {
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String> {
        if self.weights.len() != view.ladder.len() {
            self.weights = vec![0.0; view.ladder.len()];
            self.weights[0] = 1.0;
        }
        let Some(throughput) = self.throughput else { return Ok(0) };
        if std::mem::take(&mut self.is_new) {
            self.learn(view, throughput);
        }
        let mean = dot(&self.weights, view.ladder);
        let away = |number: &usize| (view.ladder[*number] - mean).abs();
        let nearest = (0..view.ladder.len()).min_by(|one, other| away(one).total_cmp(&away(other)));
        let budget = view.buffer_s * throughput;
        let affordable = view.bits.iter().rposition(|bits| *bits <= budget);
        Ok(nearest.unwrap_or(0).min(affordable.unwrap_or(0)))
    }

    fn on_download(&mut self, download: &Download) -> Result<(), String> {
        (self.throughput, self.is_new) = (Some(download.throughput()), true);
        Ok(())
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Moves weights to the nearest distribution: none negative, one in all (Duchi et al. 2008, figure 1).
fn project(weights: &mut [f64]) {
    let mut sorted = weights.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (count, weight) in (1..).zip(&sorted) {
        sum += weight;
        let candidate = (sum - 1.0) / f64::from(count);
        if *weight > candidate {
            shift = candidate;
        }
    }
    for weight in weights {
        *weight = (*weight - shift).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::project;

    #[test]
    fn the_projection_is_the_nearest_distribution() {
        for (weights, nearest) in [
            ([2.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
            ([0.9, 0.9, 0.0], [0.5, 0.5, 0.0]),
            ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ] {
            let mut moved = weights;
            project(&mut moved);
            let mut both = moved.iter().zip(nearest);
            assert!(both.all(|(one, other): (&f64, f64)| (one - other).abs() < 1e-12), "{moved:?}");
        }
    }
}
