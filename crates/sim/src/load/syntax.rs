//! The one reader of texts: TOML and JSON, of scenarios, campaigns and overrides, with one set of limits.

use std::ops::Range;
use std::path::Path;

use leobench_base::spec::{Value, quoted, sentence};
use toml_parser::Source;
use toml_parser::lexer::{Token, TokenKind};

/// Bytes of the largest file that is parsed; a scenario of 10,000 links takes about a twentieth.
pub const LARGEST_FILE: u64 = 16_000_000;

/// Tables and arrays within one another; scenarios have about ten. Parsers and whatever walks a tree call themselves for each.
const DEEPEST: usize = 40;

/// Characters of a line with an error that a message shows.
const LONGEST_LINE: usize = 80;

/// The syntax of a scenario file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// TOML 1.0.
    Toml,
    /// JSON (RFC 8259).
    Json,
}

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line and column, counted from 1, where known.
    pub position: Option<(usize, usize)>,
    /// The problem there, and the text of the line.
    pub problem: String,
}

impl SyntaxError {
    fn new(text: &str, position: Option<(usize, usize)>, problem: String) -> Self {
        let line = position.and_then(|position| shown_line(text, position));
        let line = line.map_or(String::new(), |line| format!("; in the line `{line}`"));
        Self { position, problem: problem + &line }
    }
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

    /// Parses a text into a tree. A byte order mark may come before it.
    ///
    /// # Errors
    /// The first thing wrong with it, or a nesting that is too deep.
    pub fn parse(self, text: &str) -> Result<Value, SyntaxError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let deep = match self {
            Self::Toml => too_deep_toml(text),
            Self::Json => too_deep_json(text),
        };
        if let Some(start) = deep {
            let problem =
                format!("is nested too deeply; allowed: at most {DEEPEST} tables or arrays");
            return Err(SyntaxError { position: Some(position(text, start)), problem });
        }
        match self {
            Self::Toml => toml::from_str(text).map_err(|error| {
                let position = error.span().map(|span| position(text, span.start));
                SyntaxError::new(text, position, toml_problem(text, error.span(), error.message()))
            }),
            Self::Json => serde_json::from_str(text).map_err(|error| {
                let position = (error.line() > 0).then(|| (error.line(), error.column()));
                let message = error.to_string();
                let problem = message.split(" at line ").next().unwrap_or_default();
                SyntaxError::new(text, position, one_line(problem))
            }),
        }
    }
}

/// Returns the byte offset at which a TOML text is nested too deeply. Brackets, braces and each part of a key are a level.
fn too_deep_toml(text: &str) -> Option<usize> {
    let mut depth = Depth::default();
    let tokens = Source::new(text).lex();
    let mut tokens =
        tokens.filter(|token| !matches!(token.kind(), TokenKind::Whitespace | TokenKind::Comment));
    tokens.find(|token| depth.after(token) > DEEPEST).map(|token| token.span().start())
}

/// How deep the tokens of a TOML text lead.
#[derive(Default)]
struct Depth {
    /// Parts of the name in the last header.
    header: usize,
    /// Levels of every bracket and brace that is open, and their sum.
    open: Vec<usize>,
    opened: usize,
    /// Parts of the key being read, or of the one whose value is.
    key: usize,
    /// Whether a value is being read.
    in_value: bool,
    in_header: bool,
}

impl Depth {
    fn after(&mut self, token: &Token) -> usize {
        match token.kind() {
            TokenKind::Dot if !self.in_value => self.key += 1,
            TokenKind::Equals => self.in_value = true,
            TokenKind::LeftSquareBracket if !self.in_value && self.open.is_empty() => {
                (self.in_header, self.key) = (true, 0);
            }
            TokenKind::RightSquareBracket if self.in_header => {}
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                self.open.push(self.key + 1);
                self.opened += self.key + 1;
                self.key = 0;
                self.in_value = token.kind() == TokenKind::LeftSquareBracket;
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                self.opened -= self.open.pop().unwrap_or(0);
                (self.in_value, self.key) = (true, 0);
            }
            TokenKind::Comma => self.key = 0,
            TokenKind::Newline if self.open.is_empty() => {
                if self.in_header {
                    self.header = self.key + 1;
                }
                (self.in_header, self.in_value, self.key) = (false, false, 0);
            }
            _ => {}
        }
        let header = if self.in_header { 0 } else { self.header };
        header + self.opened + self.key
    }
}

/// Returns the byte offset at which a JSON text is nested too deeply.
fn too_deep_json(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    text.bytes().position(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

/// Line and column of an offset, counted from 1, columns in characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The line of an error, or of a long one what is around its column; `None` if there is nothing on it.
fn shown_line(text: &str, (line, column): (usize, usize)) -> Option<String> {
    let line = text.lines().nth(line.checked_sub(1)?)?.trim_end();
    let shown = if line.chars().count() <= LONGEST_LINE {
        line.trim_start().to_owned()
    } else {
        let start = column.saturating_sub(LONGEST_LINE / 2);
        format!("…{}…", line.chars().skip(start).take(LONGEST_LINE).collect::<String>())
    };
    (!shown.is_empty()).then(|| sentence(&shown).into_owned())
}

/// Returns the problem of a TOML text, with the name of a duplicate key, which the parser's message lacks.
fn toml_problem(text: &str, span: Option<Range<usize>>, message: &str) -> String {
    match span.and_then(|span| text.get(span)) {
        Some(name) if message == "duplicate key" => {
            format!("the name {} is given twice; allowed: a different name for each", quoted(name))
        }
        _ => one_line(message),
    }
}

fn one_line(message: &str) -> String {
    sentence(&message.lines().map(str::trim).collect::<Vec<_>>().join("; ")).into_owned()
}
