//! QUIC on the crate `noq-proto`, driven in virtual time.
