//! Requirements on every implementation of QUIC, over a pipe whose packets are read. [`conformance!`](crate::conformance)
//! makes tests of them.

#[allow(missing_docs, reason = "the name of each says what it demands")]
pub mod data;
#[allow(missing_docs, reason = "the name of each says what it demands")]
pub mod trouble;

use leobench_base::{Body, RngTree, SimTime};
use leobench_transport::Role;
use leobench_transport::buffer::Attributes;
use leobench_transport::testing::{Observed, Pipe, RECEIVER, SENDER, in_order};

use crate::{QuicConfig, QuicSpec};

/// Stream number, offset, length, whether it ends the stream.
pub type StreamFrame = (u64, u64, u64, bool);

/// The properties of a datagram on its way that the suite examines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When it left.
    pub at: SimTime,
    /// UDP payload.
    pub size: u64,
    /// None in packets that cannot be read.
    pub frames: Vec<StreamFrame>,
    /// Bytes that still waited in the application's buffer.
    pub backlog: u64,
}

/// An implementation of QUIC.
pub trait Stack: Observed<Passed: Clone + PartialEq + std::fmt::Debug> {
    /// How often a lost end may say that it is lost.
    const LAST_WORDS: usize;

    /// Whether a probe repeats what is outstanding if there is nothing new (RFC 9002 section 6.2.4).
    const PROBES_REPEAT: bool;

    /// An end of a connection.
    fn end(config: QuicConfig<'_>) -> Self;

    /// The examined properties of a packet that the pipe has recorded.
    fn sent(passed: &Self::Passed) -> Sent;

    /// Changes a packet on its way into one that is a connection error.
    fn forge(body: &mut Body);
}

/// Parameters with what a test changes.
pub fn spec(change: impl FnOnce(&mut QuicSpec)) -> QuicSpec {
    let mut spec = QuicSpec::default();
    change(&mut spec);
    spec
}

/// A pipe between a sender of this role with so many streams and a receiver.
pub fn connect<S: Stack>(spec: &QuicSpec, streams: usize, sender: Role) -> Pipe<S> {
    let rng = RngTree::new(1);
    let receiver = if sender == Role::Client { Role::Server } else { Role::Client };
    let address = |end| std::net::SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
    let attributes = vec![Attributes::default(); streams];
    let ends = [(SENDER, sender), (RECEIVER, receiver)].map(|(end, role)| {
        S::end(QuicConfig {
            spec,
            role,
            sends: if end == SENDER { &attributes[..] } else { &[] },
            receives: if end == SENDER { 0 } else { streams },
            datagrams: false,
            message_streams: None,
            local: address(end),
            remote: address(1 - end),
            start: SimTime::ZERO,
            rng: &rng.child(if end == SENDER { "sender" } else { "receiver" }),
            plugins: &in_order(),
            qlog: None,
        })
    });
    Pipe::new(ends, streams)
}

/// The suite as tests of a stack.
#[macro_export]
macro_rules! conformance {
    ($stack:ty) => {
        #[test]
        fn either_role_sends() {
            $crate::suite::data::either_role_sends::<$stack>();
        }

        #[test]
        fn finishing_ends_every_stream_once() {
            $crate::suite::data::finishing_ends_every_stream_once::<$stack>();
        }

        #[test]
        fn nothing_happens_on_an_idle_connection() {
            $crate::suite::data::nothing_happens_on_an_idle_connection::<$stack>();
        }

        #[test]
        fn the_same_seed_sends_the_same_packets() {
            $crate::suite::data::the_same_seed_sends_the_same_packets::<$stack>();
        }

        #[test]
        fn a_thousand_streams() {
            $crate::suite::data::a_thousand_streams::<$stack>();
        }

        #[test]
        fn pacing_spreads_what_would_leave_at_once() {
            $crate::suite::data::pacing_spreads_what_would_leave_at_once::<$stack>();
        }

        #[test]
        fn flow_control_windows_are_kept_and_used() {
            $crate::suite::data::flow_control_windows_are_kept_and_used::<$stack>();
        }

        #[test]
        fn what_is_lost_is_sent_again() {
            $crate::suite::trouble::what_is_lost_is_sent_again::<$stack>();
        }

        #[test]
        fn reordering_is_survived() {
            $crate::suite::trouble::reordering_is_survived::<$stack>();
        }

        #[test]
        fn packets_that_overtake_by_little_are_no_losses() {
            $crate::suite::trouble::packets_that_overtake_by_little_are_no_losses::<$stack>();
        }

        #[test]
        fn a_blackout_is_probed_and_survived() {
            $crate::suite::trouble::a_blackout_is_probed_and_survived::<$stack>();
        }

        #[test]
        fn the_handshake_survives_losses() {
            $crate::suite::trouble::the_handshake_survives_losses::<$stack>();
        }

        #[test]
        fn a_lost_connection_is_an_outcome_and_the_end_falls_silent() {
            $crate::suite::trouble::a_lost_connection_is_an_outcome_and_the_end_falls_silent::<
                $stack,
            >();
        }
    };
}
