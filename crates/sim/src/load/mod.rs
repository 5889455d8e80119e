//! From a file to a scenario.
//!
//! A file in TOML or JSON is parsed into a tree of values (`syntax`), `--set` overrides are applied to the tree
//! (`overrides`), recorded pages become objects (`har`), flows with a `count` become as many (`expand`), the tree is read into a [`ScenarioSpec`](crate::scenario::ScenarioSpec), traffic between places adds
//! nodes, links and flows (`traffic`), and values that have to fit each other are checked (`check`). Every error names the file, the place in it, the value, what is allowed, and the nearest valid
//! word.

mod check;
mod expand;
mod file;
mod har;
mod hints;
mod overrides;
mod syntax;
mod traffic;

pub use file::{ScenarioError, Source, load, load_file};
pub use syntax::{LARGEST_FILE, Syntax, SyntaxError};

/// Use of a scenario's flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowUse {
    /// They run: there is at least one.
    Required,
    /// They are only looked at: there may be none.
    Optional,
    /// Programs run instead: there may be none, and they need not suit the network.
    Unused,
}

#[cfg(test)]
mod tests;
