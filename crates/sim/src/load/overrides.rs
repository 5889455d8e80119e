//! Values put in place of a scenario's own, such as `links.uplink.queue.limit = 15 packets`.

use leobench_base::spec::{At, Spec, SpecError, Table, Value};

use super::{Syntax, expand, hints};
use crate::scenario::ScenarioSpec;

/// Puts what `text` says at `place` in `tree`.
///
/// Names in `place` are divided by dots, numbers of an array's values likewise or in brackets. A word that stands for
/// a table of its kind (`queue = "fifo"`) becomes the table when something below it is meant; a table that is left
/// to its defaults is spelled out first, and one that the scenario is without, but could have, begins empty. An empty text takes the
/// value away.
///
/// # Errors
/// If there is no such place, or nothing there to take away; the mistake of the scenario, if that may be why.
pub(super) fn apply(tree: &mut Value, place: &str, text: &str) -> Result<(), SpecError> {
    let value = parse(text);
    let error = |problem: String| SpecError {
        place: place.to_owned(),
        value: Some(value.to_string()),
        problem,
        allowed: None,
        nearest: None,
    };
    let Some(steps) = steps(place) else {
        let allowed = "names separated by dots, such as `links.uplink.queue.limit`";
        return Err(error("is not a place in a scenario".into()).allowed(allowed));
    };
    expand::named(tree, &steps);
    let absent = if text.trim().is_empty() { None } else { hints::absent_tables(&steps, tree) };
    // Of a scenario with a mistake, nobody knows what it leaves to its defaults.
    let (defaults, mistake) = match ScenarioSpec::read(tree, &At::ROOT) {
        Ok(spec) => (Some(spec.write()), None),
        Err(mistake) => (None, Some(mistake)),
    };
    let mut here = tree;
    let mut spelled = defaults.as_ref();
    for (depth, step) in steps.iter().enumerate() {
        become_table(here, spelled);
        spelled = spelled.and_then(|value| child(value, step));
        if depth + 1 == steps.len()
            && let Value::Table(table) = here
        {
            if !text.trim().is_empty() {
                table.insert(step, value);
                return Ok(());
            }
            if table.remove(step).is_some() {
                return Ok(());
            }
        }
        if absent.is_some_and(|first| first <= depth)
            && spelled.is_none()
            && let Value::Table(table) = here
        {
            table.insert(step, Value::Table(Table::new()));
        }
        here = enter(here, step, spelled).map_err(|words| {
            if let Some(mistake) = &mistake {
                return mistake.clone();
            }
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let missing = format!("there is no `{}`", steps[..=depth].join("."));
            if words.is_empty() {
                let whole = steps[..depth].join(".");
                return error(format!("{missing}: `{whole}` is not a table"))
                    .allowed(format!("`{whole}`"));
            }
            let mut error = error(missing).words(step, &words);
            error.nearest = error.nearest.map(|word| {
                let mut steps = steps.clone();
                steps[depth] = &word;
                steps.join(".")
            });
            error
        })?;
    }
    *here = value;
    Ok(())
}

/// Parses `text` as a TOML value, or else takes it as a string, because shells remove quotes.
fn parse(text: &str) -> Value {
    let document = Syntax::Toml.parse(&format!("value = {text}"));
    let value = match document {
        Ok(Value::Table(mut table)) if table.iter().len() == 1 => table.remove("value"),
        _ => None,
    };
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The names and numbers that `place` is made of; `None` if it is not well formed.
pub(super) fn steps(place: &str) -> Option<Vec<&str>> {
    let mut steps = Vec::new();
    for part in place.split('.') {
        let (name, mut brackets) = part.split_at(part.find('[').unwrap_or(part.len()));
        steps.push(name);
        while !brackets.is_empty() {
            let (index, rest) = brackets.strip_prefix('[')?.split_once(']')?;
            steps.push(index);
            brackets = rest;
        }
    }
    let sound = |step: &&str| !step.is_empty() && !step.contains([']', ' ', '"']);
    steps.iter().all(sound).then_some(steps)
}

/// Turns the word of a kind into a table, unless the place is known to hold a plain string.
fn become_table(here: &mut Value, spelled: Option<&Value>) {
    let plain = spelled.is_some_and(|value| !matches!(value, Value::Table(_)));
    if let Value::String(word) = here
        && !plain
    {
        let mut table = Table::new();
        table.insert("kind", Value::String(std::mem::take(word)));
        *here = Value::Table(table);
    }
}

/// The value that `step` leads to, put there from `spelled` if it is left to its default; otherwise the steps that
/// there are.
fn enter<'t>(
    here: &'t mut Value,
    step: &str,
    spelled: Option<&Value>,
) -> Result<&'t mut Value, Vec<String>> {
    if let (Value::Table(table), Some(default)) = (&mut *here, spelled)
        && table.get(step).is_none()
    {
        table.insert(step, default.clone());
    }
    let words = match here {
        Value::Table(table) => table.iter().map(|(key, _)| key.to_owned()).collect(),
        Value::Array(values) => (0..values.len()).map(|index| index.to_string()).collect(),
        _ => Vec::new(),
    };
    match here {
        Value::Table(table) => table.get_mut(step),
        Value::Array(values) => step.parse().ok().and_then(|index: usize| values.get_mut(index)),
        _ => None,
    }
    .ok_or(words)
}

/// The value that `step` leads to.
pub(super) fn child<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Table(table) => table.get(step),
        Value::Array(values) => values.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}
