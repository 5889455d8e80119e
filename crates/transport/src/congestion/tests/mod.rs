mod averages;
mod conformance;
mod growth;
mod path;

use leobench_base::spec::Example;

use super::*;

fn newreno() -> NewRenoSpec {
    NewRenoSpec::example()
}

fn cubic() -> CubicSpec {
    CubicSpec::example()
}
