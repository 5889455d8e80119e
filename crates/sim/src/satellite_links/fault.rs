//! Faults by their place in a scenario.

use leobench_base::spec::Fault;

/// A fault at a place below another one.
pub(super) fn within(place: &str, fault: Fault) -> Fault {
    let dot = if fault.field.is_empty() { "" } else { "." };
    Fault { field: format!("{place}{dot}{}", fault.field), ..fault }
}
