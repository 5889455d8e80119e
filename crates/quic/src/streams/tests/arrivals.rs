//! Measurements of the arrival of data.

use leobench_transport::arrivals::Arrivals;

use super::*;

/// A server that receives on the flow's streams of a client, and measures what arrives.
struct Receiver(Streams);

impl Receiver {
    fn new() -> Self {
        let setup = Setup { peer_streams: 4, ..Setup::default() };
        let mut streams = setup.build(Role::Server);
        streams.measure_arrivals();
        Self(streams)
    }

    /// Bytes from `start` to before `end` of a stream arrive after so many milliseconds.
    fn arrive(&mut self, millis: u64, index: u64, (start, end): (u64, u64), fin: bool) {
        // RFC 9000 section 2.1: the client's unidirectional streams are 2, 6, 10 and so on.
        let (id, len) = (StreamId(4 * index + 2), end - start);
        let frame = Frame::Stream { id, offset: start, len, fin, explicit_len: true };
        self.0.on_frame(ms(millis), &frame).unwrap();
    }

    fn arrivals(&self) -> &Arrivals {
        self.0.arrivals().unwrap()
    }

    /// Milliseconds that bytes waited: their sum, and the longest.
    fn waited(&self) -> (f64, f64) {
        let delay = self.arrivals().reordering_delay();
        let sum = delay.mean().unwrap_or(0.0) * delay.count() as f64 / 1e6;
        (sum.round(), delay.max().unwrap_or(0) as f64 / 1e6)
    }
}

/// A path of 10 ms and one of 60 ms, one way: of ten packets sent at once, the slow path has the first and the sixth.
#[test]
fn what_comes_over_the_fast_path_waits_for_the_slow_one() {
    let mut receiver = Receiver::new();
    let packet = |number: u64| (1_000 * number, 1_000 * (number + 1));
    let slow = |number: &u64| number.is_multiple_of(5);
    for number in (0..10).filter(|number| !slow(number)) {
        receiver.arrive(10, 0, packet(number), false);
    }
    assert_eq!(receiver.arrivals().reordering_delay().count(), 0, "nothing can be read yet");
    receiver.arrive(60, 0, packet(0), false);
    receiver.arrive(60, 0, packet(5), false);
    let delay = receiver.arrivals().reordering_delay();
    assert_eq!((delay.count(), receiver.waited()), (10_000, (8_000.0 * 50.0, 50.0)));
    let millis = |share| (delay.quantile(share).unwrap() + 500_000) / 1_000_000;
    assert_eq!([0.1, 0.2, 0.21, 1.0].map(millis), [0, 0, 50, 50]);
    assert_eq!(receiver.arrivals().duplicate_bytes().get(), 0);
}

#[test]
fn bytes_count_from_their_first_arrival_and_once() {
    let mut receiver = Receiver::new();
    receiver.arrive(10, 0, (300, 400), false);
    receiver.arrive(20, 0, (200, 500), false);
    assert_eq!(receiver.arrivals().duplicate_bytes().get(), 100);
    receiver.arrive(30, 0, (100, 300), false);
    assert_eq!(receiver.arrivals().duplicate_bytes().get(), 200);
    receiver.arrive(50, 0, (0, 250), false);
    assert_eq!(receiver.arrivals().duplicate_bytes().get(), 350);
    // 0..100 in order; 100..200 since 30 ms, 200..300 and 400..500 since 20 ms, 300..400 since 10 ms.
    assert_eq!(receiver.arrivals().reordering_delay().count(), 500);
    assert_eq!(receiver.waited(), (f64::from(100 * (20 + 30 + 40 + 30)), 40.0));
    receiver.arrive(60, 0, (400, 600), true);
    assert_eq!(receiver.arrivals().duplicate_bytes().get(), 450);
    receiver.arrive(70, 0, (0, 600), true);
    assert_eq!(receiver.arrivals().duplicate_bytes().get(), 1_050, "the stream has ended");
    assert_eq!(receiver.arrivals().reordering_delay().count(), 600);
}

#[test]
fn streams_do_not_wait_for_each_other() {
    let mut receiver = Receiver::new();
    receiver.arrive(10, 0, (100, 200), false);
    receiver.arrive(10, 1, (0, 200), false);
    receiver.arrive(40, 0, (0, 100), false);
    assert_eq!(receiver.arrivals().reordering_delay().count(), 400);
    assert_eq!(receiver.waited(), (f64::from(100 * 30), 30.0));
    let before = receiver.arrivals().clone();
    receiver.arrive(50, 1, (300, 400), false);
    receiver.arrive(70, 1, (200, 300), false);
    receiver.arrive(70, 1, (200, 300), false);
    let since = receiver.arrivals().since(&before);
    assert_eq!(since.duplicate_bytes().get(), 100);
    assert_eq!(
        (since.reordering_delay().count(), since.reordering_delay().mean()),
        (200, Some(1e7))
    );
}
