//! The engine in a page. A page hands in the text of a scenario, values in place of its own, and a seed; it gets the summary
//! and the tables of the run. There is no file system, no socket, no TLS and no clock.
//!
//! | module | contents |
//! |---|---|
//! | `session` | a run from its request to its answer, without anything of a page |
//! | `boundary` | the functions that the page calls, and the memory that both sides read |
//!
//! The page is `playground/`: `worker.js` is the other side of the boundary, in a Web Worker; `modules` are the sliders, the text and the
//! figure, whose panels are those of reports (`python/leobench/report/assets`). `tools/playground.py` puts all into one file.
//!
//! Only numbers are arguments and results of the functions, so no tool generates code, and the module imports nothing. The features
//! `captures`, `files`, `noq`, `parquet` and `tls` of the crates below are off in a page; a scenario that needs one of them is
//! refused. `cargo tree --package leobench-playground --target wasm32-unknown-unknown --edges normal` shows what is in.

mod boundary;
mod session;

pub use session::{Request, Session};
