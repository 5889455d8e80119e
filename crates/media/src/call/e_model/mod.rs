//! The E-model (ITU-T G.107, 06/2015): a rating of a conversation from delay and loss, with all other parameters at their
//! defaults (table 2 of the recommendation).

/// Basic signal-to-noise ratio Ro and simultaneous impairment Is at the defaults (equations 7-2 and 7-8).
const SIGNAL_TO_NOISE: f64 = 94.768_8;
const SIMULTANEOUS: f64 = 1.413_6;
/// Talker echo loudness rating TELR and weighted echo path loss WEPL in dB (table 2).
const TALKER_ECHO: f64 = 65.0;
const ECHO_PATH: f64 = 110.0;
/// Noise and loudness by which the echo is heard: No in dBm0p at the defaults (equation 7-3), RLR in dB.
const NOISE: f64 = -61.179_2;
const RECEIVE_LOUDNESS: f64 = 2.0;

/// Impairments of a conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impairments {
    /// Mouth-to-ear delay in milliseconds; the way back takes as long.
    pub delay_ms: f64,
    /// Share of voice packets lost, from 0 to 1.
    pub loss: f64,
    /// Mean length of a run of losses over that of independent losses, at least 1 (`BurstR`).
    pub burst_ratio: f64,
    /// Equipment impairment factor of the codec (Ie), and its robustness to loss in percent (Bpl).
    pub codec: (f64, f64),
}

/// The rating R (equation 7-1), from about 93 for a perfect conversation downwards.
pub fn rating(impairments: &Impairments) -> f64 {
    let Impairments { delay_ms, loss, burst_ratio, codec: (ie, bpl) } = *impairments;
    let percent = 100.0 * loss;
    // Equation 7-29.
    let equipment = ie + (95.0 - ie) * percent / (percent / burst_ratio + bpl);
    let delay = talker_echo(delay_ms) + listener_echo(delay_ms) + absolute_delay(delay_ms);
    SIGNAL_TO_NOISE - SIMULTANEOUS - delay - equipment
}

/// Idte (equations 7-19 to 7-23), for a mean one-way delay of the echo path T = Ta.
fn talker_echo(delay_ms: f64) -> f64 {
    let t = delay_ms;
    let rating = TALKER_ECHO - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0))
        + 6.0 * libm::exp(-0.3 * t * t);
    let re = 80.0 + 2.5 * (rating - 14.0);
    let above = -1.5 * (NOISE - RECEIVE_LOUDNESS) - re;
    (above / 2.0 + (above * above / 4.0 + 100.0).sqrt() - 1.0) * (1.0 - libm::exp(-t))
}

/// Idle (equations 7-25 and 7-26), for a round trip of Tr = 2 Ta.
fn listener_echo(delay_ms: f64) -> f64 {
    let rle = 10.5 * (ECHO_PATH + 7.0) * libm::pow(2.0 * delay_ms + 1.0, -0.25);
    let above = SIGNAL_TO_NOISE - rle;
    above / 2.0 + (above * above / 4.0 + 169.0).sqrt()
}

/// Idd (equations 7-27 and 7-28), for the default sensitivity to delay: sT = 1, mT = 100 ms.
fn absolute_delay(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(delay_ms / 100.0);
    let root = |value: f64| libm::pow(1.0 + libm::pow(value, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// The mean opinion score of a conversation (MOS-CQE) by its rating, from 1 to 4.5 (G.107, annex B).
pub fn conversation_quality(rating: f64) -> f64 {
    if rating <= 0.0 {
        1.0
    } else if rating >= 100.0 {
        4.5
    } else {
        // The cubic dips below 1 for ratings below 6.5.
        (1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6).max(1.0)
    }
}

#[cfg(test)]
mod tests;
