//! Jitter buffers, worked out by hand.

use leobench_base::{SimDuration, SimTime};

use super::adaptive::AdaptiveSpec;
use super::fixed::FixedSpec;
use super::{JitterBuffer, JitterBufferModel};

fn ms(value: u64) -> SimDuration {
    SimDuration::from_millis(value)
}

fn feed(buffer: &mut dyn JitterBuffer, now: u64, transits: impl IntoIterator<Item = u64>) {
    for transit in transits {
        buffer.on_arrival(SimTime::ZERO + ms(now), ms(transit));
    }
}

#[test]
fn a_fixed_buffer_adds_to_the_first_transit() {
    let mut buffer = FixedSpec { delay: ms(60) }.build();
    assert_eq!(buffer.delay(), None);
    feed(&mut *buffer, 0, [40, 300, 10]);
    assert_eq!(buffer.delay(), Some(ms(100)));
}

/// Of 20 transits, 19 are at most the quantile 0.95; of 21, 20 are. A margin of 10 ms is added.
#[test]
fn an_adaptive_buffer_follows_a_quantile() {
    let mut buffer = AdaptiveSpec::default().build();
    assert_eq!(buffer.delay(), None);
    feed(&mut *buffer, 0, [25]);
    assert_eq!(buffer.delay(), Some(ms(35)));
    feed(&mut *buffer, 0, (1..20).map(|step| 25 + step));
    assert_eq!(buffer.delay(), Some(ms(43 + 10)));
    feed(&mut *buffer, 0, [200]);
    assert_eq!(buffer.delay(), Some(ms(44 + 10)));
    feed(&mut *buffer, 0, [200]);
    assert_eq!(buffer.delay(), Some(ms(200 + 10)), "two of 22 are more than 5 %");
}

#[test]
fn an_adaptive_buffer_forgets_and_has_a_limit() {
    let mut buffer = AdaptiveSpec { most: ms(100), ..AdaptiveSpec::default() }.build();
    feed(&mut *buffer, 0, [500, 20]);
    assert_eq!(buffer.delay(), Some(ms(120)), "the shortest and the limit");
    feed(&mut *buffer, 9_999, [30]);
    assert_eq!(buffer.delay(), Some(ms(120)));
    feed(&mut *buffer, 10_000, [30]);
    assert_eq!(buffer.delay(), Some(ms(40)));
}
