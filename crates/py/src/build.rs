//! The origin of this build: its commit and its optional parts.

/// The commit that the core was built from, followed by `+` if files differed from it. None if the build could not tell.
pub(crate) const COMMIT: Option<&str> = option_env!("LEOBENCH_BUILD_COMMIT");

/// The optional parts that this build has.
pub(crate) fn features() -> Vec<&'static str> {
    let mut features = leobench_sim::FEATURES.to_vec();
    if cfg!(all(feature = "real-time", target_os = "linux")) {
        features.push("real-time");
    }
    features
}
