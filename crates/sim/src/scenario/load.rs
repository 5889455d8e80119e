//! From a file to a scenario.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use leobench_base::files::open_regular;
use leobench_base::spec::{At, Spec, SpecError, Value, quoted};
use leobench_transport::Plugins;

use super::{FlowUse, Scenario, ScenarioSpec, check, overrides};

/// Bytes of the largest file that is parsed; a scenario of 10,000 links takes about a twentieth.
const LARGEST_FILE: u64 = 16_000_000;

/// The syntax of a scenario file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// TOML 1.0.
    Toml,
    /// JSON (RFC 8259).
    Json,
}

/// The text of a scenario and where it comes from.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Name of the file as messages show it.
    pub file: &'a str,
    /// What it says.
    pub text: &'a str,
    /// In which syntax.
    pub syntax: Syntax,
    /// Folder that the relative file names in it start from.
    pub folder: PathBuf,
}

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read at all.
    #[error("{file}: cannot be read: {problem}; allowed: a scenario file")]
    Unreadable {
        /// The file.
        file: String,
        /// What the operating system says.
        problem: String,
    },
    /// The file is larger than any scenario.
    #[error("{file}: is too large; allowed: at most {} MB", LARGEST_FILE / 1_000_000)]
    TooLarge {
        /// The file.
        file: String,
    },
    /// The file name does not tell the syntax.
    #[error("{file}: has no known extension; allowed: `.toml`, `.json`")]
    UnknownSyntax {
        /// The file.
        file: String,
    },
    /// The bytes are not UTF-8.
    #[error("{file}: is not a text, at byte {offset}; allowed: TOML or JSON in UTF-8")]
    NotText {
        /// The file.
        file: String,
        /// Number of bytes before the first wrong one.
        offset: usize,
    },
    /// The text is not TOML, or not JSON.
    #[error("{file}{}: {problem}", .position.map_or(String::new(), |(line, column)| format!(":{line}:{column}")))]
    Syntax {
        /// The file.
        file: String,
        /// Line and column, counted from 1, where known.
        position: Option<(usize, usize)>,
        /// What is wrong there.
        problem: String,
    },
    /// The scenario says something that it must not, or leaves out what it must say.
    #[error("{file}: {error}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong, and where.
        error: Box<SpecError>,
    },
}

impl Syntax {
    /// The syntax that a file's extension stands for.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    /// Parses a text into a tree; otherwise line and column, and what is wrong there.
    fn parse(self, text: &str) -> Result<Value, (Option<(usize, usize)>, String)> {
        match self {
            Self::Toml => toml::from_str(text).map_err(|error| {
                let position = error.span().map(|span| position(text, &span));
                (position, toml_problem(text, &error))
            }),
            Self::Json => serde_json::from_str(text).map_err(|error| {
                let position = (error.line() > 0).then(|| (error.line(), error.column()));
                let message = error.to_string();
                let problem = message.split(" at line ").next().unwrap_or_default();
                (position, one_line(problem))
            }),
        }
    }
}

/// Loads the scenario in a file, whose extension tells the syntax, with values put in place of its own: pairs of a
/// place such as `links.uplink.queue.limit` and what would stand there in TOML (a string may go without its quotes).
///
/// The host runs the plug-ins that it names, to check them. `flows` says which flows it must have.
///
/// # Errors
/// The first thing wrong with the file or the overrides.
pub fn load_file(
    path: &Path,
    overrides: &[(String, String)],
    plugins: &Plugins,
    flows: FlowUse,
) -> Result<Scenario, ScenarioError> {
    let file = path.display().to_string();
    let Some(syntax) = Syntax::of(path) else {
        return Err(match open_regular(path) {
            Err(error) => unreadable(file, &error),
            Ok(_) => ScenarioError::UnknownSyntax { file },
        });
    };
    let mut bytes = Vec::new();
    // Reads one byte beyond the limit rather than asking for the size, which files of `/proc` do not have.
    open_regular(path)
        .and_then(|opened| opened.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(file.clone(), &error))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(ScenarioError::TooLarge { file });
    }
    let text = str::from_utf8(&bytes).map_err(|error| ScenarioError::NotText {
        file: file.clone(),
        offset: error.valid_up_to(),
    })?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    load_with(&Source { file: &file, text, syntax, folder }, overrides, plugins, flows)
}

/// Loads a scenario with flows and without plug-ins from a text, with values put in place of its own as in [`load_file`].
///
/// # Errors
/// The first thing wrong with the text or the overrides.
pub fn load(
    source: &Source<'_>,
    overrides: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    load_with(source, overrides, Plugins::NONE, FlowUse::Required)
}

/// Loads a scenario from a text as [`load_file`] does from a file.
pub(super) fn load_with(
    source: &Source<'_>,
    overrides: &[(String, String)],
    plugins: &Plugins,
    flows: FlowUse,
) -> Result<Scenario, ScenarioError> {
    let file = || source.file.to_owned();
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(source.text);
    let mut tree = source
        .syntax
        .parse(text)
        .map_err(|(position, problem)| ScenarioError::Syntax { file: file(), position, problem })?;
    read(&mut tree, overrides, source.folder.clone(), plugins, flows)
        .map_err(|error| ScenarioError::Invalid { file: file(), error: Box::new(error) })
}

fn read(
    tree: &mut Value,
    overrides: &[(String, String)],
    folder: PathBuf,
    plugins: &Plugins,
    flows: FlowUse,
) -> Result<Scenario, SpecError> {
    for (place, text) in overrides {
        overrides::apply(tree, place, text)?;
    }
    let spec = ScenarioSpec::read(tree, &At::ROOT)?;
    let scenario = Scenario { spec, folder };
    check::check(&scenario, tree, plugins, flows)?;
    Ok(scenario)
}

fn unreadable(file: String, error: &std::io::Error) -> ScenarioError {
    let problem = match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    };
    ScenarioError::Unreadable { file, problem }
}

/// Line and column of the start of `span`, counted from 1, columns in characters.
fn position(text: &str, span: &Range<usize>) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(span.start)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// What is wrong with a TOML text; the parser leaves it to the reader to look up which name is given twice.
fn toml_problem(text: &str, error: &toml::de::Error) -> String {
    match error.span().and_then(|span| text.get(span)) {
        Some(name) if error.message() == "duplicate key" => {
            format!("the name {} is given twice; allowed: a name of its own for each", quoted(name))
        }
        _ => one_line(error.message()),
    }
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}
