//! QUIC on the crate `noq-proto`, driven in virtual time.

mod spec;

pub use spec::QuicSpec;
