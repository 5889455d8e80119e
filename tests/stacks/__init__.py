"""QUIC stacks in shared libraries."""
