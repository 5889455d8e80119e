//! DYNAMIC as in dash.js 4.7.

use std::collections::VecDeque;

use super::{DynamicSpec, IGNORED};
use crate::adaptation::{Adaptation, Download, PlayerView, below};

#[derive(Debug)]
pub(super) struct Version4 {
    share: f64,
    start: f64,
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

impl Version4 {
    pub(super) fn new(spec: &DynamicSpec, bola: Box<dyn Adaptation>) -> Self {
        Self {
            share: spec.share,
            start: spec.start(),
            window: spec.window.map_or(4, |window| window.get() as usize),
            long_buffer_s: spec.long_buffer_s(),
            patience: spec.patience(),
            bola,
            by_bola: false,
            known: VecDeque::new(),
            downloads: 0,
        }
    }

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

impl Adaptation for Version4 {
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String> {
        if self.known.is_empty() {
            return Ok(below(view.ladder, self.start));
        }
        let throughput = self.known.iter().sum::<f64>() / self.known.len() as f64;
        let decided = self.decide(view, throughput)?;
        if self.downloads < IGNORED {
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
