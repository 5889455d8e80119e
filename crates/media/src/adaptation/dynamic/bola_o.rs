//! BOLA as dash.js 5.2 has it: BOLA-O with a placeholder buffer (its `BolaRule`).

use crate::adaptation::PlayerView;

/// Buffer at which the score of the lowest bitrate is zero (`MINIMUM_BUFFER_S`).
const LEAST_BUFFER_S: f64 = 10.0;
/// Buffer beyond it, by bitrate of the ladder, at which the score of the highest is zero, if that of the player is shorter
/// (`MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`).
const BUFFER_A_BITRATE_S: f64 = 2.0;
/// Share of the placeholder that is left after a segment (`PLACEHOLDER_BUFFER_DECAY`).
const DECAY: f64 = 0.99;

/// BOLA, which takes its buffer for longer than it is by a placeholder: by as much as lets it begin with the bitrate that the
/// throughput allows, and by times in which the player had nothing to download.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BolaO {
    placeholder_s: f64,
    stage: Stage,
    /// How long it puts off the last choice.
    pause_s: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// It was never asked.
    #[default]
    Unused,
    /// The throughput decides; whether a segment has arrived since.
    Starting {
        has_segment: bool,
    },
    Steady,
}

impl BolaO {
    /// Chooses a bitrate, with `sustained` being the one that the throughput allows, and `idle_s` the time since the last
    /// segment arrived.
    pub(super) fn choose(&mut self, view: &PlayerView<'_>, sustained: usize, idle_s: f64) -> usize {
        let Some(levels) = Levels::of(view) else { return 0 };
        self.pause_s = 0.0;
        if self.stage != Stage::Steady {
            self.placeholder_s = (levels.least(sustained) - view.buffer_s).max(0.0);
            let has_segment = self.stage == Stage::Starting { has_segment: true };
            self.stage = if has_segment && view.buffer_s >= view.segment_s {
                Stage::Steady
            } else {
                Stage::Starting { has_segment }
            };
            return sustained;
        }
        self.placeholder_s += idle_s;
        let buffer_s = view.buffer_s + self.placeholder_s;
        let mut rung = levels.best(buffer_s);
        let last = view.last.unwrap_or(0);
        if rung > last && rung > sustained {
            rung = sustained.max(last);
        }
        let excess = (buffer_s - levels.most(rung)).max(0.0);
        // The player's own limit is that of the highest bitrate.
        if rung + 1 < view.ladder.len() {
            self.pause_s = (excess - self.placeholder_s).max(0.0);
        }
        self.placeholder_s = (self.placeholder_s - excess).max(0.0);
        rung
    }

    /// How long the buffer has to shrink before it would rather ask for the last choice than pause, in seconds.
    pub(super) fn pause_s(&self) -> f64 {
        self.pause_s
    }

    /// Learns of a segment, whose bitrate is `view.last`, given the buffer when it was asked for. One that replaces another has not
    /// made the buffer longer.
    pub(super) fn on_segment(
        &mut self,
        view: &PlayerView<'_>,
        buffer_s: f64,
        is_replacement: bool,
    ) {
        let Some(levels) = Levels::of(view) else { return };
        if let Stage::Starting { has_segment } = &mut self.stage {
            *has_segment = true;
        }
        let most = (levels.most(view.last.unwrap_or(0)) - buffer_s).max(0.0);
        self.placeholder_s = (self.placeholder_s * DECAY).min(most);
        if is_replacement {
            self.placeholder_s += view.segment_s;
        }
    }

    /// Learns that a download was abandoned for the bitrate `view.last`: the placeholder shrinks to one with which BOLA just asks for
    /// that.
    pub(super) fn on_abandonment(&mut self, view: &PlayerView<'_>) {
        let Some(levels) = Levels::of(view) else { return };
        let rung = view.last.unwrap_or(0);
        let wanted = if rung > 0 { levels.least(rung) } else { LEAST_BUFFER_S };
        self.placeholder_s = self.placeholder_s.min((wanted - view.buffer_s).max(0.0));
    }

    /// Learns that the buffer has run empty.
    pub(super) fn on_empty(&mut self) {
        if self.stage == Stage::Steady {
            self.placeholder_s = 0.0;
        }
    }
}

/// The weights of a player, and the buffers that they imply.
#[derive(Clone, Copy, Debug)]
struct Levels<'a> {
    ladder: &'a [f64],
    /// The weight V p of utility, and gamma p, which is added to it.
    vp: f64,
    gp: f64,
}

impl<'a> Levels<'a> {
    /// The weights with which the score of the lowest bitrate is zero at 10 s, and that of the highest at the longest buffer;
    /// none for a single bitrate.
    fn of(view: &PlayerView<'a>) -> Option<Self> {
        let ladder = view.ladder;
        let longest =
            view.most_buffer_s.max(LEAST_BUFFER_S + BUFFER_A_BITRATE_S * ladder.len() as f64);
        let highest = libm::log(ladder[ladder.len() - 1] / ladder[0]);
        let gp = highest / (longest / LEAST_BUFFER_S - 1.0);
        (highest > 0.0).then(|| Self { ladder, vp: LEAST_BUFFER_S / gp, gp })
    }

    /// The utility of a bitrate: 1 for the lowest.
    fn utility(&self, rung: usize) -> f64 {
        libm::log(self.ladder[rung] / self.ladder[0]) + 1.0
    }

    /// The bitrate of the highest score at this length of the buffer; of equals, the higher.
    fn best(&self, buffer_s: f64) -> usize {
        let score = |rung: usize| {
            (self.vp * (self.utility(rung) - 1.0 + self.gp) - buffer_s) / self.ladder[rung]
        };
        (1..self.ladder.len())
            .fold(0, |best, rung| if score(rung) >= score(best) { rung } else { best })
    }

    /// The longest buffer with which a bitrate is asked for without a pause; dash.js counts 1 of utility twice, here and in
    /// [`Self::least`].
    fn most(&self, rung: usize) -> f64 {
        self.vp * (self.utility(rung) + self.gp)
    }

    /// The shortest buffer with which it would rather ask for a bitrate than for any lower one.
    fn least(&self, rung: usize) -> f64 {
        let (rate, utility) = (self.ladder[rung], self.utility(rung));
        let level = |lower: usize| {
            let (lower_rate, lower_utility) = (self.ladder[lower], self.utility(lower));
            let crossing = (rate * lower_utility - lower_rate * utility) / (rate - lower_rate);
            self.vp * (self.gp + crossing)
        };
        (0..rung).map(level).fold(0.0, f64::max)
    }
}
