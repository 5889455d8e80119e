//! The kernel's send buffer: how far the application may write ahead of what is acknowledged.
//!
//! Linux counts the memory that socket buffers take. Here only application data counts; packet descriptors add 5 to 12 % to it
//! (measured at 350 kB). Everything is in bytes of application data since the start; TLS records add 0.1 %.

use leobench_base::spec::Window;

use super::spec::TcpSpec;

/// Memory that Linux reserves for a segment beside its payload: the largest header (`MAX_TCP_HEADER`) and
/// `skb_shared_info`, rounded up to a power of two together with the payload; and `sk_buff` on top (`tcp_sndbuf_expand`). An MSS of 1,448
/// bytes takes 4,352, so that the buffer starts at the well-known 87,040 bytes. Kernels without wireless networks and tunnels have
/// shorter largest headers, and reserve 2,304.
const SEGMENT_OVERHEAD: u64 = 320 + 320;
const SEGMENT_DESCRIPTOR: u64 = 256;
/// Segments that there is room for at least (`TCP_INIT_CWND`).
const INITIAL_SEGMENTS: u64 = 10;

/// The size of a connection's send buffer (`sk_sndbuf`): it starts with room for two initial windows, and grows with the
/// congestion window up to `send_buffer`.
#[derive(Clone, Copy, Debug)]
pub struct SendBufferSize {
    /// Largest size (`tcp_wmem[2]`); unlimited if `u64::MAX`.
    largest: u64,
    /// Memory reserved for a segment.
    segment: u64,
    bytes: u64,
}

impl SendBufferSize {
    /// That of a new connection.
    pub fn new(spec: &TcpSpec) -> Self {
        let segment = (spec.mss.get() + SEGMENT_OVERHEAD).next_power_of_two() + SEGMENT_DESCRIPTOR;
        let mut size = Self { largest: bytes(spec.send_buffer), segment, bytes: 0 };
        size.grow(0, 2);
        size
    }

    /// Bytes of data that fit now; unlimited if `u64::MAX`.
    pub fn get(&self) -> u64 {
        self.bytes
    }

    /// Makes room for `factor` congestion windows of `window` segments (`tcp_sndbuf_expand`): one in flight, one to follow.
    pub fn grow(&mut self, window: u64, factor: u64) {
        if self.largest == u64::MAX {
            self.bytes = u64::MAX;
            return;
        }
        let wanted = factor * window.max(INITIAL_SEGMENTS) * self.segment;
        self.bytes = self.bytes.max(wanted.min(self.largest));
    }
}

/// The send buffer of one connection: `tcp_wmem` and `tcp_notsent_lowat` of Linux.
#[derive(Debug)]
pub(super) struct SendRoom {
    /// Bytes that may be written and not sent (`tcp_notsent_lowat`); unlimited if `u64::MAX`.
    unsent: u64,
    size: SendBufferSize,
    /// Bytes of application data that the buffer has taken, or would take, since the start.
    limit: u64,
    /// Whether a write waits for room (`SOCK_NOSPACE`).
    blocked: bool,
}

/// How much application data was written, has been sent, and is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) written: u64,
    pub(super) sent: u64,
    pub(super) acked: u64,
}

fn bytes(window: Window) -> u64 {
    match window {
        Window::Bytes(size) => size.get(),
        Window::Unlimited => u64::MAX,
    }
}

impl SendRoom {
    pub(super) fn new(spec: &TcpSpec) -> Self {
        let (size, unsent) = (SendBufferSize::new(spec), bytes(spec.notsent_lowat));
        Self { unsent, size, limit: size.get().min(unsent), blocked: false }
    }

    /// The application's data before `offset` was sent over earlier connections.
    pub(super) fn start_at(&mut self, offset: u64) {
        self.limit = self.limit.saturating_add(offset);
    }

    /// How much of the application's data the buffer takes: a write up to here returns.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether a write waits for room.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Makes room for `factor` congestion windows of `window` segments.
    pub(super) fn grow(&mut self, window: u64, factor: u64) {
        self.size.grow(window, factor);
    }

    /// Lets the application write on as far as there is room; whether it may write more than before.
    ///
    /// A write that waits goes on once a third of the buffer is free (`sk_stream_is_writeable`) and half of what may be unsent
    /// is sent (`tcp_stream_memory_free` with `wake`).
    pub(super) fn advance(&mut self, progress: Progress) -> bool {
        if progress.written < self.limit {
            return false;
        }
        let Progress { sent, acked, .. } = progress;
        // A TLS record may have been sent beyond the limit.
        let (queued, unsent) = (self.limit.saturating_sub(acked), self.limit.saturating_sub(sent));
        let writable = queued <= self.size.get() / 3 * 2 && unsent <= self.unsent / 2;
        if self.blocked && !writable {
            return false;
        }
        let before = self.limit;
        let room = acked.saturating_add(self.size.get()).min(sent.saturating_add(self.unsent));
        self.limit = room.max(before);
        self.blocked = progress.written > self.limit;
        self.limit > before
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::Bytes;

    use super::*;

    fn room(change: impl FnOnce(&mut TcpSpec)) -> SendRoom {
        let mut spec = TcpSpec::default();
        change(&mut spec);
        SendRoom::new(&spec)
    }

    fn at(written: u64, sent: u64, acked: u64) -> Progress {
        Progress { written, sent, acked }
    }

    /// The initial size is the `tb` that `ss -tm` shows for a fresh connection over Ethernet.
    #[test]
    fn it_starts_at_87040_bytes_and_grows_with_the_window_up_to_4_mib() {
        let mut room = room(|_| ());
        assert_eq!((room.size.get(), room.limit()), (87_040, 87_040));
        room.grow(100, 2);
        assert_eq!(room.size.get(), 2 * 100 * 4_352);
        room.grow(50, 2);
        assert_eq!(room.size.get(), 2 * 100 * 4_352, "it never shrinks");
        room.grow(10_000, 3);
        assert_eq!(room.size.get(), 4 << 20);
    }

    #[test]
    fn a_write_that_waits_goes_on_when_a_third_is_free() {
        let mut room = room(|spec| spec.send_buffer = Window::Bytes(Bytes::new(30_000)));
        assert!(!room.advance(at(29_999, 0, 0)));
        assert!(!room.advance(at(30_001, 0, 0)) && room.is_blocked());
        assert!(!room.advance(at(30_001, 15_000, 9_999)), "two thirds and a byte are taken");
        assert!(room.advance(at(30_001, 15_000, 10_000)));
        assert_eq!((room.limit(), room.is_blocked()), (40_000, false));
        // Nobody waits: what is acknowledged makes room at once.
        assert!(room.advance(at(41_000, 20_000, 12_000)));
        assert_eq!(room.limit(), 42_000);
    }

    #[test]
    fn unsent_data_may_be_limited_besides() {
        let lowat = |spec: &mut TcpSpec| spec.notsent_lowat = Window::Bytes(Bytes::new(16_000));
        let mut room = room(lowat);
        assert_eq!(room.limit(), 16_000);
        assert!(!room.advance(at(20_000, 0, 0)) && room.is_blocked());
        assert!(!room.advance(at(20_000, 7_999, 0)), "more than half is unsent");
        assert!(room.advance(at(20_000, 8_000, 0)));
        assert_eq!((room.limit(), room.is_blocked()), (24_000, false));
    }

    #[test]
    fn an_unlimited_buffer_takes_everything() {
        let room = room(|spec| spec.send_buffer = Window::Unlimited);
        assert_eq!(room.limit(), u64::MAX);
    }
}
