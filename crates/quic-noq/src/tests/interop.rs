//! Bytes exchanged with a stack that is not ours: `noq-proto`, with null protection.

use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::spec::{Whole, Window};
use leobench_base::{Bytes, LogHistogram};
use leobench_quic::QuicEndpoint;
use leobench_transport::buffer::Attributes;
use leobench_transport::buffer::SendBuffer;
use leobench_transport::endpoint::{EndpointError, Input, Loss, Outbox, PathSample, Totals};
use leobench_transport::testing::in_order;
use proptest::prelude::*;

use super::*;

/// Packets of an end that include its handshake, unless many are lost.
const HANDSHAKE_PACKETS: usize = 30;

/// One end of a connection between two stacks.
pub(super) enum End {
    Own(Box<QuicEndpoint>),
    Noq(Box<NoqEndpoint>),
}

impl End {
    fn get(&self) -> &dyn Endpoint {
        match self {
            Self::Own(end) => &**end,
            Self::Noq(end) => &**end,
        }
    }

    fn get_mut(&mut self) -> &mut dyn Endpoint {
        match self {
            Self::Own(end) => &mut **end,
            Self::Noq(end) => &mut **end,
        }
    }
}

impl Endpoint for End {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        self.get_mut().input(now, input)
    }

    fn poll(&mut self, now: SimTime, out: &mut Outbox) -> Result<Option<SimTime>, EndpointError> {
        self.get_mut().poll(now, out)
    }

    fn sample_paths(&self, now: SimTime, samples: &mut Vec<PathSample>) {
        self.get().sample_paths(now, samples);
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.get().send_buffer()
    }

    fn totals(&self) -> Totals {
        self.get().totals()
    }

    fn rtts(&self) -> LogHistogram {
        self.get().rtts()
    }

    fn lost(&self) -> Option<&Loss> {
        self.get().lost()
    }
}

impl Observed for End {
    type Passed = ();

    const REPORTS_ROOM: bool = false;

    fn observe(_pipe: &Pipe<Self>, _end: usize, packet: &Packet) {
        let size = (packet.meta.size - IPV4_UDP_HEADER).get();
        assert!(matches!(&packet.body, Body::UdpBytes(bytes) if bytes.len() as u64 == size));
    }
}

/// A connection between the stacks.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    pub(super) own_sends: bool,
    pub(super) client_sends: bool,
    pub(super) streams: usize,
    pub(super) bytes: u64,
    pub(super) window: Option<u64>,
    pub(super) ack_eliciting_threshold: u32,
    /// Of a thousand packets, how many are lost, and how many are late by up to so many milliseconds.
    pub(super) lost: u64,
    pub(super) late: u64,
    pub(super) by: u64,
    pub(super) salt: u64,
}

fn any_meeting() -> impl Strategy<Value = Meeting> {
    let sides = (any::<bool>(), any::<bool>());
    let load = (1usize..64, 1u64..400_000, prop::option::of(3_000u64..200_000), 0u32..10);
    let path = (0u64..150, 0u64..300, 0u64..60, any::<u64>());
    (sides, load, path).prop_map(|((own_sends, client_sends), load, (lost, late, by, salt))| {
        let (streams, bytes, window, ack_eliciting_threshold) = load;
        Meeting {
            own_sends,
            client_sends,
            streams,
            bytes,
            window,
            ack_eliciting_threshold,
            lost,
            late,
            by,
            salt,
        }
    })
}

impl Meeting {
    pub(super) fn pipe(&self) -> Pipe<End> {
        let spec = spec(|spec| {
            let window =
                self.window.map_or(Window::Unlimited, |size| Window::Bytes(Bytes::new(size)));
            (spec.stream_window, spec.connection_window) = (window, window);
            spec.ack_eliciting_threshold = Whole::nearest(self.ack_eliciting_threshold);
        });
        let rng = RngTree::new(self.salt);
        let address = |end| std::net::SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
        let attributes = vec![Attributes::default(); self.streams];
        let ends = [SENDER, RECEIVER].map(|end| {
            let sends = end == SENDER;
            let role = if sends == self.client_sends { Role::Client } else { Role::Server };
            let config = QuicConfig {
                spec: &spec,
                role,
                sends: if sends { &attributes[..] } else { &[] },
                receives: if sends { 0 } else { self.streams },
                datagrams: false,
                message_streams: None,
                local: address(end),
                remote: address(1 - end),
                start: SimTime::ZERO,
                rng: &rng.child(if sends { "sender" } else { "receiver" }),
                plugins: &in_order(),
                qlog: None,
            };
            if sends == self.own_sends {
                let mut own = QuicEndpoint::new(&config).unwrap();
                own.send_bytes();
                End::Own(Box::new(own))
            } else {
                End::Noq(Box::new(NoqEndpoint::new(config).unwrap()))
            }
        });
        let mut pipe = Pipe::new(ends, self.streams);
        let Self { lost, late, by, salt, .. } = *self;
        // As a client, noq-proto 1.4.0 may panic ("tried to build packet without encryption keys") if packets of the handshake
        // overtake each other.
        let in_order = if self.own_sends == self.client_sends { 0 } else { HANDSHAKE_PACKETS };
        pipe.fate = Box::new(move |end, number, _| {
            let luck = leobench_base::mix(salt ^ (2 * number + end) as u64);
            let is_late = number >= in_order && luck / 1_000 % 1_000 < late;
            let delay = if is_late { luck / 1_000_000 % (by + 1) } else { 0 };
            (luck % 1_000 >= lost).then(|| SimDuration::from_millis(delay))
        });
        pipe
    }

    fn hold(&self) {
        let mut pipe = self.pipe();
        let streams = self.streams as u64;
        let size = |stream: u64| self.bytes / streams + u64::from(stream < self.bytes % streams);
        for stream in 0..streams {
            if size(stream) > 0 {
                pipe.write(stream as usize, size(stream));
            }
        }
        pipe.finish();
        pipe.run(ms(600_000), |pipe| pipe.delivered.iter().sum::<u64>() >= self.bytes);
        let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
        assert_eq!((lost, pipe.delivered.iter().sum()), ([None, None], self.bytes), "{self:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn both_stacks_understand_each_other(meeting in any_meeting()) {
        meeting.hold();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    #[ignore = "the long form of the test above"]
    fn both_stacks_understand_each_other_in_500_meetings(meeting in any_meeting()) {
        meeting.hold();
    }
}

/// A packet that is so late that its truncated number is expanded to another (RFC 9000 appendix A.3) is not authentic, even
/// where nothing is protected: acknowledged under the wrong number, it would end the connection.
#[test]
fn a_packet_too_late_for_its_number_does_no_harm() {
    let meeting = Meeting {
        own_sends: false,
        client_sends: true,
        streams: 1,
        bytes: 368_148,
        window: None,
        ack_eliciting_threshold: 0,
        lost: 7,
        late: 15,
        by: 58,
        salt: 12_934_648_377_073_849_360,
    };
    meeting.hold();
}
