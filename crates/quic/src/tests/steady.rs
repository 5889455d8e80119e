//! The common case has code of its own, which sends what the general code sends.

use std::net::IpAddr;

use leobench_base::BitRate;
use leobench_base::spec::Whole;
use leobench_transport::endpoint::{Input, InterfaceChange};
use leobench_transport::path_scheduler::PathSchedulerSpec;
use leobench_transport::testing::Way;

use super::paths::{address, several};
use super::*;
use crate::connection::use_general_code;
use crate::spec::AckPath;

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
            assert_same(&general, &common);
        }
    }
}

fn assert_same(general: &[Vec<Passed>; 2], common: &[Vec<Passed>; 2]) {
    for (end, (general, common)) in general.iter().zip(common).enumerate() {
        for (number, packets) in general.iter().zip(common).enumerate() {
            assert_eq!(packets.0, packets.1, "packet {number} of end {end}");
        }
        assert_eq!(general.len(), common.len());
    }
}

/// The course of the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// They stay.
    Calm,
    /// The address of one goes, and comes again.
    Moves,
    /// One loses everything for a while.
    Silent,
}

/// Everything sent over so many paths that lose and reorder, how many packets of it in the common case, and what was counted.
fn sent_over(
    (spec, paths, course): (&QuicSpec, usize, Course),
    sender: Role,
    general: bool,
) -> ([Vec<Passed>; 2], u64, String) {
    let before = use_general_code(general);
    let mut pipe = connect(spec, 3, sender);
    let client = usize::from(sender == Role::Server);
    let first: IpAddr = if sender == Role::Client { address(0) } else { [10, 0, 0, 2].into() };
    let addresses: Vec<IpAddr> = std::iter::once(first).chain((1..paths).map(address)).collect();
    pipe.ends[client].use_addresses(&addresses);
    let ways = addresses.iter().zip([(20, 9_000_000), (12, 6_000_000), (35, 12_000_000)]);
    pipe.ways = ways.map(|(ip, (millis, bps))| Way::new(*ip, millis, bps)).collect();
    pipe.fate = Box::new(|_, number, _| match number % 211 {
        210 => None,
        50 => Some(SimDuration::from_millis(25)),
        _ => Some(SimDuration::ZERO),
    });
    (0..3).for_each(|stream| pipe.write(stream, 1_000_000));
    pipe.run(ms(300), |_| false);
    let address = addresses[1];
    let change = |up| Input::Interface(InterfaceChange { address, up });
    pipe.ways[1].is_up = course == Course::Calm;
    if course == Course::Moves && client == SENDER {
        pipe.input(change(false));
    }
    pipe.run(ms(700), |_| false);
    pipe.ways[1].is_up = true;
    if course == Course::Moves && client == SENDER {
        pipe.input(change(true));
    }
    pipe.finish();
    pipe.deliver(3_000_000);
    pipe.run(ms(300_000), |_| false);
    let totals = pipe.ends.each_ref().map(|end| {
        let mut samples = Vec::new();
        end.connection().unwrap().sample_paths(&mut samples);
        (samples, end.totals())
    });
    (pipe.passed, use_general_code(false) - before, format!("{totals:?}"))
}

/// Asserts that the common case changes no packet over several paths. Returns the least share of packets sent by it.
fn compare_over(spec: &QuicSpec, paths: usize, course: Course) -> f64 {
    let shares = [Role::Client, Role::Server].map(|sender| {
        let of = (spec, paths, course);
        let (general, none, counted) = sent_over(of, sender, true);
        let (common, most, same) = sent_over(of, sender, false);
        assert_eq!(none, 0);
        assert_same(&general, &common);
        assert_eq!(counted, same);
        most as f64 / (common[0].len() + common[1].len()) as f64
    });
    shares[0].min(shares[1])
}

#[test]
fn the_common_case_of_several_paths_changes_no_packet() {
    for kind in PathSchedulerSpec::examples() {
        for (paths, least) in [(2, 0.8), (3, 0.8)] {
            let plain = several(paths, |multipath| multipath.scheduler = kind.clone());
            let share = compare_over(&plain, paths, Course::Calm);
            assert!(share > least, "{} over {paths}: {share}", kind.kind());
            for course in [Course::Moves, Course::Silent] {
                let share = compare_over(&plain, paths, course);
                assert!(share > 0.3, "{} over {paths}, {course:?}: {share}", kind.kind());
            }
            let backup = several(paths, |multipath| {
                multipath.scheduler = kind.clone();
                multipath.backup = vec!["1".to_owned()];
                multipath.idle_timeout = Some(SimDuration::from_secs(1));
            });
            compare_over(&backup, paths, Course::Silent);
        }
    }
}

#[test]
fn neither_keys_nor_pacing_make_a_difference_over_several_paths() {
    let changes: [fn(&mut QuicSpec); 2] = [
        |spec| spec.key_update = Some(Whole::nearest(200)),
        |spec| (spec.pacing, spec.ecn) = (false, false),
    ];
    for change in changes {
        let mut spec = several(2, |_| ());
        change(&mut spec);
        assert!(compare_over(&spec, 2, Course::Calm) > 0.5);
    }
    for ack in [AckPath::Fastest, AckPath::RoundRobin] {
        let spec = several(2, |multipath| multipath.ack = ack);
        assert!(compare_over(&spec, 2, Course::Calm) < 0.2, "left to the general code");
    }
}
