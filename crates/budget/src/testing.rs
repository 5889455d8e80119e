//! Shared helpers of this crate's tests.

use leobench_base::spec::{At, Spec, SpecError};

/// Reads a specification as it would stand in a scenario.
pub(crate) fn read<T: Spec>(json: &str) -> Result<T, SpecError> {
    T::read(&serde_json::from_str(json).unwrap(), &At::ROOT)
}

/// Checks where and why a specification is refused, on one line, with what would be right unless a key is missing.
#[track_caller]
pub(crate) fn assert_refused<T: Spec + std::fmt::Debug>(json: &str, place: &str, problem: &str) {
    let error = read::<T>(json).expect_err(json);
    assert_eq!(error.place, place, "{error}");
    assert!(error.problem.contains(problem), "{error}");
    let helps = error.allowed.as_ref().is_some_and(|allowed| !allowed.is_empty());
    assert!(helps || error.problem == "is required but missing", "{error}");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}

/// Checks that `found` is within `tolerance` of `expected`, both absolute.
#[track_caller]
pub(crate) fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}");
}
