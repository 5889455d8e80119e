//! A channel that follows a table: piecewise constant, from the scenario or a CSV file.

use std::borrow::Cow;

use leobench_base::spec::{At, Fault, Probability, Spec, SpecError, UpTo, Value, nearest, quoted};
use leobench_base::{BitRate, SimDuration};

use super::csv::cells;
use super::files::{bad_line, each_line, empty};
use super::timeline::{Timeline, time_weighted};
use super::{Channel, ChannelContext, ChannelModel, ChannelState, Mean, Service};

/// The columns a CSV file may have.
const COLUMNS: [&str; 5] = ["time", "rate", "delay", "loss", "up"];
const HEADER: &str =
    "a first line that names the columns: `time`, `rate`, and, if needed, `delay`, `loss`, `up`";

const QUOTES: &str = "quotes around a whole cell or none; quotes inside are doubled";

leobench_base::spec! {
    /// A row of a schedule; omitted values repeat those of the previous row.
    pub struct ScheduleStep {
        /// Time from which the row applies.
        pub at: SimDuration,
        /// Rate; zero holds packets. The first row must give it.
        pub rate: Option<BitRate>,
        /// One-way delay added to the link's own; zero unless given.
        pub delay: Option<SimDuration> [UpTo::DELAY],
        /// Probability that a packet is lost; zero unless given.
        pub loss: Option<Probability>,
        /// Whether the link is up; while it is down, arriving packets are dropped. True unless given.
        pub up: Option<bool>,
    }
}

leobench_base::spec! {
    /// Rate, delay, loss and availability from a table over time.
    ///
    /// The rows come from `steps` or from the CSV `file` with the columns `time,rate,delay,loss,up`, whose cells are
    /// written as in a scenario (`1.5 s,45 Mbps,10 ms,0.01,true`); an empty cell repeats the value of the previous row.
    pub struct ScheduleSpec
        example = r#"{"repeat": "4 s", "steps": [{"at": "0 s", "rate": "50 Mbps", "delay": "10 ms"},
            {"at": "2 s", "rate": "20 Mbps", "delay": "12 ms"}, {"at": "3 s", "up": false}]}"#
        check = check
    {
        /// The rows, the first at `0 s`.
        pub steps: Option<Vec<ScheduleStep>>,
        /// A CSV file with the rows.
        pub file: Option<String>,
        /// Period after which the table starts again; without it the last row holds to the end.
        pub repeat: Option<SimDuration>,
        /// Mean rate that converts limits in `BDP` and in time to bytes; the mean over a period by default.
        pub mean_rate: Option<BitRate>,
    }
}

/// The source of the rows, for messages about one of them.
enum Rows<'a> {
    Inline,
    File { name: &'a str, lines: Vec<usize> },
}

impl Rows<'_> {
    fn fault(
        &self,
        row: usize,
        key: &str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Fault {
        match self {
            Self::Inline => Fault::new(format!("steps[{row}].{key}"), problem, allowed),
            Self::File { name, lines } => {
                let column = if key == "at" { "time" } else { key };
                let problem = format!("{column} {}", problem.into());
                bad_line("file", name, lines[row], problem, allowed)
            }
        }
    }

    fn field(&self) -> &'static str {
        match self {
            Self::Inline => "steps",
            Self::File { .. } => "file",
        }
    }
}

fn check(spec: &ScheduleSpec) -> Result<(), Fault> {
    if spec.mean_rate.is_some_and(BitRate::is_zero) {
        return Err(Fault::new("mean_rate", "is zero", "a rate above zero"));
    }
    match (&spec.steps, &spec.file) {
        (Some(steps), None) => history(steps, spec.repeat, &Rows::Inline).map(|_| ()),
        (None, Some(_)) => Ok(()),
        (None, None) => Err(Fault::new("steps", "is missing", "`steps` or a `file`")),
        (Some(_), Some(_)) => {
            Err(Fault::new("file", "is given together with `steps`", "either `steps` or a `file`"))
        }
    }
}

