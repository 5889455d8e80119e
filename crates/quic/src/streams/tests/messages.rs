//! Messages in streams of their own, and their cancellation, over a link that carries a packet of 1,000 bytes every 10 ms.
//!
//! The first frame of a stream takes 2 bytes of it, the others 4 (RFC 9000 section 19.8: no offset, or one of two bytes), so that a
//! message of 998 + 996 bytes takes two packets.

use leobench_base::StreamIndex;
use leobench_transport::buffer::{Carried, OnDeadline};

use super::*;

/// Bytes of a message of two packets.
const TWO: u64 = 998 + 996;
/// The first stream of a message, behind the flow's only one.
const FIRST: u64 = 6;

fn own_streams(deadline: Option<u64>) -> Attributes {
    let carried = Carried::StreamPerMessage;
    let on_deadline = if deadline.is_some() { OnDeadline::Cancel } else { OnDeadline::Deliver };
    let deadline = deadline.map(SimDuration::from_millis);
    Attributes { deadline, carried, on_deadline, ..Attributes::default() }
}

fn pair(attributes: Attributes, server: &Setup) -> Pair {
    let client = Setup { flow_streams: 1, attributes, ..Setup::default() };
    let mut pair = Pair::before_handshake(&client, server);
    pair.ends[SERVER].message_streams_from = Some(1);
    pair.connect();
    pair
}

/// A link that is silent for a time, over which a message leaves every 40 ms.
struct Link {
    pair: Pair,
    silent: std::ops::Range<u64>,
    /// When the last part of each message arrived, in ms, by the number of its stream.
    arrived: BTreeMap<u64, u64>,
    /// When each was cancelled, and how many of its bytes had been sent.
    cancelled: Vec<(u64, u64, u64)>,
    packets: Vec<(u64, Packet)>,
}

impl Link {
    fn new(attributes: Attributes, silent: std::ops::Range<u64>) -> Self {
        let pair = pair(attributes, &Setup::default());
        Self { pair, silent, arrived: BTreeMap::new(), cancelled: Vec::new(), packets: Vec::new() }
    }

    fn run(mut self, until: u64) -> Self {
        for now in (0..until).step_by(10) {
            self.pair.now = ms(now);
            if now % 40 == 0 {
                self.pair.write(CLIENT, 0, TWO);
            }
            self.pair.ends[CLIENT].cancel_due(ms(now));
            for report in self.pair.reports(CLIENT) {
                if let Report::Cancelled { stream: StreamIndex::FIRST, message, sent } = report {
                    self.cancelled.push((now, message, sent));
                }
            }
            if self.silent.contains(&now) {
                continue;
            }
            if let Some(packet) = self.pair.pass(CLIENT, 1_000) {
                self.packets.push((now, packet));
            }
            for report in self.pair.reports(SERVER) {
                let Report::Part { number, .. } = report else { panic!("{report:?}") };
                self.arrived.insert(number, now);
            }
        }
        self
    }
}

/// Messages 2 to 7 wait while the link is silent from 80 ms to 300 ms. At 300 ms the first four are due: message 6 takes the very next
/// packet. If they are not cancelled, message k arrives at 310 ms + 20 ms (k - 2), and those up to 8 take more than 100 ms.
#[test]
fn the_next_message_leaves_as_soon_as_late_ones_are_cancelled() {
    let link = Link::new(own_streams(Some(100)), 80..300).run(480);
    let cancelled = [(180, 2, 0), (220, 3, 0), (260, 4, 0), (300, 5, 0)];
    assert_eq!(link.cancelled, cancelled);
    // Those that were cancelled before they began have no stream.
    let arrived: Vec<_> = link.arrived.values().copied().collect();
    assert_eq!(arrived, [10, 50, 310, 330, 350, 370, 410, 450]);
    let late = Link::new(own_streams(None), 80..300).run(480);
    assert_eq!(late.cancelled, []);
    let arrived: Vec<_> = late.arrived.values().copied().collect();
    assert_eq!(arrived, [10, 50, 310, 330, 350, 370, 390, 410, 430, 450, 470]);
}

