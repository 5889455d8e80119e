//! Tells the crate which commit it is built from.
//!
//! `LEOBENCH_COMMIT` names it where the build has no repository, such as in a container. Otherwise git is asked, but only
//! for wheels: in a checkout, Python asks git when the version is wanted, so that a commit compiles nothing anew.

use std::path::{Component, Path};
use std::process::Command;

/// The cargo profile of wheels.
const PROFILE: &str = "wheel";

fn main() {
    println!("cargo::rerun-if-env-changed=LEOBENCH_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let named = std::env::var("LEOBENCH_COMMIT").ok().filter(|commit| !commit.is_empty());
    // As git shortens it below.
    let named = named.map(|commit| commit.chars().take(12).collect());
    if let Some(commit) = named.or_else(|| of_wheel().then(of_repository).flatten()) {
        println!("cargo::rustc-env=LEOBENCH_BUILD_COMMIT={commit}");
    }
}

/// Whether this build is for a wheel. Cargo tells the profile's name by the folder of the output only.
fn of_wheel() -> bool {
    let folder = std::env::var("OUT_DIR").unwrap_or_default();
    Path::new(&folder).components().any(|part| part == Component::Normal(PROFILE.as_ref()))
}

/// The commit of the repository that this workspace is the top of, if it is one.
fn of_repository() -> Option<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().ok()?;
    let git = |words: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&workspace).args(words).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // A source archive may be unpacked inside another repository.
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != workspace {
        return None;
    }
    // The next commit changes the head's log, and with it the answer.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { commit + "+" })
}
