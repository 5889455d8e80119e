//! The model against published values.

use super::{Impairments, conversation_quality, rating};
use crate::call::Codec;

fn of(delay_ms: f64, loss: f64, codec: Codec) -> Impairments {
    Impairments { delay_ms, loss, burst_ratio: 1.0, codec: codec.impairment() }
}

/// With all parameters at their defaults, R is 93.2 (G.107, 06/2015, section 7.7).
#[test]
fn the_defaults_rate_93_2() {
    let perfect = rating(&of(0.0, 0.0, Codec::G711));
    assert!((perfect - 93.2).abs() < 0.05, "{perfect}");
}

/// Impairments under random loss as tabulated in G.113, appendix I (09/1999), table I.2, from which Bpl was fitted later: to
/// within 1.2.
#[test]
fn losses_impair_as_tabulated() {
    let base = rating(&of(0.0, 0.0, Codec::G711));
    for (codec, tabulated) in [
        (
            Codec::G729a,
            [
                (0.0, 11.0),
                (0.5, 13.0),
                (1.0, 15.0),
                (1.5, 17.0),
                (2.0, 19.0),
                (3.0, 23.0),
                (4.0, 26.0),
                (8.0, 36.0),
                (16.0, 49.0),
            ],
        ),
        (
            Codec::G7231,
            [
                (0.0, 15.0),
                (0.5, 17.0),
                (1.0, 19.0),
                (1.5, 22.0),
                (2.0, 24.0),
                (3.0, 27.0),
                (4.0, 32.0),
                (8.0, 41.0),
                (16.0, 55.0),
            ],
        ),
    ] {
        for (percent, impairment) in tabulated {
            let computed = base - rating(&of(0.0, percent / 100.0, codec));
            assert!((computed - impairment).abs() <= 1.2, "{percent} %: {computed}, {impairment}");
        }
    }
}

/// Delays impair by about 0.024 d + 0.11 (d - 177.3) H(d - 177.3) (Cole and Rosenbluth 2001, "Voice over IP performance
/// monitoring", fitted to G.107): to within 1.1 up to 300 ms.
#[test]
fn delays_impair_as_fitted() {
    let base = rating(&of(0.0, 0.0, Codec::G711));
    for delay in (0..=30).map(|step| 10.0 * f64::from(step)) {
        let fitted = 0.024 * delay + 0.11 * (delay - 177.3_f64).max(0.0);
        let computed = base - rating(&of(delay, 0.0, Codec::G711));
        assert!((computed - fitted).abs() < 1.1, "{delay} ms: {computed}, {fitted}");
    }
}

/// G.107, table B.1: the mean opinion scores of the limits of user satisfaction.
#[test]
fn opinions_are_those_of_the_table() {
    for (rating, mos) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
        let computed = conversation_quality(rating);
        assert!((computed - mos).abs() < 0.01, "{rating}: {computed} instead of {mos}");
    }
    for (rating, mos) in [(-1.0, 1.0), (0.0, 1.0), (100.0, 4.5), (110.0, 4.5)] {
        assert!((conversation_quality(rating) - mos).abs() < 1e-9, "{rating}");
    }
}

/// 0 + 95 x 2 / (2 / 2 + 25.1) for 2 % of losses in runs twice as long as independent ones.
#[test]
fn runs_of_losses_count_less_than_their_share() {
    let base = rating(&of(0.0, 0.0, Codec::G711Plc));
    let bursts = Impairments { burst_ratio: 2.0, ..of(0.0, 0.02, Codec::G711Plc) };
    assert!((base - rating(&bursts) - 190.0 / 26.1).abs() < 1e-9);
}