/// A packet of message 2 has left when the link falls silent. Its `RESET_STREAM` frame takes 5 bytes of the packet at 300 ms, so that
/// message 6 needs some of a third one.
#[test]
fn a_message_that_has_begun_is_reset() {
    let link = Link::new(own_streams(Some(100)), 90..300).run(400);
    assert_eq!(link.cancelled[0], (180, 2, 998));
    let id = StreamId(FIRST + 2 * 4);
    let (at, first) = link.packets.iter().find(|(at, _)| *at >= 300).unwrap();
    let reset = Frame::ResetStream { id, code: 2, final_size: 998 };
    assert_eq!((*at, &first.frames[0], reset.size()), (300, &reset, 5));
    let own: Vec<_> = link
        .packets
        .iter()
        .flat_map(|(at, packet)| {
            data(packet).into_iter().map(move |(id, _, bytes, fin)| (*at, id, bytes, fin))
        })
        .filter(|(_, id, ..)| *id == FIRST + 3 * 4)
        .collect();
    assert_eq!(own, [(300, 18, 993, false), (310, 18, 996, false), (320, 18, 5, true)]);
    let mut pair = link.pair;
    assert_eq!(pair.logs[SERVER].resets, [(id, 2)]);
    assert_eq!(pair.ends[CLIENT].send_state(id), None, "acknowledged");
    assert_eq!(pair.ends[CLIENT].totals().sent, pair.ends[SERVER].totals().received);
}

/// RFC 9000 section 4.5: "A receiver [...] MUST account for the final size". A window of 3,000 bytes carries 400 messages of 2,500
/// bytes, of which every second one is lost in part and cancelled.
#[test]
fn cancelled_bytes_are_given_back() {
    let server = Setup { connection_window: ReceiveWindow::Fixed(3_000), ..Setup::default() };
    let mut pair = pair(own_streams(Some(100)), &server);
    let mut whole = 0;
    for number in 0..400 {
        pair.now += SimDuration::from_millis(200);
        pair.write(CLIENT, 0, 2_500);
        if number % 2 == 0 {
            let lost = pair.packet(CLIENT, 1_000).unwrap();
            pair.pass(CLIENT, 1_000).unwrap();
            pair.now += SimDuration::from_millis(100);
            let now = pair.now;
            pair.ends[CLIENT].cancel_due(now);
            pair.on_lost(CLIENT, &lost);
            let reset = pair.packet(CLIENT, 1_000).unwrap();
            assert!(matches!(reset.frames[..], [Frame::ResetStream { .. }]), "{reset:?}");
            // It is sent until it is acknowledged (section 13.3).
            pair.on_lost(CLIENT, &reset);
        }
        pair.settle(1_000);
        let [client, server] = [CLIENT, SERVER].map(|end| pair.ends[end].totals());
        assert_eq!(client.sent, server.received, "{number}");
        whole += u64::from(number % 2 == 1);
        let reports = pair.reports(SERVER);
        let parts = reports.iter().map(|report| match report {
            Report::Part { bytes, .. } => *bytes,
            other => panic!("{other:?}"),
        });
        assert_eq!(parts.sum::<u64>(), if number % 2 == 1 { 2_500 } else { 0 });
    }
    assert_eq!(pair.logs[SERVER].finished.len() as u64, whole);
    let open = |streams: &Streams| streams.table.open_streams();
    assert_eq!(
        (open(&pair.ends[CLIENT]), open(&pair.ends[SERVER])),
        (1, 1),
        "the flow's own, which is not used"
    );
}

/// Section 4.6: the peer allows so many streams at a time, and more as they close.
#[test]
fn messages_wait_for_the_peers_limit_on_streams() {
    let server = Setup { peer_streams: 1 + 2, ..Setup::default() };
    let mut pair = pair(own_streams(Some(100)), &server);
    (0..50).for_each(|_| pair.write(CLIENT, 0, 100));
    let first = pair.packet(CLIENT, 10_000).unwrap();
    assert_eq!(data(&first), [(6, 0, 100, true), (10, 0, 100, true)]);
    pair.deliver(CLIENT, &first);
    pair.on_acked(CLIENT, &first);
    pair.settle(1_000);
    assert_eq!(pair.logs[SERVER].finished.len(), 50);
    assert_eq!(pair.ends[CLIENT].cancellation(), None, "acknowledged messages are forgotten");
}

/// Section 3.5: the sender resets the stream, and the rest of the message waits no more.
#[test]
fn the_receiver_stops_a_message() {
    let mut pair = pair(own_streams(None), &Setup::default());
    pair.write(CLIENT, 0, 3 * TWO);
    pair.write(CLIENT, 0, 10);
    pair.pass(CLIENT, 1_000).unwrap();
    let now = pair.now;
    assert!(pair.ends[SERVER].stop(now, StreamId(FIRST), 9));
    pair.settle(1_000);
    assert_eq!(pair.logs[CLIENT].stopped, [(StreamId(FIRST), 9)]);
    assert_eq!(pair.logs[SERVER].finished, [StreamId(FIRST + 4)]);
    let reports = pair.reports(CLIENT);
    assert!(
        reports.contains(&Report::Cancelled { stream: 0.into(), message: 0, sent: TWO }),
        "{reports:?}"
    );
    assert_eq!(pair.ends[CLIENT].send_buffer().unwrap().backlog(), 0);
}
