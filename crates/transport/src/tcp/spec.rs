//! The scenario parameters of a TCP connection.

use leobench_base::spec::{Fault, UpTo, Whole, Window};
use leobench_base::{Bytes, SimDuration};

use super::unmatched::NoConnection;
use crate::congestion::{CongestionSpec, CubicSpec};
use crate::on_forecast::OnForecastSpec;

/// Minimum segment size that every host must accept over IPv4: 576 bytes minus two headers (RFC 9293 section 3.7.1).
const SMALLEST_MSS: Bytes = Bytes::new(536);
/// Maximum payload over IPv4: a total length of 16 bits, minus 20 bytes of IPv4 and 60 of TCP header (RFC 791, RFC
/// 9293).
const LARGEST_MSS: Bytes = Bytes::new(65_455);

/// Number of segments per acknowledgement.
pub type AckEvery = Whole<1, 65_535>;

leobench_base::spec! {
    /// TCP that follows Linux: selective acknowledgements, RACK-TLP, PRR (RFC 9293, 2018, 8985, 9937); one byte stream.
    pub struct TcpSpec: Default check = check {
        /// Congestion controller.
        pub congestion: CongestionSpec = default_congestion(),
        /// Payload of a full segment: with timestamps, 1,448 bytes fill a packet of 1,500.
        pub mss: Bytes = Bytes::new(1_448),
        /// Whether segments carry timestamps (RFC 7323): 12 bytes each; they identify spurious retransmissions.
        pub timestamps: bool = true,
        /// Whether the receiver reports data beyond a gap (RFC 2018); without it, recovery follows RFC 6582.
        pub sack: bool = true,
        /// Whether routers may mark packets instead of dropping them (RFC 3168). Queues of kind `fifo` never mark.
        pub ecn: bool = false,
        /// Whether TLS 1.3 (RFC 8446) runs on top: one more round trip, and 22 bytes for every record of up to 16 KiB.
        pub tls: bool = false,
        /// Maximum number of full segments before an acknowledgement (RFC 5681 section 4.2: 2).
        pub ack_every: AckEvery = default_ack_every(),
        /// Maximum delay of an acknowledgement (RFC 9293 section 3.8.6.3; 40 ms in Linux).
        pub delayed_ack: SimDuration = SimDuration::from_millis(40),
        /// Retransmission timeout before the first sample (RFC 6298 section 2.1).
        pub initial_rto: SimDuration [UpTo::DELAY] = SimDuration::from_secs(1),
        /// Minimum margin of the retransmission timeout above the smoothed round-trip time (200 ms in Linux).
        pub min_rto: SimDuration [UpTo::DELAY] = SimDuration::from_millis(200),
        /// The largest window that the receiver advertises; its buffer grows to this size with the application's
        /// reading rate. Linux counts its own overhead in `tcp_rmem`, so it advertises about half of its 6 MiB,
        /// depending on kernel and packet sizes.
        pub receive_buffer: Window = Window::Bytes(Bytes::new(6 << 20)),
        /// The largest send buffer: what the application may write ahead of acknowledgements. It starts with room for
        /// two initial windows and grows with the congestion window (`tcp_wmem` of Linux). A blocking write waits for
        /// room.
        pub send_buffer: Window = Window::Bytes(Bytes::new(4 << 20)),
        /// Maximum number of written but unsent bytes (`TCP_NOTSENT_LOWAT`); unlimited by default in Linux.
        pub notsent_lowat: Window = Window::Unlimited,
        /// Whether segments are spread over the round trip instead of sent in bursts. A controller with its own rate
        /// always paces.
        pub pacing: bool = false,
        /// Whether a small segment waits while an earlier small one is unacknowledged (RFC 9293 section 3.7.4).
        pub nagle: bool = true,
        /// How the host answers a segment that belongs to no connection (RFC 9293 section 3.10.7.1), such as one whose
        /// source address was rewritten on the way.
        pub no_connection: NoConnection = NoConnection::Reset,
        /// Actions of the sender on the forecasts of its flow; none by default.
        pub on_forecast: Option<OnForecastSpec> = None,
    }
}

leobench_base::spec! {
    /// When the application replaces a TCP connection by a new one, and where it resumes.
    #[derive(Copy)]
    pub struct ReconnectSpec check = check_reconnect {
        /// Longest time without progress while the application waits for it; after a reset it reconnects at once.
        pub after: SimDuration,
        /// Whether the sending end resumes where the receiving end stopped, after an exchange of 100 bytes each way, or
        /// starts over from the first byte.
        pub resume: bool = true,
    }
}

fn check_reconnect(spec: &ReconnectSpec) -> Result<(), Fault> {
    if spec.after.is_zero() {
        return Err(Fault::new("after", "is zero", "a time above zero"));
    }
    Ok(())
}

fn default_ack_every() -> AckEvery {
    AckEvery::nearest(2)
}

fn default_congestion() -> CongestionSpec {
    CongestionSpec::Cubic(CubicSpec::default())
}

fn check(spec: &TcpSpec) -> Result<(), Fault> {
    if spec.congestion.is_coupled() {
        let problem = format!(
            "is `{}`, which couples the paths of a connection: one of TCP has a single path",
            spec.congestion.name()
        );
        let allowed = format!("{}, or the transport `quic`", CongestionSpec::uncoupled());
        return Err(Fault::new("congestion", problem, allowed));
    }
    if !(SMALLEST_MSS..=LARGEST_MSS).contains(&spec.mss) {
        let allowed = format!("from {SMALLEST_MSS} (RFC 9293 section 3.7.1) to {LARGEST_MSS}");
        return Err(Fault::new("mss", "is not a valid payload for TCP", allowed));
    }
    for (field, time) in [("initial_rto", spec.initial_rto), ("min_rto", spec.min_rto)] {
        if time.is_zero() {
            return Err(Fault::new(field, "is zero", "a time above zero"));
        }
    }
    // RFC 9293 section 3.8.6.3: an acknowledgement MUST NOT be delayed by half a second or more.
    if spec.delayed_ack >= SimDuration::from_millis(500) {
        return Err(Fault::new("delayed_ack", "is too long", "a time below 500 ms"));
    }
    let buffers = [
        ("receive_buffer", spec.receive_buffer, "two segments", spec.mss + spec.mss),
        ("send_buffer", spec.send_buffer, "two segments", spec.mss + spec.mss),
        ("notsent_lowat", spec.notsent_lowat, "a segment", spec.mss),
    ];
    for (field, window, segments, least) in buffers {
        if matches!(window, Window::Bytes(size) if size < least) {
            let allowed = format!("at least {segments}, {least}");
            return Err(Fault::new(field, "is too small", allowed));
        }
    }
    Ok(())
}

impl TcpSpec {
    /// Smallest valid payload of a full segment.
    pub const SMALLEST_MSS: Bytes = SMALLEST_MSS;

    /// Bytes of TCP header before the payload of a full segment.
    pub fn header(&self) -> Bytes {
        Bytes::new(if self.timestamps { 32 } else { 20 })
    }
}
