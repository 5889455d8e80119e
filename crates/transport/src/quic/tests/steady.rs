//! The common case has code of its own, which sends what the general code sends.

use leobench_base::BitRate;
use leobench_base::spec::Whole;

use super::*;
use crate::quic::connection::use_general_code;

/// Everything sent over a lossy and a reordering pipe, and how many packets of it in the common case.
fn sent(spec: &QuicSpec, sender: Role, general: bool) -> ([Vec<Passed>; 2], u64) {
    let before = use_general_code(general);
    let mut pipe = connect(spec, 3, sender);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.fate = Box::new(|_, number, _| match number % 97 {
        96 => None,
        50 => Some(SimDuration::from_millis(15)),
        _ => Some(SimDuration::ZERO),
    });
    (0..3).for_each(|stream| pipe.write(stream, 700_000));
    pipe.run(ms(300), |_| false);
    pipe.finish();
    pipe.deliver(2_100_000);
    pipe.run(ms(300_000), |_| false);
    (pipe.passed, use_general_code(false) - before)
}

#[test]
fn the_common_case_changes_no_packet() {
    let specs = [
        spec(|_| ()),
        spec(|spec| (spec.pacing, spec.ecn) = (false, false)),
        spec(|spec| spec.key_update = Some(Whole::nearest(200))),
    ];
    for spec in specs {
        for sender in [Role::Client, Role::Server] {
            let (general, none) = sent(&spec, sender, true);
            let (common, most) = sent(&spec, sender, false);
            assert_eq!(none, 0);
            let all = (common[0].len() + common[1].len()) as u64;
            assert!(2_000 < all && most > all / 10 * 9, "{most} of {all}");
            for (end, (general, common)) in general.iter().zip(&common).enumerate() {
                for (number, packets) in general.iter().zip(common).enumerate() {
                    assert_eq!(packets.0, packets.1, "packet {number} of end {end}");
                }
                assert_eq!(general.len(), common.len());
            }
        }
    }
}
