//! A run, from its request to its answer. Both are JSON; the columns of tables stay where they are, and the answer has their
//! addresses.

use std::collections::BTreeMap;
use std::path::PathBuf;

use leobench_base::Bytes;
use leobench_sim::load::{Source, Syntax, load};
use leobench_sim::record::{ColumnSink, Stored, StoredColumn, StoredTable, StoredValues, Table};
use leobench_sim::scenario::{Engine, Scenario};
use leobench_sim::summary::Summary;
use leobench_sim::{Outcome, Run, RunOptions};
use serde::{Deserialize, Serialize};

/// Most memory for the values of tables: a quarter of the memory that a page can have.
const ROOM: Bytes = Bytes::new(1_000_000_000);

/// The request of a page.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Name of the scenario's file in messages.
    pub file: String,
    /// Its text, in TOML.
    pub text: String,
    /// Values in place of its own: pairs of a place and what would stand there in TOML, as of `leobench run --set`.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// The seed; the scenario's own unless given.
    pub seed: Option<String>,
    /// Names of the tables to keep.
    pub tables: Vec<String>,
}

/// A run that a page drives.
pub struct Session {
    scenario: Scenario,
    run: Option<Run>,
    tables: Vec<StoredTable>,
    /// Seconds of virtual time reached, and at the end.
    progress: (f64, f64),
}

/// The answer to a complete run.
#[derive(Serialize)]
struct Answer<'a> {
    summary: &'a Summary,
    /// By flow, seconds of the start and the end of its longest stall.
    stalls: BTreeMap<&'a str, (f64, f64)>,
    tables: BTreeMap<&'static str, TableView<'a>>,
}

/// A table, by the addresses of its columns.
#[derive(Serialize)]
struct TableView<'a> {
    rows: usize,
    columns: Vec<ColumnView<'a>>,
}

/// A column, by its address.
#[derive(Serialize)]
struct ColumnView<'a> {
    name: &'static str,
    /// `i64`, `f64`, `flag` (a byte each) or `text` (32-bit numbers of `texts`).
    kind: &'static str,
    address: usize,
    /// A byte for each row, 1 where there is a value; none if there is one in every row.
    present: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<&'a [String]>,
}

impl Session {
    /// Sets up the run that a request in JSON asks for.
    ///
    /// # Errors
    /// A message for people if the request or the scenario is wrong.
    pub fn start(request: &[u8]) -> Result<Self, String> {
        let request: Request = serde_json::from_slice(request)
            .map_err(|error| format!("the request of the page: {error}"))?;
        Self::new(&request)
    }

    /// Sets up the run of a request.
    ///
    /// # Errors
    /// A message for people if the scenario is wrong.
    pub fn new(request: &Request) -> Result<Self, String> {
        let Request { file, text, overrides, seed, tables } = request;
        let source = Source { file, text, syntax: Syntax::Toml, folder: PathBuf::new() };
        let mut overrides = overrides.clone();
        overrides.extend(seed.iter().map(|seed| ("seed".to_owned(), seed.clone())));
        let scenario = load(&source, &overrides).map_err(|error| error.to_string())?;
        if scenario.spec.engine == Engine::Real {
            return Err(format!(
                "{file}: engine: is `real`, but a page has no sockets; allowed: `virtual`"
            ));
        }
        let tables = tables.iter().map(|name| table(name)).collect::<Result<Vec<_>, _>>()?;
        let sink = Box::new(ColumnSink::new(&tables, ROOM));
        let run = Run::new(&scenario, scenario.spec.seed, RunOptions::default(), sink);
        let run = run.map_err(|error| format!("{file}: {error}"))?;
        let progress = (0.0, scenario.spec.production().as_secs_f64());
        Ok(Self { scenario, run: Some(run), tables: Vec::new(), progress })
    }

    /// Goes on for at most `events` events. Returns whether the run is over.
    ///
    /// # Errors
    /// A message for people if the run fails.
    pub fn advance(&mut self, events: u64) -> Result<bool, String> {
        let Some(run) = &mut self.run else { return Ok(true) };
        let progress = run.advance(events).map_err(|error| error.to_string())?;
        self.progress = (progress.now.as_secs_f64(), progress.end.as_secs_f64());
        Ok(progress.done)
    }

    /// Seconds of virtual time reached, and at which the sources stop.
    pub const fn progress(&self) -> (f64, f64) {
        self.progress
    }

    /// The scenario as JSON, every default spelled out.
    pub fn resolved(&self) -> String {
        json(&self.scenario.write())
    }

    /// Sums up what was run so far, and returns the answer in JSON. The tables stay in place until the session is dropped.
    ///
    /// # Errors
    /// A message for people if there is nothing to sum up.
    pub fn finish(&mut self) -> Result<String, String> {
        let Some(run) = self.run.take() else {
            return Err("the run was summed up before".to_owned());
        };
        let outcome = run.finish().map_err(|error| error.to_string())?;
        let Outcome { summary, stalls, tables, .. } = outcome;
        self.tables = tables;
        let seconds = stalls.iter().map(|(flow, stall)| {
            (flow.as_str(), (stall.from.as_secs_f64(), stall.to.as_secs_f64()))
        });
        let tables = self.tables.iter().map(|table| (table.table.name(), view(table)));
        let answer =
            Answer { summary: &summary, stalls: seconds.collect(), tables: tables.collect() };
        Ok(json(&answer))
    }

    /// The tables of a run that is summed up.
    pub fn tables(&self) -> &[StoredTable] {
        &self.tables
    }
}

fn table(name: &str) -> Result<Table, String> {
    let found = Table::ALL.into_iter().find(|table| table.name() == name);
    found.ok_or_else(|| format!("the request of the page: there is no table `{name}`"))
}

fn view(table: &StoredTable) -> TableView<'_> {
    let Stored::Columns(columns) = &table.stored else {
        unreachable!("the sink of a session keeps columns");
    };
    let rows = columns.first().map_or(0, |column| rows(&column.values));
    let names = table.table.columns().iter().map(|column| column.name);
    let columns = names.zip(columns).map(|(name, column)| column_view(name, column)).collect();
    TableView { rows, columns }
}

fn rows(values: &StoredValues) -> usize {
    match values {
        StoredValues::Integers(values) => values.len(),
        StoredValues::Floats(values) => values.len(),
        StoredValues::Flags(values) => values.len(),
        StoredValues::Texts { numbers, .. } => numbers.len(),
    }
}

fn column_view<'a>(name: &'static str, column: &'a StoredColumn) -> ColumnView<'a> {
    let (kind, address, texts) = match &column.values {
        StoredValues::Integers(values) => ("i64", values.as_ptr().addr(), None),
        StoredValues::Floats(values) => ("f64", values.as_ptr().addr(), None),
        StoredValues::Flags(values) => ("flag", values.as_ptr().addr(), None),
        StoredValues::Texts { numbers, texts } => {
            ("text", numbers.as_ptr().addr(), Some(texts.as_slice()))
        }
    };
    let present = column.present.as_ref().map(|present| present.as_ptr().addr());
    ColumnView { name, kind, address, present, texts }
}

/// JSON text; failing would be a bug of ours, as only maps with keys other than text cannot be written.
fn json(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(text) => text,
        Err(error) => unreachable!("{error}"),
    }
}

#[cfg(test)]
mod tests;
