//! A channel replayed from a recording: delivery opportunities in Mahimahi's format, and one-way delays.

mod opportunities;

use std::borrow::Cow;
use std::sync::Arc;

use leobench_base::spec::{Fault, UpTo, cut, quoted};
use leobench_base::{Bytes, SimDuration};

use super::csv::cells;
use super::files::{bad_line, each_line, empty};
use super::timeline::{Timeline, time_weighted};
use super::{Channel, ChannelContext, ChannelModel, ChannelState, Mean, Service};
pub(crate) use opportunities::Cursor;
pub use opportunities::Opportunities;

use opportunities::NANOS_PER_MILLI;

/// Bytes of a delivery opportunity in Mahimahi's traces (Netravali et al., USENIX ATC 2015).
const MAHIMAHI_OPPORTUNITY: Bytes = Bytes::new(1500);

leobench_base::words! {
    /// The start of a run within a trace.
    pub enum TraceStart {
        /// At its beginning.
        Beginning = "beginning",
        /// At a random millisecond, the same for the same seed.
        Random = "random",
    }
}

leobench_base::spec! {
    /// A recorded trace of delivery opportunities (Mahimahi's format), optionally with one of delays.
    ///
    /// Each line of `file` is the millisecond of one opportunity to send up to `opportunity` bytes. An opportunity is
    /// lost if no packet waits; a packet sent in part continues with the next one. The trace and the delays start again
    /// at the time of the last opportunity. Files whose names end in `.gz` are decompressed.
    pub struct TraceSpec
        example = r#"{"file": "example.mahimahi", "delay_file": "example.delay", "start": "random"}"#
        check = check
    {
        /// File with one whole number of milliseconds per line, not decreasing.
        pub file: String,
        /// File with one number of milliseconds per line, such as `31.25`: the one-way delay in each `delay_interval`.
        pub delay_file: Option<String>,
        /// Time that each line of `delay_file` holds; the last one holds until the trace starts again.
        pub delay_interval: SimDuration = SimDuration::from_millis(10),
        /// Bytes of one opportunity.
        pub opportunity: Bytes = MAHIMAHI_OPPORTUNITY,
        /// Start of the run within the trace.
        pub start: TraceStart = TraceStart::Beginning,
    }
}

fn check(spec: &TraceSpec) -> Result<(), Fault> {
    if spec.opportunity.is_zero() {
        return Err(Fault::new(
            "opportunity",
            "is zero, so the link is never up",
            "a size above zero",
        ));
    }
    if spec.delay_interval.is_zero() {
        return Err(Fault::new("delay_interval", "is zero", "a time above zero"));
    }
    Ok(())
}

impl ChannelModel for TraceSpec {
    fn build(&self, context: &ChannelContext) -> Result<Box<dyn Channel>, Fault> {
        check(self)?;
        let millis = opportunities_of(context, &self.file)?;
        let period_ms = millis[millis.len() - 1];
        let offset_ms = match self.start {
            TraceStart::Beginning => 0,
            TraceStart::Random => context.rng.rng().below(period_ms),
        };
        let opportunities = Opportunities::new(&millis, self.opportunity, offset_ms);
        Ok(Box::new(Timeline::new(
            self.history(context, opportunities)?,
            Some(SimDuration::from_millis(period_ms)),
            SimDuration::from_millis(offset_ms),
        )))
    }

    /// The bytes and delays of the trace over its length.
    fn mean(&self, context: &ChannelContext) -> Result<Option<Mean>, Fault> {
        check(self)?;
        let millis = opportunities_of(context, &self.file)?;
        let period = SimDuration::from_millis(millis[millis.len() - 1]);
        let opportunities = Opportunities::new(&millis, self.opportunity, 0);
        let rate = Mean::at_rate(opportunities.mean_rate()).rate;
        let history = self.history(context, opportunities)?;
        Ok(Some(Mean { rate, ..time_weighted(&history, period) }))
    }

    fn is_random(&self) -> bool {
        self.start == TraceStart::Random
    }
}

