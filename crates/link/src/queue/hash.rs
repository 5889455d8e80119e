//! How flows and hosts are spread over queues.

/// Spreads a hash over all 64 bits, differently for every `perturbation`.
pub(super) fn spread(hash: u32, perturbation: u64) -> u64 {
    leobench_base::mix(u64::from(hash) ^ perturbation)
}

/// A number below `count` from the upper half of a spread hash.
pub(super) fn index(spread: u64, count: usize) -> usize {
    (((spread >> 32) * count as u64) >> 32) as usize
}
