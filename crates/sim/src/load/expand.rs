//! Flows with a `count`, which stand for as many equal flows.

use leobench_base::spec::{At, SpecError, Table, Value};

use crate::scenario::{FlowSpec, MOST_FLOWS};

const FLOWS: &str = "flows";
const COUNT: &str = "count";

/// Flows with a `count` as the file has them: their names and counts.
#[derive(Default)]
pub(super) struct Counted(Vec<(String, i64)>);

impl Counted {
    /// Whether no flow has a `count`.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An error at its place in the file, which has the flow with a `count` and none of those that it stands for.
    pub(super) fn located(&self, mut error: SpecError) -> SpecError {
        let mut steps = error.place.splitn(3, '.');
        let (Some(FLOWS), Some(name)) = (steps.next(), steps.next()) else { return error };
        let numbered = name.rsplit_once('-').and_then(|(base, number)| {
            let number: i64 = number.parse().ok()?;
            Some((base, number))
        });
        let Some((base, number)) = numbered else { return error };
        if self.0.iter().any(|(name, count)| name == base && (1..=*count).contains(&number)) {
            let rest = steps.next().map_or(String::new(), |rest| format!(".{rest}"));
            error.place = format!("{FLOWS}.{base}{rest}");
        }
        error
    }
}

/// Replaces each flow with a `count` by its flows, `name-1`, `name-2` and so on, in its place. Returns those with one.
///
/// # Errors
/// If one of these is there already.
pub(super) fn all(tree: &mut Value) -> Result<Counted, SpecError> {
    let Some(flows) = flows(tree) else { return Ok(Counted::default()) };
    let counts = flows.iter().filter_map(|(name, flow)| Some((name.to_owned(), count(flow)?)));
    let counted = Counted(counts.collect());
    if counted.is_empty() {
        return Ok(counted);
    }
    for (name, flow) in flows.iter() {
        let taken = |number: &i64| flows.get(&FlowSpec::numbered(name, *number)).is_some();
        if let Some(number) = (1..=count(flow).unwrap_or(0)).find(taken) {
            let (flow, at) = (flow.clone(), At::ROOT.key(FLOWS));
            let at = at.key(name);
            let place = at.key(COUNT);
            let given = super::overrides::child(&flow, COUNT).cloned();
            let problem = format!(
                "makes a flow `{}`, which is there already",
                FlowSpec::numbered(name, number)
            );
            let error = place.error(&given.unwrap_or(Value::Integer(number)), problem);
            return Err(error.allowed("names that differ"));
        }
    }
    *flows = std::mem::take(flows).into_iter().fold(Table::new(), |mut expanded, (name, flow)| {
        put(&mut expanded, &name, flow);
        expanded
    });
    Ok(counted)
}

/// Replaces the flow of which `steps` names one, if there is such a flow.
pub(super) fn named(tree: &mut Value, steps: &[&str]) {
    let [FLOWS, name, ..] = steps else { return };
    let Some(flows) = flows(tree) else { return };
    let Some((base, number)) = name.rsplit_once('-') else { return };
    let number: Option<i64> = number.parse().ok();
    let count = flows.get(base).and_then(count);
    let is_one = number.zip(count).is_some_and(|(number, count)| (1..=count).contains(&number));
    let is_free = |number| flows.get(&FlowSpec::numbered(base, number)).is_none();
    if !is_one || !(1..=count.unwrap_or(0)).all(is_free) {
        return;
    }
    *flows = std::mem::take(flows).into_iter().fold(Table::new(), |mut expanded, (name, flow)| {
        if name == base {
            put(&mut expanded, &name, flow);
        } else {
            expanded.insert(&name, flow);
        }
        expanded
    });
}

fn flows(tree: &mut Value) -> Option<&mut Table> {
    let Value::Table(tree) = tree else { return None };
    match tree.get_mut(FLOWS)? {
        Value::Table(flows) => Some(flows),
        _ => None,
    }
}

/// The number of flows that one stands for; `None` without a sound `count`.
fn count(flow: &Value) -> Option<i64> {
    let Value::Table(flow) = flow else { return None };
    match flow.get(COUNT)? {
        Value::Integer(count) if (1..=i64::from(MOST_FLOWS)).contains(count) => Some(*count),
        _ => None,
    }
}

/// Adds a flow, or as many as it stands for.
fn put(flows: &mut Table, name: &str, mut flow: Value) {
    let Some(count) = count(&flow) else {
        flows.insert(name, flow);
        return;
    };
    if let Value::Table(flow) = &mut flow {
        flow.remove(COUNT);
    }
    for number in 1..=count {
        flows.insert(&FlowSpec::numbered(name, number), flow.clone());
    }
}
