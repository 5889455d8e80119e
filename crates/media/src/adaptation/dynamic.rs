//! DYNAMIC, as dash.js has it: by throughput while the buffer is short, by BOLA once it is long.

use std::collections::VecDeque;

use leobench_base::SimDuration;
use leobench_base::spec::{Fault, Whole};

use super::bola::BolaSpec;
use super::{Adaptation, AdaptationContext, AdaptationModel, Download, PlayerView, below};

leobench_base::spec! {
    /// By throughput while the buffer is short, by BOLA once it is long (DYNAMIC of Spiteri, Sitaraman and Sparacio 2018).
    ///
    /// The default of dash.js, with two rules of that player: throughput is the mean of the last downloads, and from the third
    /// segment on a download may take a share of the buffer only (its InsufficientBufferRule).
    pub struct DynamicSpec: Default check = DynamicSpec::check {
        /// Share of the throughput that is used.
        pub share: f64 = 0.9,
        /// Number of downloads.
        pub window: Whole<1, 100> = Whole::nearest(4),
        /// Length of the buffer from which BOLA may decide.
        pub long_buffer: SimDuration = SimDuration::from_secs(10),
        /// Share of the buffer that the next download may take at that throughput.
        pub patience: f64 = 0.5,
    }
}

/// Segments before the buffer limits the choice (dash.js 4.7).
const UNLIMITED: usize = 2;

impl DynamicSpec {
    fn check(&self) -> Result<(), Fault> {
        for (field, share) in [("share", self.share), ("patience", self.patience)] {
            if !(share > 0.0 && share <= 2.0) {
                return Err(Fault::new(field, "is out of range", "a number above 0, up to 2"));
            }
        }
        Ok(())
    }
}

impl AdaptationModel for DynamicSpec {
    fn build(&self, context: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        Ok(Box::new(Dynamic {
            share: self.share,
            window: self.window.get() as usize,
            long_buffer_s: self.long_buffer.as_secs_f64(),
            patience: self.patience,
            bola: BolaSpec::default().build(context)?,
            by_bola: false,
            known: VecDeque::new(),
            downloads: 0,
        }))
    }
}

#[derive(Debug)]
struct Dynamic {
    share: f64,
    window: usize,
    long_buffer_s: f64,
    patience: f64,
    bola: Box<dyn Adaptation>,
    /// Whether BOLA decides.
    by_bola: bool,
    /// Throughput of the last downloads in bit/s.
    known: VecDeque<f64>,
    downloads: usize,
}

impl Dynamic {
    /// The choice of the rule that decides at this length of the buffer.
    fn decide(&mut self, view: &PlayerView<'_>, throughput: f64) -> Result<usize, String> {
        let by_throughput = below(view.ladder, self.share * throughput);
        let by_bola = self.bola.choose(view)?;
        let is_long = view.buffer_s >= self.long_buffer_s;
        if is_long && by_bola >= by_throughput {
            self.by_bola = true;
        } else if !is_long && by_bola < by_throughput {
            self.by_bola = false;
        }
        Ok(if self.by_bola { by_bola } else { by_throughput })
    }
}

impl Adaptation for Dynamic {
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String> {
        if self.known.is_empty() {
            return Ok(0);
        }
        let throughput = self.known.iter().sum::<f64>() / self.known.len() as f64;
        let decided = self.decide(view, throughput)?;
        if self.downloads < UNLIMITED {
            return Ok(decided);
        }
        let limit = self.patience * throughput * view.buffer_s / view.segment_s;
        Ok(decided.min(below(view.ladder, limit)))
    }

    fn on_download(&mut self, download: &Download) -> Result<(), String> {
        if self.known.len() == self.window {
            self.known.pop_front();
        }
        self.known.push_back(download.throughput());
        self.downloads += 1;
        Ok(())
    }
}
