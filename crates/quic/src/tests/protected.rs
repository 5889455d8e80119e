//! Packets in clear and encrypted.

use leobench_base::BitRate;

use super::*;

#[test]
fn encrypted_packets_carry_the_same() {
    for role in [Role::Client, Role::Server] {
        let run = |protection| {
            let mut pipe = connect(&spec(|spec| spec.protection = protection), 2, role);
            pipe.rate = BitRate::from_bps(20_000_000);
            pipe.fate = Box::new(|_, number, _| (number % 40 != 39).then_some(SimDuration::ZERO));
            (0..2).for_each(|stream| pipe.write(stream, 300_000));
            pipe.finish();
            pipe.run(ms(9_000), |pipe| pipe.delivered.iter().sum::<u64>() >= 600_000);
            let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
            assert_eq!((pipe.delivered.iter().sum::<u64>(), lost), (600_000, [None, None]));
            pipe.now
        };
        // The flights of the handshake differ in size, and all else follows from their times.
        let (null, tls) = (run(Protected::Null), run(Protected::Tls));
        let ratio = tls.as_secs_f64() / null.as_secs_f64();
        assert!((0.8..1.25).contains(&ratio), "{role:?}: {tls} after {null}");
    }
}
