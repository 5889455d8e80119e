//! The link as a queueing system, against the formula of its kind.

use super::*;
use crate::testing::assert_mean;

/// Mean waiting time of Poisson packets of 1000 bytes on a link of 8 Mbit/s, in batches of equal size, in ms.
fn waits(load: f64, batches: usize, batch: u64) -> Vec<f64> {
    let mut rng = RngTree::new(17).child("arrivals").rng();
    let mut link = Link::new(plain(), &mbps(8));
    let mut out = LinkOutput::default();
    let gap = SimDuration::from_millis(1) * (1.0 / load);
    let mut now = SimTime::ZERO;
    let batch = |_| {
        for id in 0..batch {
            now += rng.exponential(gap);
            link.enqueue(now, packet(id, 1000), &mut out);
            out.arrivals.clear();
        }
        let mean = link.queue_delay().mean().unwrap() / MS as f64;
        link.restart_queue_delay();
        mean
    };
    (0..batches).map(batch).collect()
}

/// Pollaczek-Khinchine for a constant service time S at load ρ: W = ρ S / (2 (1 - ρ)); S is 1 ms here.
fn assert_pollaczek_khinchine(load: f64, batches: usize, batch: u64) {
    let theory = load / (2.0 * (1.0 - load));
    assert_mean(&format!("M/D/1 wait at load {load}"), &waits(load, batches, batch), theory, 0.02);
}

#[test]
fn poisson_datagrams_wait_as_m_d_1_at_light_load() {
    assert_pollaczek_khinchine(0.3, 50, 10_000);
}

#[test]
fn poisson_datagrams_wait_as_m_d_1_at_medium_load() {
    assert_pollaczek_khinchine(0.6, 50, 20_000);
}

#[test]
fn poisson_datagrams_wait_as_m_d_1_at_heavy_load() {
    assert_pollaczek_khinchine(0.9, 50, 100_000);
}
