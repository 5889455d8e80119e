//! The land mobile satellite channel: a three-state Markov chain of shadowing.
//!
//! The states are those of Fontán et al. 2001, "Statistical modeling of the LMS channel", IEEE Transactions on
//! Vehicular Technology 50(6): line of sight, moderate and deep shadowing. Khan et al. 2023 (Computer Networks)
//! give each a rate and let it last an exponential time.

use leobench_base::spec::{Fault, Probability};
use leobench_base::{BitRate, SimDuration};

use super::markov::{Chain, MarkovChannel};
use super::{Channel, ChannelContext, ChannelModel, ChannelState, Mean};

/// Slot of the published matrices: δ = 100 ms (Khan et al. 2023, Table 1).
const SLOT: SimDuration = SimDuration::from_millis(100);

/// Jump chain of the Ka band (Khan et al. 2023, Table 1).
const KA_JUMP: Matrix =
    [[0.0, 0.93156, 0.068_437], [0.34526, 0.0, 0.65474], [0.070_012, 0.92999, 0.0]];
/// Mean sojourn times of the Ka band in microseconds (Khan et al. 2023, Table 1).
const KA_DWELL_US: [u64; 3] = [253_000, 729_900, 166_600];
/// Rates of the Ka band in kbit/s: 100, 50 and 20 % of 80 Mbit/s (Khan et al. 2023, Table 1).
const KA_KBPS: [u64; 3] = [80_000, 40_000, 16_000];

/// Jump chain of the S band (Khan et al. 2023, Table 1).
const S_JUMP: Matrix =
    [[0.0, 0.94076, 0.059_243], [0.77084, 0.0, 0.22916], [0.49418, 0.50582, 0.0]];
/// Mean sojourn times of the S band in microseconds (Khan et al. 2023, Table 1).
const S_DWELL_US: [u64; 3] = [548_500, 499_200, 352_900];
/// Rates of the S band in kbit/s: 100, 50 and 20 % of 4 Mbit/s (Khan et al. 2023, Table 1).
const S_KBPS: [u64; 3] = [4_000, 2_000, 800];

/// Slot matrix of the S band, suburban, elevation 60° (Fontán et al. 2001).
const S_SUBURBAN_60: Matrix =
    [[0.8019, 0.1314, 0.0667], [0.1386, 0.7596, 0.1018], [0.1242, 0.1032, 0.7726]];
/// Slot matrix of the S band, suburban, elevation 80° (Fontán et al. 2001).
const S_SUBURBAN_80: Matrix =
    [[0.7168, 0.1719, 0.1113], [0.0535, 0.8001, 0.1464], [0.0391, 0.1437, 0.8172]];

type Matrix = [[f64; 3]; 3];

leobench_base::words! {
    /// A published parameter set of the LMS channel.
    pub enum LmsPreset {
        /// Ka band, rates 80, 40 and 16 Mbit/s (Khan et al. 2023, Table 1).
        Ka = "ka",
        /// S band, rates 4, 2 and 0.8 Mbit/s (Khan et al. 2023, Table 1).
        S = "s",
        /// S band, suburban, elevation 60° (Fontán et al. 2001), with the rates of `s`.
        SSuburban60 = "s-suburban-60",
        /// S band, suburban, elevation 80° (Fontán et al. 2001), with the rates of `s`.
        SSuburban80 = "s-suburban-80",
    }
}

leobench_base::words! {
    /// A state of the LMS channel.
    pub enum LmsState {
        /// Line of sight.
        LineOfSight = "line-of-sight",
        /// Moderate shadowing.
        ModerateShadowing = "moderate-shadowing",
        /// Deep shadowing.
        DeepShadowing = "deep-shadowing",
    }
}

leobench_base::spec! {
    /// Land mobile satellite channel: three shadowing states of exponential duration, each with its own rate.
    ///
    /// Takes a `preset` (`ka` and `s`: Khan et al. 2023, Table 1; `s-suburban-60` and `s-suburban-80`: Fontán et
    /// al. 2001 with the rates of `s`), or a custom chain: `rates` with either `jump` and `dwell`, or `matrix`
    /// and `slot`. States are in the order line of sight, moderate shadowing, deep shadowing.
    pub struct LmsSpec example = r#"{"preset": "ka"}"# check = check {
        /// A published parameter set.
        pub preset: Option<LmsPreset>,
        /// Rate in each state; overrides the preset's.
        pub rates: Option<[BitRate; 3]>,
        /// Probability of each next state when a state is left; zero on the diagonal.
        pub jump: Option<[[Probability; 3]; 3]>,
        /// Mean time spent in each state; required with `jump`.
        pub dwell: Option<[SimDuration; 3]>,
        /// Transition probabilities from slot to slot, including that of staying.
        pub matrix: Option<[[Probability; 3]; 3]>,
        /// Length of a slot; required with `matrix`.
        pub slot: Option<SimDuration>,
        /// State at the start; drawn from the stationary distribution if not given.
        pub initial: Option<LmsState>,
    }
}

impl LmsPreset {
    fn chain(self) -> Result<Chain<3>, Fault> {
        match self {
            Self::Ka => Chain::from_jumps(KA_JUMP, KA_DWELL_US.map(SimDuration::from_micros)),
            Self::S => Chain::from_jumps(S_JUMP, S_DWELL_US.map(SimDuration::from_micros)),
            Self::SSuburban60 => Chain::from_slots(S_SUBURBAN_60, SLOT),
            Self::SSuburban80 => Chain::from_slots(S_SUBURBAN_80, SLOT),
        }
    }

