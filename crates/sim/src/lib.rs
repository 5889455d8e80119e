//! The network as one state machine.