impl ChannelModel for ScheduleSpec {
    fn build(&self, context: &ChannelContext) -> Result<Box<dyn Channel>, Fault> {
        Ok(Box::new(Timeline::new(self.history(context)?, self.repeat, SimDuration::ZERO)))
    }

    /// Over a period, if it repeats; of its only row, if it has one. Otherwise only the delay is known, up to the last row.
    fn mean(&self, context: &ChannelContext) -> Result<Option<Mean>, Fault> {
        let history = self.history(context)?;
        let end = match (&history[..], self.repeat) {
            (_, Some(period)) => period,
            ([_], None) => SimDuration::from_nanos(1),
            (_, None) if self.mean_rate.is_none() => return Ok(None),
            (.., None) => history[history.len() - 1].0,
        };
        let mean = time_weighted(&history, end);
        Ok(Some(Mean { rate: self.mean_rate.unwrap_or(mean.rate), ..mean }))
    }

    fn goes_down(&self, context: &ChannelContext) -> Result<bool, Fault> {
        Ok(self.history(context)?.iter().any(|(_, state)| !state.up))
    }
}

impl ScheduleSpec {
    fn history(&self, context: &ChannelContext) -> Result<Vec<(SimDuration, ChannelState)>, Fault> {
        check(self)?;
        match (&self.steps, &self.file) {
            (Some(steps), _) => history(steps, self.repeat, &Rows::Inline),
            (None, file) => {
                let name = file.as_deref().unwrap_or_default();
                let table = Table::read(context, name)?;
                history(&table.steps, self.repeat, &Rows::File { name, lines: table.lines })
            }
        }
    }
}

/// The states that the rows mean.
fn history(
    steps: &[ScheduleStep],
    repeat: Option<SimDuration>,
    rows: &Rows<'_>,
) -> Result<Vec<(SimDuration, ChannelState)>, Fault> {
    let Some(first) = steps.first() else {
        return Err(Fault::new(rows.field(), "has no rows", "at least one row, at `0 s`"));
    };
    if !first.at.is_zero() {
        return Err(rows.fault(0, "at", format!("is {} in the first row", first.at), "`0 s`"));
    }
    let Some(rate) = first.rate else {
        return Err(rows.fault(0, "rate", "is missing in the first row", "a rate"));
    };
    if let Some(row) = (1..steps.len()).find(|row| steps[*row].at <= steps[row - 1].at) {
        let problem = format!("is {} after {}", steps[row].at, steps[row - 1].at);
        return Err(rows.fault(row, "at", problem, "a time after that of the previous row"));
    }
    let too_long = |step: &ScheduleStep| step.delay.is_some_and(|delay| delay > UpTo::DELAY.0);
    if let Some(row) = steps.iter().position(too_long) {
        return Err(rows.fault(row, "delay", "is too large", "at most 1 h"));
    }
    let last = steps[steps.len() - 1].at;
    if repeat.is_some_and(|repeat| repeat <= last) {
        let problem = format!("is not after the last row, at {last}");
        return Err(Fault::new("repeat", problem, "a period longer than the table"));
    }
    let (mut rate, mut state) = (rate, ChannelState::at_rate(rate, "up"));
    let mut history = Vec::with_capacity(steps.len());
    let mut ever_up = false;
    for step in steps {
        rate = step.rate.unwrap_or(rate);
        state.service = Service::Rate(rate);
        state.delay = step.delay.unwrap_or(state.delay);
        state.loss = step.loss.map_or(state.loss, Probability::get);
        state.up = step.up.unwrap_or(state.up);
        let label = match (state.up, rate.is_zero()) {
            (true, false) => "up",
            (true, true) => "held",
            (false, _) => "down",
        };
        state.label = Cow::Borrowed(label);
        ever_up |= state.up && !rate.is_zero();
        history.push((step.at, state.clone()));
    }
    if ever_up {
        return Ok(history);
    }
    Err(Fault::new(rows.field(), "is never up", "a row with a rate above zero that is not down"))
}

