//! The module `leobench._core`.
