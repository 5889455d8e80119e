//! Reading a file, overrides and all.

use std::io::Read;
use std::path::{Path, PathBuf};

use leobench_base::files::open_regular;
use leobench_base::spec::{At, Spec, SpecError, Value};
use leobench_transport::Plugins;

use super::syntax::{LARGEST_FILE, Syntax, SyntaxError};
use super::{FlowUse, check, expand, har, hints, overrides, traffic};
use crate::scenario::{FlowSpec, Scenario, ScenarioSpec};

/// The text of a scenario and where it comes from.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Name of the file as messages show it.
    pub file: &'a str,
    /// Its contents.
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
        /// Message of the operating system.
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
    #[error("{file}: is not text, at byte {offset}; allowed: TOML or JSON in UTF-8")]
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
        /// The problem there.
        problem: String,
    },
    /// The scenario says something that it must not, or leaves out what it must say.
    #[error("{file}: {error}")]
    Invalid {
        /// The file.
        file: String,
        /// The problem, and its place in the scenario.
        error: Box<SpecError>,
    },
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
    let mut tree = source.syntax.parse(source.text).map_err(|error| {
        let SyntaxError { position, problem } = error;
        ScenarioError::Syntax { file: file(), position, problem }
    })?;
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
        overrides::apply(tree, place, text).map_err(|error| hints::absent(error, tree))?;
    }
    let mut spec =
        ScenarioSpec::read(tree, &At::ROOT).map_err(|error| hints::added(error, tree))?;
    let has = |given: fn(&FlowSpec) -> bool| spec.flows.iter().any(|(_, flow)| given(flow));
    let (recorded, counted) = (has(|flow| flow.har.is_some()), has(|flow| flow.count.is_some()));
    if recorded {
        har::expand(tree, &folder)?;
    }
    let counted = if counted { expand::all(tree)? } else { expand::Counted::default() };
    if recorded || !counted.is_empty() {
        spec = ScenarioSpec::read(tree, &At::ROOT)
            .map_err(|error| counted.located(hints::added(error, tree)))?;
    }
    let mut scenario = Scenario { spec, folder, traffic: None };
    traffic::expand(&mut scenario, tree)?;
    check::check(&scenario, tree, plugins, flows)
        .map_err(|error| counted.located(traffic::located(error, &scenario, tree)))?;
    Ok(scenario)
}

fn unreadable(file: String, error: &std::io::Error) -> ScenarioError {
    let problem = match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    };
    ScenarioError::Unreadable { file, problem }
}
