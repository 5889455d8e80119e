//! DYNAMIC as in dash.js 5.2.

use leobench_base::{SimDuration, SimTime};

use super::bola_o::BolaO;
use super::{DynamicSpec, IGNORED};
use crate::adaptation::decaying_mean::DecayingMean;
use crate::adaptation::switch_history::SwitchHistory;
use crate::adaptation::{Adaptation, Download, PlayerView, below};

/// Half-lives of the two means of the throughput, and the weight of a second of download time
/// (`throughputFastHalfLifeSeconds`, `throughputSlowHalfLifeSeconds`, `weightDownloadTimeMultiplicationFactor`).
const FAST_S: f64 = 3.0;
const SLOW_S: f64 = 8.0;
const SECOND: f64 = 1.5;
/// Choices in the history, and the drops among them over the others (`switchHistoryRule`).
const CHOICES: usize = 8;
const DROPS: f64 = 0.075;

#[derive(Debug)]
pub(super) struct Version5 {
    share: f64,
    start: f64,
    long_buffer_s: f64,
    patience: f64,
    /// The throughput in bit/s.
    fast: DecayingMean,
    slow: DecayingMean,
    downloads: usize,
    history: SwitchHistory,
    bola: BolaO,
    /// Whether BOLA decides.
    by_bola: bool,
    /// When the last segment was asked for, with how much in the buffer, and its download.
    asked: Option<(SimTime, f64)>,
    download: Option<Download>,
}

impl Version5 {
    pub(super) fn new(spec: &DynamicSpec) -> Self {
        Self {
            share: spec.share,
            start: spec.start(),
            long_buffer_s: spec.long_buffer_s(),
            patience: spec.patience(),
            fast: DecayingMean::new(FAST_S),
            slow: DecayingMean::new(SLOW_S),
            downloads: 0,
            history: SwitchHistory::new(CHOICES, DROPS),
            bola: BolaO::default(),
            by_bola: false,
            asked: None,
            download: None,
        }
    }

    fn throughput(&self) -> Option<f64> {
        Some(self.fast.value()?.min(self.slow.value()?))
    }

    /// Learns of the last segment, by the lengths that the buffer had at its arrival. Returns the time since.
    fn note_segment(&mut self, view: &PlayerView<'_>) -> f64 {
        let (Some((asked, buffer_s)), Some(download)) = (self.asked, self.download.take()) else {
            return 0.0;
        };
        let took_s = download.seconds;
        let left_s = (buffer_s - took_s).max(0.0);
        if left_s <= 0.0 {
            self.bola.on_empty();
        }
        self.bola.on_segment(view, left_s + took_s, download.is_replacement);
        let idle_s = (view.now.saturating_since(asked).as_secs_f64() - took_s).max(0.0);
        for buffer_s in [left_s, view.buffer_s + idle_s] {
            self.hand_over(buffer_s);
        }
        idle_s
    }

    /// BOLA takes over with a long buffer, and hands back with half of it.
    fn hand_over(&mut self, buffer_s: f64) {
        let least = if self.by_bola { self.long_buffer_s / 2.0 } else { self.long_buffer_s };
        self.by_bola = buffer_s >= least;
    }

    fn decide(&mut self, view: &PlayerView<'_>, throughput: f64, idle_s: f64) -> usize {
        let sustained = below(view.ladder, self.share * throughput);
        let mut rung =
            if self.by_bola { self.bola.choose(view, sustained, idle_s) } else { sustained };
        if self.downloads >= IGNORED {
            let limit = self.patience * throughput * view.buffer_s / view.segment_s;
            rung = rung.min(below(view.ladder, limit));
        }
        self.history.limit().map_or(rung, |limit| rung.min(limit))
    }
}

impl Adaptation for Version5 {
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String> {
        let idle_s = self.note_segment(view);
        self.hand_over(view.buffer_s);
        let Some(throughput) = self.throughput() else {
            self.asked = Some((view.now, view.buffer_s));
            return Ok(below(view.ladder, self.start));
        };
        let rung = self.decide(view, throughput, idle_s);
        let pause_s = self.pause_s();
        let asked = view.now + SimDuration::from_secs_f64(pause_s);
        self.asked = Some((asked, view.buffer_s - pause_s));
        if let Some(last) = view.last {
            self.history.push(last, rung);
        }
        Ok(rung)
    }

    fn pause_s(&self) -> f64 {
        if self.by_bola { self.bola.pause_s() } else { 0.0 }
    }

    fn on_download(&mut self, download: &Download) -> Result<(), String> {
        let weight = SECOND * download.seconds;
        self.fast.push(download.throughput(), weight);
        self.slow.push(download.throughput(), weight);
        self.downloads += 1;
        self.download = Some(*download);
        Ok(())
    }

    fn on_abandonment(&mut self, view: &PlayerView<'_>) {
        self.bola.on_abandonment(view);
        self.history = SwitchHistory::new(CHOICES, DROPS);
        // The buffer limits choices by segments that have arrived in full.
        self.downloads -= 1;
        (self.asked, self.download) = (Some((view.now, view.buffer_s)), None);
    }
}
