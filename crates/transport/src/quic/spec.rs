//! What a scenario may say about a QUIC connection.

use leobench_base::spec::{Example, Fault, Window};
use leobench_base::{Bytes, SimDuration};

use crate::congestion::CongestionSpec;
use crate::scheduler::SchedulerSpec;

/// Smallest UDP payload every QUIC path must carry (RFC 9000 section 14.1).
const SMALLEST_PAYLOAD: Bytes = Bytes::new(1_200);
/// Largest UDP payload over IPv4 (RFC 768: a 16-bit length with header, less the IPv4 header).
const LARGEST_PAYLOAD: Bytes = Bytes::new(65_507);

leobench_base::spec! {
    /// QUIC version 1 (RFC 9000), a real stack: handshake, streams, loss recovery, flow control.
    pub struct QuicSpec check = check {
        /// Congestion controller.
        pub congestion: CongestionSpec = default_congestion(),
        /// Stream scheduler: which streams' bytes fill the next packet.
        pub scheduler: SchedulerSpec = SchedulerSpec::default(),
        /// UDP payload of a full packet.
        pub payload: Bytes = Bytes::new(1_252),
        /// Whether packets are spread over the round trip (RFC 9002 section 7.7) instead of sent in bursts.
        pub pacing: bool = true,
        /// Round-trip time assumed before the first sample (RFC 9002 section 6.2.2).
        pub initial_rtt: SimDuration = SimDuration::from_millis(333),
        /// Receiver's flow-control window of a stream.
        pub stream_window: Window = Window::Unlimited,
        /// Receiver's flow-control window of the connection.
        pub connection_window: Window = Window::Unlimited,
    }
}

fn default_congestion() -> CongestionSpec {
    CongestionSpec::Cubic(Example::example())
}

fn check(spec: &QuicSpec) -> Result<(), Fault> {
    if !(SMALLEST_PAYLOAD..=LARGEST_PAYLOAD).contains(&spec.payload) {
        let allowed =
            format!("from {SMALLEST_PAYLOAD} (RFC 9000 section 14.1) to {LARGEST_PAYLOAD}");
        return Err(Fault::new("payload", "is no payload for QUIC", allowed));
    }
    if spec.initial_rtt.is_zero() {
        return Err(Fault::new("initial_rtt", "is zero", "a time above zero"));
    }
    for (field, window) in
        [("stream_window", spec.stream_window), ("connection_window", spec.connection_window)]
    {
        if window == Window::Bytes(Bytes::ZERO) {
            return Err(Fault::new(
                field,
                "is zero, so nothing could be sent",
                "a size above zero",
            ));
        }
    }
    Ok(())
}

impl Example for QuicSpec {
    fn example() -> Self {
        Self {
            congestion: default_congestion(),
            scheduler: SchedulerSpec::default(),
            payload: Bytes::new(1_252),
            pacing: true,
            initial_rtt: SimDuration::from_millis(333),
            stream_window: Window::Unlimited,
            connection_window: Window::Unlimited,
        }
    }
}
