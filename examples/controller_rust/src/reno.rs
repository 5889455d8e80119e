//! NewReno as QUIC has it (RFC 9002, section 7 and appendix B).

use std::collections::HashMap;

use crate::leobench::{Ack, Acked, Decision, Loss, NONE};

/// The largest initial window in bytes, unless two packets are larger (RFC 9002, section 7.2).
const INITIAL_WINDOW: u64 = 14_720;

/// State that a loss changes, and a spurious one changes back.
#[derive(Clone, Copy)]
struct State {
    window: u64,
    /// Growth of less than a byte.
    fraction: f64,
    ssthresh: Option<u64>,
    /// When the latest recovery period began.
    recovery: Option<u64>,
}

/// Controls the congestion of one path.
pub struct Reno {
    packet: u64,
    loss_reduction: f64,
    state: State,
    before: Option<State>,
}

impl Reno {
    /// A controller for packets of so many bytes.
    pub fn new(packet: u64, parameters: &HashMap<String, String>) -> Result<Self, String> {
        let mut loss_reduction = 0.5;
        for (name, value) in parameters {
            let number = value.parse().ok().filter(|number| (0.0..1.0).contains(number));
            match (name.as_str(), number) {
                ("loss_reduction", Some(number)) => loss_reduction = number,
                ("loss_reduction", None) => {
                    return Err(format!(
                        "`{name}` is {value}; allowed: a number from 0 to below 1"
                    ));
                }
                _ => {
                    return Err(format!(
                        "there is no parameter `{name}`; allowed: `loss_reduction`"
                    ));
                }
            }
        }
        let window = (10 * packet).min(INITIAL_WINDOW.max(2 * packet));
        let state = State { window, fraction: 0.0, ssthresh: None, recovery: None };
        Ok(Self { packet, loss_reduction, state, before: None })
    }

    /// The numbers for the transport.
    pub fn decision(&self) -> Decision {
        let State { window, ssthresh, .. } = self.state;
        Decision { window, pacing_rate: NONE, ssthresh: ssthresh.unwrap_or(NONE) }
    }

    /// Grows by the bytes acknowledged, or by a packet in a round trip (appendix B.5).
    pub fn on_ack(&mut self, ack: &Ack, packets: &[Acked]) {
        if ack.recovering != 0 || ack.cwnd_limited == 0 {
            return;
        }
        let state = &mut self.state;
        for packet in packets {
            if state.recovery.is_some_and(|began| packet.sent <= began) {
                continue;
            }
            let slow_start = state.ssthresh.is_none_or(|ssthresh| state.window < ssthresh);
            state.fraction += if slow_start {
                packet.size as f64
            } else {
                (self.packet * packet.size) as f64 / (state.window as f64 + state.fraction)
            };
            state.window += state.fraction as u64;
            state.fraction = state.fraction.fract();
        }
    }

    /// Halves the window once in a recovery period (appendices B.6 and B.8).
    pub fn on_loss(&mut self, loss: &Loss) {
        let least = 2 * self.packet;
        if loss.answered == 0 && self.state.recovery.is_none_or(|began| loss.sent > began) {
            self.before = Some(self.state);
            let reduced = (self.state.window as f64 + self.state.fraction) * self.loss_reduction;
            let window = (reduced as u64).max(least);
            self.state =
                State { window, fraction: 0.0, ssthresh: Some(window), recovery: Some(loss.now) };
        }
        if loss.persistent != 0 {
            self.state = State { window: least, fraction: 0.0, recovery: None, ..self.state };
        }
    }

    /// Does the same; no spurious loss takes a mark back (appendix B.7).
    pub fn on_ecn(&mut self, mark: &Loss) {
        self.on_loss(mark);
        self.before = None;
    }

    /// Goes back to the window of before (RFC 9438, section 4.9).
    pub fn on_spurious_loss(&mut self) {
        if let Some(before) = self.before.take().filter(|before| before.window > self.state.window)
        {
            self.state = before;
        }
    }
}
