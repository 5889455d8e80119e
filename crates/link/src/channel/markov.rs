//! Continuous-time Markov chains over channel states: a jump chain and exponential dwell times.

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimDuration, SimRng, SimTime};

use super::{Channel, ChannelState};

/// How far the sum of a row of probabilities may be from 1 before it is refused; closer rows are renormalised.
/// Published matrices have four digits or more (Fontán et al. 2001; Khan et al. 2023), so that their rows are off by the
/// rounding of the fourth.
const ROW_TOLERANCE: f64 = 1e-4;

/// A continuous-time Markov chain whose jump chain has a zero diagonal and one closed class.
///
/// Without self-loops a closed class has at least two states, so with up to three states there is only one.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain<const N: usize> {
    jump: [[f64; N]; N],
    dwell: [SimDuration; N],
}

impl<const N: usize> Chain<N> {
    /// The chain that leaves state `i` for `j` with probability `jump[i][j]`, after `dwell[i]` on average.
    ///
    /// # Errors
    /// Names `jump[i]` or `dwell[i]` if a row has a diagonal entry or does not sum to 1, or a dwell time is zero.
    pub(super) fn from_jumps(jump: [[f64; N]; N], dwell: [SimDuration; N]) -> Result<Self, Fault> {
        for (state, row) in jump.iter().enumerate() {
            if row[state] != 0.0 {
                return Err(Fault::new(
                    format!("jump[{state}]"),
                    format!("jumps from state {state} to itself"),
                    "a row whose entry on the diagonal is 0 (or `matrix` and `slot`)",
                ));
            }
        }
        if let Some(state) = dwell.iter().position(|dwell| dwell.is_zero()) {
            let field = format!("dwell[{state}]");
            return Err(Fault::new(field, "is zero", "a mean time above zero"));
        }
        Ok(Self { jump: normalised("jump", jump)?, dwell })
    }

    /// The chain that moves from `i` to `j` with probability `matrix[i][j]` at the end of every slot, in continuous
    /// time: jumps `p_ij / (1 - p_ii)`, mean dwell `slot / (1 - p_ii)`.
    ///
    /// # Errors
    /// Names `matrix[i]` or `slot` if a row does not sum to 1 or never leaves its state, or the slot is empty.
    pub(super) fn from_slots(matrix: [[f64; N]; N], slot: SimDuration) -> Result<Self, Fault> {
        if slot.is_zero() {
            return Err(Fault::new("slot", "is zero", "a time above zero"));
        }
        let mut jump = normalised("matrix", matrix)?;
        let mut dwell = [slot; N];
        for (state, row) in jump.iter_mut().enumerate() {
            row[state] = 0.0;
            let leaving: f64 = row.iter().sum();
            if leaving <= 0.0 {
                return Err(Fault::new(
                    format!("matrix[{state}]"),
                    format!("never leaves state {state}"),
                    "a row whose entry on the diagonal is less than 1",
                ));
            }
            *row = row.map(|probability| probability / leaving);
            dwell[state] = slot * (1.0 / leaving);
        }
        Ok(Self { jump, dwell })
    }

    /// Probabilities of the next state, by state.
    pub const fn jump(&self) -> &[[f64; N]; N] {
        &self.jump
    }

    /// Mean time spent in a state before leaving it.
    pub const fn dwell(&self) -> &[SimDuration; N] {
        &self.dwell
    }

    /// The share of time spent in each state in the long run: the stationary law of the jump chain, weighted with
    /// the dwell times.
    pub fn time_shares(&self) -> [f64; N] {
        let visits = stationary(&self.jump);
        let weights: [f64; N] =
            std::array::from_fn(|state| visits[state] * self.dwell[state].as_secs_f64());
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    }
}

/// Rows that sum to 1 exactly, if they sum to 1 nearly.
fn normalised<const N: usize>(
    field: &str,
    mut rows: [[f64; N]; N],
) -> Result<[[f64; N]; N], Fault> {
    for (index, row) in rows.iter_mut().enumerate() {
        let sum: f64 = row.iter().sum();
        if (sum - 1.0).abs() > ROW_TOLERANCE {
            return Err(Fault::new(
                format!("{field}[{index}]"),
                format!("sums to {sum:.6}"),
                format!("probabilities that sum to 1 within {ROW_TOLERANCE}"),
            ));
        }
        *row = row.map(|probability| probability / sum);
    }
    Ok(rows)
}

/// The stationary law of a stochastic matrix with one closed class: the solution of `x (P - I) = 0` with `sum x = 1`
/// in place of the last, redundant equation, by Gaussian elimination with partial pivoting.
fn stationary<const N: usize>(matrix: &[[f64; N]; N]) -> [f64; N] {
    let mut system: [[f64; N]; N] = std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            if row == N - 1 {
                1.0
            } else {
                matrix[column][row] - f64::from(u8::from(row == column))
            }
        })
    });
    let mut right: [f64; N] = std::array::from_fn(|row| f64::from(u8::from(row == N - 1)));
    for column in 0..N {
        let pivot = (column..N)
            .max_by(|a, b| system[*a][column].abs().total_cmp(&system[*b][column].abs()))
            .unwrap_or(column);
        system.swap(column, pivot);
        right.swap(column, pivot);
        for row in (0..N).filter(|row| *row != column) {
            let factor = system[row][column] / system[column][column];
            let pivot_row = system[column];
            for (entry, pivot) in system[row].iter_mut().zip(pivot_row) {
                *entry -= factor * pivot;
            }
            right[row] -= factor * right[column];
        }
    }
    // Rounding may leave a state that is never visited slightly below zero.
    std::array::from_fn(|state| (right[state] / system[state][state]).max(0.0))
}

/// A channel that moves among `N` states as a [`Chain`] does.
#[derive(Debug)]
pub(super) struct MarkovChannel<const N: usize> {
    chain: Chain<N>,
    states: [ChannelState; N],
    current: usize,
    change: SimTime,
    rng: SimRng,
}

impl<const N: usize> MarkovChannel<N> {
    /// Starts in `initial`, or in a state drawn from the long-run shares of time.
    pub fn new(
        chain: Chain<N>,
        states: [ChannelState; N],
        initial: Option<usize>,
        rng: &RngTree,
    ) -> Self {
        let mut rng = rng.rng();
        let current = initial.unwrap_or_else(|| rng.categorical(&chain.time_shares()));
        let mut channel = Self { chain, states, current, change: SimTime::ZERO, rng };
        channel.stay();
        channel
    }

    /// Draws how long the current state lasts. The exponential law has no memory, so this holds at the start too.
    fn stay(&mut self) {
        let dwell = self.rng.exponential(self.chain.dwell[self.current]);
        self.change += dwell.max(SimDuration::from_nanos(1));
    }
}

impl<const N: usize> Channel for MarkovChannel<N> {
    fn state(&self) -> &ChannelState {
        &self.states[self.current]
    }

    fn next_change(&self) -> Option<SimTime> {
        Some(self.change)
    }

    fn advance(&mut self, now: SimTime) -> &ChannelState {
        while self.change <= now {
            self.current = self.rng.categorical(&self.chain.jump[self.current]);
            self.stay();
        }
        self.state()
    }
}