/// The rows of a CSV file.
#[derive(Default)]
struct Table {
    /// In the order of the file; none before its first line was read.
    columns: Vec<&'static str>,
    steps: Vec<ScheduleStep>,
    /// The line of each step.
    lines: Vec<usize>,
}

impl Table {
    fn read(context: &ChannelContext, name: &str) -> Result<Self, Fault> {
        let mut table = Self::default();
        each_line(context, "file", name, |number, line| {
            if line.trim().is_empty() {
                return Ok(());
            }
            let bad = |problem: String, allowed: String| {
                Err(bad_line("file", name, number, problem, allowed))
            };
            let cells = match cells(line) {
                Ok(cells) => cells,
                Err(problem) => return bad(problem.into(), QUOTES.into()),
            };
            if table.columns.is_empty() {
                table.columns = match columns(&cells) {
                    Ok(columns) => columns,
                    Err(problem) => return bad(problem, HEADER.into()),
                };
                return Ok(());
            }
            if cells.len() != table.columns.len() {
                let allowed = format!("{} cells, as in the first line", table.columns.len());
                return bad(format!("has {} cells", cells.len()), allowed);
            }
            match row(&table.columns, &cells) {
                Ok(step) => table.steps.push(step),
                Err(mut error) => {
                    let allowed = error.allowed.take().unwrap_or_default();
                    return bad(error.to_string(), allowed);
                }
            }
            table.lines.push(number);
            Ok(())
        })?;
        if table.columns.is_empty() { Err(empty("file", name, HEADER)) } else { Ok(table) }
    }
}

/// The columns by name, or what is wrong with them.
fn columns(titles: &[Cow<'_, str>]) -> Result<Vec<&'static str>, String> {
    let mut columns = Vec::new();
    for title in titles {
        let Some(column) = COLUMNS.into_iter().find(|column| column == title) else {
            let hint = nearest(title, &COLUMNS).map(|word| format!(" (did you mean `{word}`?)"));
            return Err(format!("unknown column {}{}", quoted(title), hint.unwrap_or_default()));
        };
        if columns.contains(&column) {
            return Err(format!("column {title:?} appears twice"));
        }
        columns.push(column);
    }
    match ["time", "rate"].into_iter().find(|column| !columns.contains(column)) {
        Some(column) => Err(format!("column {column:?} is missing")),
        None => Ok(columns),
    }
}

fn row(columns: &[&'static str], cells: &[Cow<'_, str>]) -> Result<ScheduleStep, SpecError> {
    fn cell<T: Spec>(value: Option<Value>, column: &str) -> Result<Option<T>, SpecError> {
        value.map(|value| T::read(&value, &At::ROOT.key(column))).transpose()
    }
    let find = |column: &str| {
        let index = columns.iter().position(|name| *name == column)?;
        Some(&*cells[index]).filter(|text| !text.is_empty())
    };
    let text = |column: &str| find(column).map(|text| Value::String(text.to_owned()));
    let loss = find("loss")
        .map(|text| text.parse().map_or_else(|_| Value::String(text.to_owned()), Value::Float));
    // Spreadsheets write TRUE and FALSE.
    let flag = |text: &str| text.to_ascii_lowercase().parse();
    let up = find("up")
        .map(|text| flag(text).map_or_else(|_| Value::String(text.to_owned()), Value::Bool));
    let at = cell(text("time"), "time")?
        .ok_or_else(|| At::ROOT.key("time").missing("is missing").allowed("a time"))?;
    Ok(ScheduleStep {
        at,
        rate: cell(text("rate"), "rate")?,
        delay: cell(text("delay"), "delay")?,
        loss: cell(loss, "loss")?,
        up: cell(up, "up")?,
    })
}