impl TraceSpec {
    /// The states of the trace from its beginning.
    fn history(
        &self,
        context: &ChannelContext,
        opportunities: Opportunities,
    ) -> Result<Vec<(SimDuration, ChannelState)>, Fault> {
        let delays = match &self.delay_file {
            Some(name) => delays_of(context, name)?,
            None => vec![SimDuration::ZERO],
        };
        let opportunities = Arc::new(opportunities);
        let state = |delay| ChannelState {
            service: Service::Opportunities(Arc::clone(&opportunities)),
            delay,
            loss: 0.0,
            up: true,
            has_way: true,
            label: "trace".into(),
        };
        let steps = (0..).zip(delays).map(|(i, delay)| (self.delay_interval * i, state(delay)));
        Ok(steps.collect())
    }
}

/// The times of a trace's opportunities, in milliseconds.
fn opportunities_of(context: &ChannelContext, name: &str) -> Result<Vec<u64>, Fault> {
    const ALLOWED: &str = "one whole number of milliseconds per line";
    let millis = lines_of(context, "file", name, ALLOWED, millis)?;
    if let Some(index) = (1..millis.len()).find(|index| millis[*index] < millis[index - 1]) {
        let problem = format!("{} comes after {}", millis[index], millis[index - 1]);
        return Err(bad_line("file", name, index + 1, problem, "times that do not decrease"));
    }
    if millis[millis.len() - 1] == 0 {
        let problem = "the last time is 0, so the trace has no length";
        return Err(bad_line("file", name, millis.len(), problem, "a last time above 0"));
    }
    Ok(millis)
}

/// The delays in a file.
fn delays_of(context: &ChannelContext, name: &str) -> Result<Vec<SimDuration>, Fault> {
    const ALLOWED: &str =
        "one number of milliseconds per line, to a nanosecond at most, such as 31.25";
    lines_of(context, "delay_file", name, ALLOWED, delay)
}

/// The parsed lines of a file, at least one.
fn lines_of<T>(
    context: &ChannelContext,
    field: &str,
    name: &str,
    allowed: &str,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Fault> {
    let mut found = Vec::new();
    each_line(context, field, name, |number, line| {
        let text = unquoted(line);
        let read = parse(&text);
        found.push(read.map_err(|problem| bad_line(field, name, number, problem, allowed))?);
        Ok(())
    })?;
    if found.is_empty() { Err(empty(field, name, allowed)) } else { Ok(found) }
}

/// A year, far beyond any recording, so that no sum of times overflows.
const LONGEST_MS: u64 = 366 * 24 * 3_600 * (1_000_000_000 / NANOS_PER_MILLI);

/// Digits of a millisecond after the point: nanoseconds.
const DECIMALS: usize = 6;

/// The text of a line, which may be in quotes.
fn unquoted(line: &str) -> Cow<'_, str> {
    let text = line.trim();
    match cells(text).as_deref() {
        Ok([Cow::Owned(cell)]) => Cow::Owned(cell.clone()),
        _ => Cow::Borrowed(text),
    }
}

/// The whole number of milliseconds of a text; otherwise what is wrong with it.
fn millis(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(millis) if millis <= LONGEST_MS => Ok(millis),
        Ok(millis) => Err(format!("{millis} is too large")),
        Err(_) => Err(format!("{} is not a whole number of milliseconds", quoted(text))),
    }
}

/// The delay of a text in milliseconds, exactly; otherwise what is wrong with it. The longest is that of links in scenarios.
fn delay(text: &str) -> Result<SimDuration, String> {
    let no_number = || format!("{} is not a number of milliseconds", quoted(text));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let whole_digits = whole.strip_prefix('+').unwrap_or(whole);
    if !is_digits(whole_digits)
        || !is_digits(fraction)
        || (whole_digits.len() + fraction.len()) == 0
    {
        return Err(no_number());
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > DECIMALS {
        return Err(format!("{} is finer than a nanosecond", quoted(text)));
    }
    let too_large = || format!("{} is too large", cut(text));
    let nanos =
        format!("0{whole_digits}{fraction:0<DECIMALS$}").parse().map_err(|_| too_large())?;
    let delay = SimDuration::from_nanos(nanos);
    if delay > UpTo::DELAY.0 { Err(too_large()) } else { Ok(delay) }
}
