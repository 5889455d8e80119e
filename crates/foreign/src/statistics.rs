//! The counts that a stack reports, and those that it does not.

use leobench_base::Bytes;
use leobench_transport::endpoint::Totals;

use crate::abi::{NONE, Path};

/// A number, if it is there.
pub(crate) fn given(number: u64) -> Option<u64> {
    (number != NONE).then_some(number)
}

/// The totals of a stack; zero where it reports none.
pub(crate) fn totals(path: &Path) -> Totals {
    let count = |number| given(number).unwrap_or_default();
    let bytes = |number| Bytes::new(count(number));
    Totals {
        acked_bytes: bytes(path.acked_bytes),
        lost_packets: count(path.lost_packets),
        lost_bytes: bytes(path.lost_bytes),
        retransmitted_packets: count(path.retransmitted_packets),
        retransmitted_bytes: bytes(path.retransmitted_bytes),
        congestion_events: count(path.congestion_events),
        timeouts: count(path.timeouts),
        spurious_losses: count(path.spurious_losses),
        undos: count(path.undos),
        ecn_marks: count(path.ecn_marks),
        ..Totals::default()
    }
}

/// The totals that a stack may report, by name.
fn counts(path: &Path) -> [(&'static str, u64); 10] {
    [
        ("acked_bytes", path.acked_bytes),
        ("lost_bytes", path.lost_bytes),
        ("lost_packets", path.lost_packets),
        ("retransmitted_packets", path.retransmitted_packets),
        ("retransmitted_bytes", path.retransmitted_bytes),
        ("congestion_events", path.congestion_events),
        ("timeouts", path.timeouts),
        ("spurious_losses", path.spurious_losses),
        ("undos", path.undos),
        ("ecn_marks", path.ecn_marks),
    ]
}

/// Those in a summary that a stack does not report, by name.
pub(crate) fn unknown(path: &Path) -> Vec<&'static str> {
    let unknown = counts(path).into_iter().filter(|(_, count)| *count == NONE);
    unknown
        .map(|(name, _)| name)
        .filter(|name| !["acked_bytes", "lost_bytes"].contains(name))
        .collect()
}

/// Checks that no total has fallen, and none is unknown that was known.
///
/// # Errors
/// The one that has.
pub(crate) fn check(before: &Path, now: &Path) -> Result<(), String> {
    for ((name, before), (_, now)) in counts(before).into_iter().zip(counts(now)) {
        if let (Some(before), now) = (given(before), given(now))
            && now.is_none_or(|now| now < before)
        {
            let now = now.map_or_else(|| "nothing".to_owned(), |now| now.to_string());
            return Err(format!("`path` lowered `{name}` from {before} to {now}"));
        }
    }
    Ok(())
}
