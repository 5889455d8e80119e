//! The parts of an HTTP Archive 1.2 that a page is made from, with the keys that Chromium adds.

use std::io::Read;
use std::path::Path;

use leobench_base::files::open_regular;
use leobench_base::spec::cut;
use leobench_orbit::Epoch;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Refusal;

/// The largest archive: those with the bodies of their responses have some tens of megabytes.
const LARGEST: u64 = 100_000_000;

/// Reads an archive.
pub(super) fn read(path: &Path) -> Result<Log, Refusal> {
    let unreadable = |error: std::io::Error| {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file {}", path.display()),
            _ => format!("{} cannot be read: {error}", path.display()),
        };
        Refusal::new(problem, "a file, by its path from the scenario's folder")
    };
    let mut bytes = Vec::new();
    let file = open_regular(path).map_err(unreadable)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        let problem = format!("{} is too large", path.display());
        return Err(Refusal::new(problem, format!("at most {} MB", LARGEST / 1_000_000)));
    }
    // Some tools begin with a byte order mark.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let archive: Archive = serde_json::from_slice(text).map_err(|error| {
        let problem = format!("{} is no HTTP Archive: {}", path.display(), cut(&error.to_string()));
        Refusal::new(problem, "JSON by the specification of HTTP Archive 1.2")
    })?;
    Ok(archive.log)
}

#[derive(Deserialize)]
struct Archive {
    log: Log,
}

/// The log of a browser.
#[derive(Deserialize)]
pub(super) struct Log {
    #[serde(default)]
    pub(super) pages: Vec<Page>,
    pub(super) entries: Vec<Entry>,
}

/// A page, as far as its times are known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    started_date_time: Option<String>,
    page_timings: Option<PageTimings>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageTimings {
    on_content_load: Option<f64>,
}

/// A request and its response. Times are in milliseconds; −1 stands for a number that is not known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    started_date_time: String,
    pub(super) time: f64,
    pub(super) request: Request,
    pub(super) response: Response,
    pub(super) timings: Timings,
    #[serde(rename = "_initiator")]
    initiator: Option<Initiator>,
    #[serde(rename = "_priority")]
    pub(super) priority: Option<String>,
    #[serde(rename = "_fromCache")]
    pub(super) from_cache: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) url: String,
    pub(super) body_size: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    /// 0 if none came.
    pub(super) status: f64,
    headers_size: Option<f64>,
    body_size: Option<f64>,
    #[serde(rename = "_transferSize")]
    transfer_size: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Timings {
    pub(super) dns: Option<f64>,
    pub(super) wait: Option<f64>,
}

/// The cause of a request: its address, or more about it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Initiator {
    Url(String),
    Known {
        #[serde(rename = "type")]
        kind: Option<String>,
        url: Option<String>,
        stack: Option<Stack>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    #[serde(default)]
    call_frames: Vec<CallFrame>,
    parent: Option<Box<Stack>>,
}

#[derive(Deserialize)]
struct CallFrame {
    url: String,
}

impl Log {
    /// When the document had been parsed, in nanoseconds since 1970, if that is known.
    pub(super) fn parsed(&self) -> Option<i64> {
        let page = self.pages.first()?;
        let start = unix_nanos(page.started_date_time.as_ref()?)?;
        let millis = page.page_timings.as_ref()?.on_content_load.filter(|millis| *millis >= 0.0)?;
        Some(start.saturating_add((millis * 1e6) as i64))
    }
}

impl Entry {
    /// When it began, in nanoseconds since 1970.
    pub(super) fn start(&self) -> Option<i64> {
        unix_nanos(&self.started_date_time)
    }

    pub(super) fn started(&self) -> &str {
        &self.started_date_time
    }

    /// The document or script that caused it, if that is known. The parser causes nothing once the document is parsed: images that
    /// a script adds in a callback are ascribed to it as well.
    pub(super) fn initiator(&self, parsed: Option<i64>) -> Option<&str> {
        match self.initiator.as_ref()? {
            Initiator::Known { kind: Some(kind), .. }
                if kind == "parser" && parsed.is_some_and(|parsed| self.start() > Some(parsed)) =>
            {
                None
            }
            Initiator::Url(url) | Initiator::Known { url: Some(url), .. } => Some(url),
            Initiator::Known { url: None, stack, .. } => stack.as_ref()?.url(),
        }
    }
}

/// The nanoseconds since 1970 at a time in ISO 8601.
fn unix_nanos(text: &str) -> Option<i64> {
    let text = text.trim();
    let (text, sign, zone) = match text.rfind(['+', '-']).filter(|place| *place > 10) {
        None => (text, 0, ""),
        Some(place) => (
            &text[..place],
            if text.as_bytes()[place] == b'-' { -1 } else { 1 },
            &text[place + 1..],
        ),
    };
    let minutes = if sign == 0 { 0 } else { zone_minutes(zone)? };
    let instant = Epoch::parse(text)?.unix_nanos();
    Some(instant - sign * minutes * 60_000_000_000)
}

impl Stack {
    /// The script whose function called last.
    fn url(&self) -> Option<&str> {
        let frame = self.call_frames.iter().find(|frame| !frame.url.is_empty());
        let url = frame.map(|frame| frame.url.as_str());
        url.or_else(|| self.parent.as_ref().and_then(|parent| parent.url()))
    }
}

impl Response {
    /// Bytes that crossed the network, if they are known.
    pub(super) fn bytes(&self) -> Option<f64> {
        let known = |size: Option<f64>| size.filter(|size| *size >= 0.0);
        known(self.transfer_size).filter(|size| *size > 0.0).or_else(|| {
            let body = known(self.body_size)?;
            Some(body + known(self.headers_size).unwrap_or(0.0)).filter(|size| *size > 0.0)
        })
    }
}

/// The minutes of a time zone: `02:00` or `0200`.
fn zone_minutes(zone: &str) -> Option<i64> {
    let digits = zone.replace(':', "");
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}
