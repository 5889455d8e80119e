//! Without the Python package, a scheduler written in Python is refused.

use leobench_base::RngTree;
use leobench_base::spec::{At, Spec, Table, Value};
use leobench_transport::{Plugins, SchedulerContext, SchedulerSpec};

#[test]
fn a_python_scheduler_needs_python() {
    let mut table = Table::new();
    table.insert("python", Value::String("mymodule:MyScheduler".into()));
    let spec = SchedulerSpec::read(&Value::Table(table), &At::ROOT).unwrap();
    let said = "is written in Python, which only leobench's Python package can run";
    assert_eq!(spec.model().check(2, Plugins::NONE).unwrap_err().problem, said);
    let context = SchedulerContext { streams: 2, rng: &RngTree::new(1), plugins: Plugins::NONE };
    assert_eq!(spec.model().build(&context).err().unwrap(), said);
}
