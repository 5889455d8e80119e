//! Recorded pages: the entries of an HTTP Archive become the objects of a page.

mod archive;

use std::path::Path;

use leobench_base::spec::{At, Spec, SpecError, Value, cut};
use leobench_base::{Bytes, SimDuration};
use rustc_hash::{FxHashMap, FxHashSet};

use self::archive::Entry;
use super::check::circle;
use crate::scenario::{MOST_STREAMS, ObjectSpec, Urgency};

const FLOWS: &str = "flows";
const HAR: &str = "har";
const OBJECTS: &str = "objects";

/// Urgency of Chromium's priorities: its stack counts down from the highest (`ConvertRequestPriorityToQuicPriority`), and its
/// developer tools have these names for them.
const PRIORITIES: [(&str, u32); 5] =
    [("VeryHigh", 0), ("High", 1), ("Medium", 2), ("Low", 3), ("VeryLow", 4)];

/// The longest time in an entry in milliseconds, over eleven days.
const LONGEST_MS: f64 = 1e9;
/// The largest body in bytes.
const LARGEST: f64 = 1e12;

/// A problem with an archive, and what is right.
#[derive(Debug, PartialEq)]
struct Refusal {
    problem: String,
    allowed: String,
}

impl Refusal {
    fn new(problem: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self { problem: problem.into(), allowed: allowed.into() }
    }
}

/// Puts the objects of recorded pages in place of the archives that flows name, by their paths from `folder`.
///
/// # Errors
/// If an archive is not one, or `objects` are there already.
pub(super) fn expand(tree: &mut Value, folder: &Path) -> Result<(), SpecError> {
    let Value::Table(root) = tree else { return Ok(()) };
    let Some(Value::Table(flows)) = root.get_mut(FLOWS) else { return Ok(()) };
    let names: Vec<String> = flows.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let Some(Value::Table(flow)) = flows.get_mut(&name) else { continue };
        let Some(given) = flow.remove(HAR) else { continue };
        let Value::String(file) = &given else { continue };
        let at = At::ROOT.key(FLOWS);
        let at = at.key(&name);
        let place = at.key(HAR);
        if flow.get(OBJECTS).is_some() {
            let error = place.error(&given, "is given together with `objects`");
            return Err(error.allowed("either `har` or `objects`"));
        }
        let objects = archive::read(&folder.join(file)).and_then(|log| objects(&log));
        let objects = objects
            .map_err(|refusal| place.error(&given, refusal.problem).allowed(refusal.allowed))?;
        flow.insert(OBJECTS, objects.write());
    }
    Ok(())
}

/// A request that crossed the network.
struct Recorded<'a> {
    entry: &'a Entry,
    /// Place among the entries of the archive.
    number: usize,
    /// Nanoseconds since 1970.
    start: i64,
    end: i64,
}

impl Recorded<'_> {
    fn refuse(&self, problem: &str, allowed: impl Into<String>) -> Refusal {
        refuse(self.number, self.entry, problem, allowed)
    }

    /// Its name among the objects: its number and the last step of its address.
    fn name(&self) -> String {
        let path = page_of(&self.entry.request.url).split('?').next().unwrap_or_default();
        let path = path.split_once("://").map_or(path, |(_, rest)| rest);
        let last = path.split('/').rfind(|step| !step.is_empty()).unwrap_or_default();
        let fit = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let last: String = last.chars().take(60).map(fit).collect();
        format!("{}-{last}", self.number)
    }
}

fn refuse(number: usize, entry: &Entry, problem: &str, allowed: impl Into<String>) -> Refusal {
    let url = cut(&entry.request.url);
    Refusal::new(format!("log.entries[{number}], {url}, {problem}"), allowed)
}

