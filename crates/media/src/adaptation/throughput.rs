//! The highest bitrate below a share of the measured throughput.

use std::collections::VecDeque;

use leobench_base::spec::{Fault, Whole};

use super::{Adaptation, AdaptationContext, AdaptationModel, Download, PlayerView, below};

leobench_base::spec! {
    /// The highest bitrate below a share of the harmonic mean of the last downloads' throughput.
    ///
    /// The harmonic mean is that of FESTIVE (Jiang et al. 2012), which a single fast download does not mislead.
    pub struct ThroughputSpec: Default check = ThroughputSpec::check {
        /// Share of the throughput that is used.
        pub share: f64 = 0.9,
        /// Number of downloads.
        pub window: Whole<1, 100> = Whole::nearest(5),
    }
}

impl ThroughputSpec {
    fn check(&self) -> Result<(), Fault> {
        if !(self.share > 0.0 && self.share <= 2.0) {
            return Err(Fault::new("share", "is out of range", "a number above 0, up to 2"));
        }
        Ok(())
    }
}

impl AdaptationModel for ThroughputSpec {
    fn build(&self, _: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        let window = self.window.get() as usize;
        Ok(Box::new(Throughput { share: self.share, window, known: VecDeque::new() }))
    }
}

#[derive(Debug)]
struct Throughput {
    share: f64,
    window: usize,
    /// Throughput of the last downloads in bit/s.
    known: VecDeque<f64>,
}

impl Adaptation for Throughput {
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String> {
        if self.known.is_empty() {
            return Ok(0);
        }
        let times: f64 = self.known.iter().map(|throughput| 1.0 / throughput).sum();
        Ok(below(view.ladder, self.share * self.known.len() as f64 / times))
    }

    fn on_download(&mut self, download: &Download) -> Result<(), String> {
        if self.known.len() == self.window {
            self.known.pop_front();
        }
        self.known.push_back(download.throughput());
        Ok(())
    }
}
