//! Errors in a scenario: the place, the problem, and the allowed values.

use std::borrow::Cow;
use std::fmt;

use super::value::Value;

/// Characters of a value, a key or a name that a message shows.
const LONGEST_TEXT: usize = 80;
/// The beginning of a word that tells which one is meant.
const SHORTEST_START: usize = 4;
/// Characters of a place or a problem that a message shows; they quote a few such texts at most.
const LONGEST_SENTENCE: usize = 400;
/// Words that a message lists.
const MOST_WORDS: usize = 40;

/// Characters of what is allowed: the words of a list, or a sentence.
const LONGEST_LIST: usize = 4_000;

/// A value, a key or a name as a message shows it: on one line, and cut after 80 characters, then with its length.
pub fn cut(text: &str) -> Cow<'_, str> {
    cut_after(LONGEST_TEXT, text)
}

/// As [`cut`], in quotes and with control characters escaped.
pub fn quoted(text: &str) -> String {
    match split_after(LONGEST_TEXT, text) {
        None => format!("{text:?}"),
        Some((start, length)) => format!("{start:?}… ({length} characters)"),
    }
}

/// Formats a library's message, which may quote the file: as [`cut`] does, at the length of a sentence.
pub fn sentence(text: &str) -> Cow<'_, str> {
    cut_after(LONGEST_SENTENCE, text)
}

fn cut_after(longest: usize, text: &str) -> Cow<'_, str> {
    match split_after(longest, text) {
        None => escaped(text),
        Some((start, length)) => Cow::Owned(format!("{}… ({length} characters)", escaped(start))),
    }
}

/// A text with escapes in place of characters that are not printed, such as line breaks.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| (' '..='~').contains(&c) || c.escape_debug().len() == 1;
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let parts = text
        .chars()
        .map(|c| if is_plain(c) { c.to_string() } else { c.escape_debug().to_string() });
    Cow::Owned(parts.collect())
}

/// A key as it would stand in TOML: in quotes where it has to be.
pub(super) fn key(text: &str) -> Cow<'_, str> {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !text.is_empty() && text.chars().all(is_bare) { cut(text) } else { quoted(text).into() }
}

/// The start of a text with more characters than `longest`, and how many it has.
fn split_after(longest: usize, text: &str) -> Option<(&str, usize)> {
    let (end, _) = text.char_indices().nth(longest)?;
    Some((&text[..end], text.chars().count()))
}

/// A place in a scenario file, such as `links.uplink.queue.limit`.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    parent: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// The whole file.
    pub const ROOT: At<'static> = At { parent: None, step: Step::Index(0) };

    /// The value under `key` in the table here.
    #[must_use]
    pub fn key(&'a self, key: &'a str) -> At<'a> {
        At { parent: Some(self), step: Step::Key(key) }
    }

    /// The `index`-th value of the array here.
    #[must_use]
    pub fn index(&'a self, index: usize) -> At<'a> {
        At { parent: Some(self), step: Step::Index(index) }
    }

    /// An error about the value at this place.
    pub fn error(&self, value: &Value, problem: impl Into<String>) -> SpecError {
        SpecError {
            place: self.to_string(),
            value: Some(value.to_string()),
            problem: problem.into(),
            allowed: None,
            nearest: None,
        }
    }

    /// An error about a missing value.
    pub fn missing(&self, problem: impl Into<String>) -> SpecError {
        SpecError {
            place: self.to_string(),
            value: None,
            problem: problem.into(),
            allowed: None,
            nearest: None,
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        match self.step {
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(name) if parent.parent.is_none() => f.write_str(&key(name)),
            Step::Key(name) => write!(f, ".{}", key(name)),
        }
    }
}

/// One thing wrong in a scenario: the place, the value, what is allowed there, and the nearest valid word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SpecError {
    /// Path within the file; empty for the file as a whole.
    pub place: String,
    /// The value found, as it would be written in TOML.
    pub value: Option<String>,
    /// The problem with the value.
    pub problem: String,
    /// A description of valid values.
    pub allowed: Option<String>,
    /// The valid word most like the one found.
    pub nearest: Option<String>,
}