/// An address without the part of the page that it points to.
fn page_of(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The objects of a page, in the order of their requests.
fn objects(log: &archive::Log) -> Result<Vec<ObjectSpec>, Refusal> {
    if log.pages.len() > 1 {
        let problem = format!("log.pages has {} pages", log.pages.len());
        return Err(Refusal::new(problem, "an archive of one page"));
    }
    let recorded = recorded(&log.entries)?;
    let Some(first) = recorded.first() else {
        let problem = "log.entries has no response that crossed the network";
        return Err(Refusal::new(problem, "an archive of a page that a browser has loaded"));
    };
    if recorded.len() > MOST_STREAMS as usize {
        let problem = format!("log.entries has {} responses", recorded.len());
        return Err(Refusal::new(problem, format!("at most {MOST_STREAMS}")));
    }
    let causes = causes(&recorded, log.parsed());
    refuse_circles(&recorded, &causes)?;
    let mut hosts = FxHashSet::default();
    let mut objects = Vec::new();
    for (request, cause) in recorded.iter().zip(&causes) {
        let lookup = request.entry.timings.dns.filter(|dns| *dns > 0.0);
        let lookup = lookup.filter(|_| hosts.insert(host_of(&request.entry.request.url)));
        let mut object = object(request)?;
        let from = cause.map_or(first.start, |cause| recorded[cause].end);
        let gap = u64::try_from(request.start - from).unwrap_or(0);
        let wait = SimDuration::from_nanos(gap) + millis(request, "timings.dns", lookup)?;
        match cause {
            None => object.at = Some(wait),
            Some(cause) => {
                object.after = vec![recorded[*cause].name()];
                object.delay = wait;
            }
        }
        objects.push(object);
    }
    Ok(objects)
}

/// The requests that crossed the network, in the order of their starts. Others came from a cache or from the page itself, or got
/// no response.
fn recorded(entries: &[Entry]) -> Result<Vec<Recorded<'_>>, Refusal> {
    let mut recorded = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let url = &entry.request.url;
        let over_http = url.starts_with("http://") || url.starts_with("https://");
        if !over_http || entry.from_cache.is_some() || entry.response.status <= 0.0 {
            continue;
        }
        let Some(start) = entry.start() else {
            let problem = format!("has no valid startedDateTime: {}", cut(entry.started()));
            let allowed = "a time in ISO 8601, such as 2026-03-20T10:39:26.123Z";
            return Err(refuse(number, entry, &problem, allowed));
        };
        let mut request = Recorded { entry, number, start, end: start };
        let took = millis(&request, "time", Some(entry.time))?;
        request.end = start.saturating_add_unsigned(took.as_nanos());
        recorded.push(request);
    }
    recorded.sort_by_key(|request| request.start);
    Ok(recorded)
}

/// By request, the one that it waits for: its initiator, or else the last that had ended when it began; given when the document had
/// been parsed, if that is known.
fn causes(recorded: &[Recorded<'_>], parsed: Option<i64>) -> Vec<Option<usize>> {
    let mut by_url = FxHashMap::default();
    for (index, request) in recorded.iter().enumerate() {
        by_url.entry(page_of(&request.entry.request.url)).or_insert(index);
    }
    let cause = |(index, request): (usize, &Recorded<'_>)| {
        let initiator = request.entry.initiator(parsed).and_then(|url| by_url.get(page_of(url)));
        let initiator = initiator.copied().filter(|initiator| *initiator != index);
        initiator.or_else(|| {
            let before = recorded[..index].iter().enumerate();
            let over = before.filter(|(_, other)| other.end <= request.start);
            over.max_by_key(|(_, other)| other.end).map(|(other, _)| other)
        })
    };
    recorded.iter().enumerate().map(cause).collect()
}

fn refuse_circles(recorded: &[Recorded<'_>], causes: &[Option<usize>]) -> Result<(), Refusal> {
    let after: Vec<Vec<usize>> =
        causes.iter().map(|cause| cause.iter().copied().collect()).collect();
    let Some(circle) = circle(&after) else { return Ok(()) };
    let chain = circle.iter().chain(&circle[..1]);
    let chain: Vec<_> =
        chain.map(|index| cut(&recorded[*index].entry.request.url).into_owned()).collect();
    let problem = format!("waits for itself: {}", chain.join(" after "));
    Err(recorded[circle[0]].refuse(&problem, "initiators that do not wait for each other"))
}

/// A request without what it waits for.
fn object(request: &Recorded<'_>) -> Result<ObjectSpec, Refusal> {
    let entry = request.entry;
    let valid = |size: &f64| (1.0..=LARGEST).contains(size);
    let Some(size) = entry.response.bytes().filter(valid) else {
        let allowed = "_transferSize above 0, or bodySize and headersSize of the response";
        return Err(request.refuse("has no size", allowed));
    };
    let body = entry.request.body_size.filter(valid).unwrap_or(0.0);
    let wait = entry.timings.wait.filter(|wait| *wait > 0.0);
    let mut object = ObjectSpec::new(request.name(), Bytes::new(size as u64));
    object.request += Bytes::new(body as u64);
    object.think = millis(request, "timings.wait", wait)?;
    if let Some(priority) = &entry.priority {
        let Some((_, urgency)) = PRIORITIES.iter().find(|(name, _)| name == priority) else {
            let names = PRIORITIES.map(|(name, _)| format!("`{name}`")).join(", ");
            let problem = format!("has an unknown _priority: {}", cut(priority));
            return Err(request.refuse(&problem, names));
        };
        object.urgency = Urgency::nearest(*urgency);
    }
    Ok(object)
}

/// A time of an entry; zero if there is none.
fn millis(request: &Recorded<'_>, key: &str, time: Option<f64>) -> Result<SimDuration, Refusal> {
    let time = time.unwrap_or(0.0);
    if !(0.0..=LONGEST_MS).contains(&time) {
        let problem = format!("has a {key} of {time} ms");
        return Err(request.refuse(&problem, format!("from 0 to {LONGEST_MS} ms")));
    }
    Ok(SimDuration::from_nanos((time * 1e6).round() as u64))
}