    fn rates(self) -> [BitRate; 3] {
        let kbps = match self {
            Self::Ka => KA_KBPS,
            Self::S | Self::SSuburban60 | Self::SSuburban80 => S_KBPS,
        };
        kbps.map(|kbps| BitRate::from_bps(kbps * 1_000))
    }
}

/// A state of a preset in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct PresetState {
    /// Its name.
    pub name: &'static str,
    /// Rate in this state.
    pub rate: BitRate,
    /// Mean time spent in it before it is left.
    pub dwell: SimDuration,
    /// Share of all time spent in it.
    pub time_share: f64,
    /// Probability of each state when it is left, in the order of the states.
    pub jump: [f64; 3],
}

impl LmsPreset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<Self> {
        use leobench_base::spec::{At, Spec, Value};

        Self::read(&Value::String(name.to_owned()), &At::ROOT).ok()
    }

    /// Rates and transitions of this preset's channel, by state.
    ///
    /// # Errors
    /// Never: the published numbers are sound.
    pub fn states(self) -> Result<[PresetState; 3], Fault> {
        let (chain, rates) = (self.chain()?, self.rates());
        let shares = chain.time_shares();
        Ok(std::array::from_fn(|state| PresetState {
            name: LmsState::WORDS[state],
            rate: rates[state],
            dwell: chain.dwell()[state],
            time_share: shares[state],
            jump: chain.jump()[state],
        }))
    }
}

impl LmsSpec {
    /// A published parameter set, started in its long-run distribution.
    pub const fn preset(preset: LmsPreset) -> Self {
        Self {
            preset: Some(preset),
            rates: None,
            jump: None,
            dwell: None,
            matrix: None,
            slot: None,
            initial: None,
        }
    }

    /// The Markov chain of the states.
    ///
    /// # Errors
    /// If not exactly one chain is given, or what is given is none; names the field.
    pub fn chain(&self) -> Result<Chain<3>, Fault> {
        let given = [
            ("jump", self.jump.is_some()),
            ("dwell", self.dwell.is_some()),
            ("matrix", self.matrix.is_some()),
            ("slot", self.slot.is_some()),
        ];
        let extra = |used: &[&str]| {
            given.iter().find(|(name, given)| *given && !used.contains(name)).map(|(name, _)| *name)
        };
        let alone = |source: &str, used: &[&str]| match extra(used) {
            None => Ok(()),
            Some(name) => Err(Fault::new(
                name,
                format!("is given together with `{source}`, which already sets it"),
                "one of `preset`, `jump` and `dwell`, `matrix` and `slot`",
            )),
        };
        let missing = |name: &str, beside: &str| {
            Fault::new(name, format!("is missing but needed with `{beside}`"), "both or a `preset`")
        };
        if let Some(preset) = self.preset {
            alone("preset", &[])?;
            return preset.chain();
        }
        match (self.jump, self.dwell, self.matrix, self.slot) {
            (Some(jump), Some(dwell), ..) => {
                alone("jump", &["jump", "dwell"])?;
                Chain::from_jumps(numbers(jump), dwell)
            }
            (.., Some(matrix), Some(slot)) => {
                alone("matrix", &["matrix", "slot"])?;
                Chain::from_slots(numbers(matrix), slot)
            }
            (Some(_), None, ..) => Err(missing("dwell", "jump")),
            (None, Some(_), ..) => Err(missing("jump", "dwell")),
            (.., Some(_), None) => Err(missing("slot", "matrix")),
            (.., None, Some(_)) => Err(missing("matrix", "slot")),
            (None, None, None, None) => Err(Fault::new(
                "preset",
                "is missing",
                "a `preset`, or `rates` with `jump` and `dwell`, or `rates` with `matrix` and `slot`",
            )),
        }
    }

    /// The rate in each state.
    ///
    /// # Errors
    /// If neither a preset nor rates are given.
    pub fn state_rates(&self) -> Result<[BitRate; 3], Fault> {
        self.rates.or_else(|| self.preset.map(LmsPreset::rates)).ok_or_else(|| {
            Fault::new("rates", "is missing", "three rates, or a `preset` that has its own")
        })
    }

    /// The mean rate over time, in bits per second.
    ///
    /// # Errors
    /// If the chain or the rates are not well given.
    pub fn mean_rate(&self) -> Result<f64, Fault> {
        let shares = self.chain()?.time_shares();
        let rates = self.state_rates()?;
        Ok(shares.iter().zip(rates).map(|(share, rate)| share * rate.bps() as f64).sum())
    }
}

fn numbers(matrix: [[Probability; 3]; 3]) -> Matrix {
    matrix.map(|row| row.map(Probability::get))
}

fn check(spec: &LmsSpec) -> Result<(), Fault> {
    if spec.mean_rate()? > 0.0 {
        return Ok(());
    }
    Err(Fault::new(
        "rates",
        "are zero in every state visited, so the link is never up",
        "a rate above zero",
    ))
}

impl ChannelModel for LmsSpec {
    fn build(&self, context: &ChannelContext) -> Result<Box<dyn Channel>, Fault> {
        check(self)?;
        let [line_of_sight, moderate, deep] = self.state_rates()?;
        let states = [
            ChannelState::at_rate(line_of_sight, LmsState::LineOfSight.word()),
            ChannelState::at_rate(moderate, LmsState::ModerateShadowing.word()),
            ChannelState::at_rate(deep, LmsState::DeepShadowing.word()),
        ];
        let initial = self.initial.map(|state| state as usize);
        Ok(Box::new(MarkovChannel::new(self.chain()?, states, initial, &context.rng)))
    }

    fn mean(&self, _context: &ChannelContext) -> Result<Option<Mean>, Fault> {
        self.mean_rate().map(|rate| Some(Mean::at_rate(rate)))
    }

    fn is_random(&self) -> bool {
        true
    }
}
