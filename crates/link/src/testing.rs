//! Shared helpers of this crate's tests.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use leobench_base::spec::{At, Spec, SpecError};
use leobench_base::{
    Bytes, Descriptor, Destination, Header, Meta, Protocol, RngTree, SimTime, Slot, Tag,
};

use crate::channel::ChannelContext;

/// A UDP packet of `size` bytes.
pub(crate) fn packet(id: u64, size: u64) -> Descriptor {
    packet_of(id, size, 1)
}

/// A UDP packet of `size` bytes of the flow from a port.
pub(crate) fn packet_of(id: u64, size: u64, port: u16) -> Descriptor {
    packet_between(id, size, [([10, 0, 0, 1], port), ([10, 0, 0, 2], 2)].map(Into::into))
}

/// A UDP packet of `size` bytes from one address and port to another.
pub(crate) fn packet_between(id: u64, size: u64, ends: [SocketAddr; 2]) -> Descriptor {
    let [source, destination] = ends;
    let mut meta = Meta::new(SimTime::ZERO, Protocol::Udp, source, destination, Bytes::new(size));
    meta.id = id;
    meta.label(None, Destination::Unknown);
    Descriptor { meta: Header::of(&meta), slot: Slot::default(), tag: Tag::default() }
}

/// Seed `seed`, files from this crate's `testdata`.
pub(crate) fn context(seed: u64) -> ChannelContext {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata");
    ChannelContext { folder, rng: RngTree::new(seed) }
}

/// Reads a specification as it would stand in a scenario.
pub(crate) fn read<T: Spec>(json: &str) -> Result<T, SpecError> {
    T::read(&serde_json::from_str(json).unwrap(), &At::ROOT)
}

/// Checks where and why a specification is refused.
#[track_caller]
pub(crate) fn assert_refused<T: Spec + std::fmt::Debug>(json: &str, place: &str, problem: &str) {
    let error = read::<T>(json).expect_err(json);
    assert_eq!(error.place, place, "{error}");
    assert!(error.problem.contains(problem), "{error}");
    assert!(
        error.allowed.is_some_and(|allowed| !allowed.is_empty()),
        "says nothing of what is allowed"
    );
}

/// A folder with files, removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A folder of its own for the test `name`.
    pub fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("leobench-link-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), content).unwrap();
    }

    pub fn context(&self) -> ChannelContext {
        ChannelContext { folder: self.0.clone(), rng: RngTree::new(1) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks that the mean of equal `batches` of a run is within `tolerance` (relative) of what theory says, and that
/// this tolerance is no less than three standard errors, as the spread of the batches tells.
#[track_caller]
pub(crate) fn assert_mean(what: &str, batches: &[f64], theory: f64, tolerance: f64) {
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let squares: f64 = batches.iter().map(|batch| (batch - mean) * (batch - mean)).sum();
    let error = (squares / (count * (count - 1.0))).sqrt();
    println!(
        "{what}: {mean:.6} (theory {theory:.6}, off {:+.3} %, 3 s.e. {:.3} %)",
        (mean / theory - 1.0) * 100.0,
        300.0 * error / theory
    );
    assert!(3.0 * error <= tolerance * theory, "{what}: the run is too short");
    assert!((mean - theory).abs() <= tolerance * theory, "{what}: {mean}, not {theory}");
}
