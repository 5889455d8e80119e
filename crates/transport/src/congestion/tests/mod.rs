mod averages;
mod conformance;
mod growth;
pub(super) mod link;
pub(super) mod path;
mod throughput;

use leobench_base::spec::Example;

use super::*;

fn newreno() -> NewRenoSpec {
    NewRenoSpec::example()
}

fn cubic() -> CubicSpec {
    CubicSpec::example()
}

fn context() -> CongestionContext<'static> {
    static TREE: std::sync::OnceLock<RngTree> = std::sync::OnceLock::new();
    CongestionContext { rng: TREE.get_or_init(|| RngTree::new(1)), paced: false }
}