impl SpecError {
    /// The problem of a key that its table does not have.
    pub const UNKNOWN_KEY: &str = "unknown key";

    /// Says what would be right.
    #[must_use]
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// Lists the words that would be right, and names the one nearest to `word`.
    #[must_use]
    pub fn words(mut self, word: &str, words: &[&str]) -> Self {
        self.nearest = nearest(word, words).map(str::to_owned);
        let listed = words.iter().take(MOST_WORDS).map(|word| format!("`{}`", cut(word)));
        let listed = listed.collect::<Vec<_>>().join(", ");
        self.allowed(match words.len() {
            0 => "nothing".to_owned(),
            count if count > MOST_WORDS => format!("{listed}, and {} more", count - MOST_WORDS),
            _ => listed,
        })
    }

    /// Names the only one of `words` that begins with `word`, or with its singular, unless another is near.
    #[must_use]
    pub fn or_longer(mut self, word: &str, words: &[&str]) -> Self {
        let start = word.strip_suffix('s').unwrap_or(word);
        let mut longer = words.iter().filter(|word| word.starts_with(start));
        let only = longer.next().filter(|_| start.len() >= SHORTEST_START);
        let only = only.filter(|_| longer.next().is_none()).map(|word| (*word).to_owned());
        self.nearest = self.nearest.or(only);
        self
    }
}

impl fmt::Display for SpecError {
    /// On one line of bounded length, whatever the file says.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&cut_after(LONGEST_SENTENCE, &self.place))?;
        if let Some(value) = &self.value {
            let equals = if self.place.is_empty() { "" } else { " = " };
            write!(f, "{equals}{value}")?;
        }
        let colon = if self.place.is_empty() && self.value.is_none() { "" } else { ": " };
        write!(f, "{colon}{}", cut_after(LONGEST_SENTENCE, &self.problem))?;
        if let Some(allowed) = &self.allowed {
            write!(f, "; allowed: {}", cut_after(LONGEST_LIST, allowed))?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{}`?", cut_after(LONGEST_SENTENCE, nearest))?;
        }
        Ok(())
    }
}

/// A problem of a specification as a whole, or of one of its fields, found after reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Path below the specification, such as `rate` or `states[2]`; empty for the whole.
    pub field: String,
    /// The problem.
    pub problem: String,
    /// A description of valid values.
    pub allowed: String,
}

impl Fault {
    /// A fault in `field`.
    pub fn new(
        field: impl Into<String>,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), problem: problem.into(), allowed: allowed.into() }
    }

    /// The same fault, of a specification below `place`.
    #[must_use]
    pub fn within(self, place: &str) -> Self {
        let dot = if self.field.is_empty() { "" } else { "." };
        Self { field: format!("{place}{dot}{}", self.field), ..self }
    }

    /// The error for the value at `at`; it shows the value of the faulty field.
    pub fn at(self, value: &Value, at: &At<'_>) -> SpecError {
        let place = match (at.to_string(), self.field.as_str()) {
            (place, "") => place,
            (place, field) if place.is_empty() => field.to_owned(),
            (place, field) => format!("{place}.{field}"),
        };
        let mut steps = self.field.split(['.', '[', ']']).filter(|step| !step.is_empty());
        let shown = steps.try_fold(value, |here, step| match here {
            Value::Table(table) => table.get(step),
            Value::Array(values) => values.get(step.parse::<usize>().ok()?),
            _ => None,
        });
        SpecError {
            place,
            value: shown.map(ToString::to_string),
            problem: self.problem,
            allowed: Some(self.allowed),
            nearest: None,
        }
    }
}

/// The word closest to `word`, if any is close (Damerau-Levenshtein distance, transpositions counted once).
/// A text too long for a message is close to none.
pub fn nearest<'w>(word: &str, words: &[&'w str]) -> Option<&'w str> {
    if split_after(LONGEST_TEXT, word).is_some() {
        return None;
    }
    let lower = word.to_lowercase();
    words
        .iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), *candidate)
        })
        .filter(|(distance, candidate)| {
            *distance <= 1 + candidate.chars().count().max(word.chars().count()) / 3
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
