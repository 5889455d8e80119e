//! Several paths at a time (draft-ietf-quic-multipath).

use std::net::IpAddr;

use leobench_transport::endpoint::{Input, InterfaceChange, PathId};
use leobench_transport::path_manager::PathManagerSpec;
use leobench_transport::path_scheduler::{
    Backlog, Choice, PathScheduler, PathSchedulerSpec, PathView,
};
use leobench_transport::testing::Way;

use super::*;
use crate::MultipathSpec;
use crate::spec::{AckPath, Reinject};
use crate::wire::{Header, PathFrame};

const MBIT: u64 = 1_000_000;

/// The address of the sender at way `number`.
pub(super) fn address(number: usize) -> IpAddr {
    if number == 0 { [10, 0, 0, 1].into() } else { [10, 0, number as u8, 1].into() }
}

/// Parameters for so many paths.
pub(super) fn several(paths: usize, change: impl FnOnce(&mut MultipathSpec)) -> QuicSpec {
    let mut multipath = MultipathSpec {
        links: (0..paths).map(|number| number.to_string()).collect(),
        backup: Vec::new(),
        peer_links: Vec::new(),
        manager: PathManagerSpec::default(),
        scheduler: PathSchedulerSpec::default(),
        reinject: Reinject::OnTimeout,
        ack: AckPath::SamePath,
        idle_timeout: None,
        peer_offers: true,
    };
    change(&mut multipath);
    spec(|spec| spec.multipath = Some(multipath))
}

/// A client that sends over ways of these delays and rates, the first of which has the handshake. It knows the first `known`.
pub(super) fn client_over(
    spec: &QuicSpec,
    ways: &[(u64, u64)],
    known: usize,
) -> Pipe<QuicEndpoint> {
    let mut pipe = connect(spec, 1, Role::Client);
    let addresses: Vec<_> = (0..known).map(address).collect();
    pipe.ends[SENDER].use_addresses(&addresses);
    let ways = ways.iter().enumerate();
    pipe.ways = ways.map(|(at, (millis, bps))| Way::new(address(at), *millis, *bps)).collect();
    pipe
}

pub(super) fn send(pipe: &mut Pipe<QuicEndpoint>, bytes: u64) {
    pipe.write(0, bytes);
    pipe.finish();
}

fn frames(passed: &Passed) -> impl Iterator<Item = &Frame> {
    passed.packets.iter().flat_map(|packet| &packet.frames)
}

/// The way that a datagram of the sender takes.
pub(super) fn way(passed: &Passed) -> usize {
    usize::from(match passed.source.ip() {
        IpAddr::V4(ip) => ip.octets()[2],
        IpAddr::V6(_) => unreachable!("no test uses it"),
    })
}

pub(super) fn path_events(pipe: &Pipe<QuicEndpoint>, end: usize) -> Vec<String> {
    let events = pipe.events[end].iter().filter(|(_, event)| event.kind == "path");
    events.map(|(_, event)| event.detail.split(':').next().unwrap().to_owned()).collect()
}

/// Milliseconds to deliver so many bytes.
fn duration(spec: &QuicSpec, ways: &[(u64, u64)], known: usize, bytes: u64) -> u64 {
    let mut pipe = client_over(spec, ways, known);
    send(&mut pipe, bytes);
    pipe.deliver(bytes);
    pipe.now.as_nanos() / 1_000_000
}

#[test]
fn two_equal_paths_carry_nearly_twice_what_one_carries() {
    let ways = [(20, 20 * MBIT); 2];
    for kind in PathSchedulerSpec::examples() {
        let spec = several(2, |multipath| multipath.scheduler = kind.clone());
        let [one, two] = [1, 2].map(|known| duration(&spec, &ways, known, 40_000_000));
        if kind.kind() == "redundant" {
            assert!(two <= one && one * 20 <= two * 21, "{one} ms with one, {two} ms with two");
            continue;
        }
        assert!(one * 10 >= two * 19, "{}: {one} ms with one, {two} ms with two", kind.kind());
    }
}

/// Records choices, and chooses by a rule.
struct Recording {
    rule: fn(&[PathView]) -> Option<PathId>,
    chosen: std::sync::Arc<std::sync::Mutex<Vec<u32>>>,
}

impl PathScheduler for Recording {
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        _backlog: &Backlog,
    ) -> Result<Choice, String> {
        let available: Vec<_> = paths.iter().filter(|path| path.has_room(now)).copied().collect();
        Ok((self.rule)(&available).map_or(Choice::Wait, Choice::One))
    }

    fn on_sent(&mut self, path: PathId) -> Result<(), String> {
        self.chosen.lock().unwrap().push(path.0);
        Ok(())
    }
}

/// Lets the paths of an end be chosen by a rule; the choices.
fn choose_by(
    pipe: &mut Pipe<QuicEndpoint>,
    end: usize,
    rule: fn(&[PathView]) -> Option<PathId>,
) -> std::sync::Arc<std::sync::Mutex<Vec<u32>>> {
    let chosen = std::sync::Arc::default();
    let known = std::sync::Arc::clone(&chosen);
    let build = move || -> Result<Box<dyn PathScheduler>, String> {
        Ok(Box::new(Recording { rule, chosen: std::sync::Arc::clone(&known) }))
    };
    pipe.ends[end].prepare(|parts| {
        parts.offer.as_mut().unwrap().scheduler = std::sync::Arc::new(build);
    });
    chosen
}

#[test]
fn every_packet_with_data_takes_the_path_that_was_chosen() {
    let mut pipe =
        client_over(&several(3, |_| ()), &[(20, 20 * MBIT), (5, 5 * MBIT), (40, MBIT)], 3);
    let chosen = choose_by(&mut pipe, SENDER, |paths| {
        let spare = |path: &&PathView| path.window.get() - path.in_flight.get();
        paths.iter().max_by_key(spare).map(|path| path.id)
    });
    send(&mut pipe, 10_000_000);
    pipe.deliver(10_000_000);
    let opened = pipe.events[SENDER].iter().find(|(_, event)| event.detail.starts_with("2 opened"));
    let opened = opened.unwrap().0;
    let with_data = pipe.passed[SENDER].iter().filter(|passed| passed.at > opened);
    let taken: Vec<_> = with_data.filter(|passed| passed.streams().count() > 0).map(way).collect();
    let chosen: Vec<_> = chosen.lock().unwrap().iter().map(|path| *path as usize).collect();
    assert!(taken.len() > 5_000);
    assert!((0..3).all(|path| taken.contains(&path)), "all were chosen");
    assert_eq!(taken[taken.len() - 5_000..], chosen[chosen.len() - 5_000..]);
}

/// The packets of the sender on its first path.
fn first_path(pipe: &Pipe<QuicEndpoint>) -> Vec<&Passed> {
    pipe.passed[SENDER].iter().filter(|passed| way(passed) == 0).collect()
}

#[track_caller]
fn assert_same(alone: &[&Passed], beside: &[&Passed]) {
    let differs = std::iter::zip(alone, beside).find(|(alone, beside)| alone != beside);
    assert!(differs.is_none(), "{differs:#?}");
    let common = alone.len().min(beside.len());
    assert_eq!(alone[common..], beside[common..]);
}

#[test]
fn a_second_path_that_is_never_used_changes_no_byte_of_the_first() {
    let ways = [(20, 20 * MBIT); 2];
    let play = |backup: bool, known: usize| {
        let spec = several(2, |multipath| {
            multipath.backup = if backup { vec!["1".to_owned()] } else { Vec::new() };
        });
        let mut pipe = client_over(&spec, &ways, known);
        if !backup {
            for end in [SENDER, RECEIVER] {
                choose_by(&mut pipe, end, |paths| {
                    paths.iter().map(|path| path.id).find(|id| id.0 == 0)
                });
            }
        }
        send(&mut pipe, 5_000_000);
        pipe.deliver(5_000_000);
        pipe.run(ms(60_000), |_| false);
        pipe
    };
    for backup in [true, false] {
        let [alone, beside] = [1, 2].map(|known| play(backup, known));
        assert_eq!(path_events(&beside, SENDER), ["1 opened", "validated"]);
        let second = beside.passed[SENDER].iter().filter(|passed| way(passed) == 1);
        let second: Vec<_> = second.collect();
        assert!((2..=6).contains(&second.len()), "{second:#?}");
        assert!(second.iter().all(|passed| passed.streams().count() == 0));
        let received = |pipe: &Pipe<QuicEndpoint>| {
            let all = pipe.passed[RECEIVER].clone().into_iter();
            all.filter(|passed| passed.destination.ip() == address(0)).collect::<Vec<_>>()
        };
        let answers = [&alone, &beside].map(received);
        let [before, after] = answers.each_ref().map(|all| all.iter().collect::<Vec<_>>());
        assert_same(&before, &after);
        assert_same(&first_path(&alone), &first_path(&beside));
    }
}

#[test]
fn a_path_is_opened_as_the_draft_says() {
    let mut pipe = client_over(&several(2, |_| ()), &[(20, 20 * MBIT), (30, 20 * MBIT)], 2);
    pipe.run(ms(1_000), |_| false);
    assert_eq!(path_events(&pipe, SENDER), ["1 opened", "validated"]);
    assert_eq!(path_events(&pipe, RECEIVER), ["1 accepted", "validated"]);
    let on_second: Vec<_> = pipe.passed[SENDER].iter().filter(|passed| way(passed) == 1).collect();
    let first = on_second[0];
    assert_eq!(first.size, 1_200);
    assert!(matches!(first.packets[0].frames[0], Frame::PathChallenge(_)), "{first:?}");
    assert_eq!(first.packets[0].header.number().value, 0, "its packet numbers begin at zero");
    let answers =
        pipe.passed[RECEIVER].iter().filter(|passed| passed.destination.ip() == address(1));
    let answers: Vec<_> = answers.collect();
    let answer = answers[0];
    assert!(answer.size >= 1_200 && answer.size <= 3 * first.size);
    assert!(frames(answer).any(|frame| matches!(frame, Frame::PathResponse(_))), "{answer:?}");
    assert!(frames(answer).any(|frame| matches!(frame, Frame::PathChallenge(_))), "{answer:?}");
    // The IDs of both directions were announced for path 1, and were not used before.
    let announced = |end: usize| -> Vec<_> {
        let frames = pipe.passed[end].iter().flat_map(frames);
        let ids = frames.filter_map(|frame| match frame {
            Frame::Path(PathFrame::NewConnectionId { path: 1, new }) => Some(new.id),
            _ => None,
        });
        ids.collect()
    };
    for (passed, ids) in [(first, announced(RECEIVER)), (answer, announced(SENDER))] {
        let Header::OneRtt { destination, .. } = &passed.packets[0].header else { panic!() };
        assert!(ids.contains(destination), "{destination:?} of {ids:?}");
    }
}

/// Acknowledgements of 1-RTT packets: the way they take, and the path they are about.
fn acks(pipe: &Pipe<QuicEndpoint>) -> Vec<(usize, u32)> {
    let way = |passed: &Passed| match passed.destination.ip() {
        IpAddr::V4(ip) => usize::from(ip.octets()[2]),
        IpAddr::V6(_) => unreachable!("no test uses it"),
    };
    let packets = pipe.passed[RECEIVER].iter();
    let frames = packets.flat_map(|passed| {
        passed.packets.iter().flat_map(|packet| &packet.frames).map(move |frame| (passed, frame))
    });
    let acks = frames.filter_map(|(passed, frame)| match frame {
        Frame::PathAck { path, .. } => Some((way(passed), *path)),
        _ => None,
    });
    acks.collect()
}

#[test]
fn acknowledgements_take_the_path_that_their_policy_says() {
    for policy in [AckPath::SamePath, AckPath::Fastest, AckPath::RoundRobin] {
        let spec = several(2, |multipath| multipath.ack = policy);
        let mut pipe = client_over(&spec, &[(40, 20 * MBIT), (10, 20 * MBIT)], 2);
        send(&mut pipe, 5_000_000);
        pipe.deliver(5_000_000);
        let acks = acks(&pipe);
        let acks = &acks[acks.len() / 4..];
        let on_second = acks.iter().filter(|(way, _)| *way == 1).count();
        match policy {
            AckPath::SamePath => assert!(acks.iter().all(|(way, path)| *way == *path as usize)),
            AckPath::Fastest => assert_eq!(on_second, acks.len()),
            AckPath::RoundRobin => {
                assert!(on_second.abs_diff(acks.len() / 2) <= 1, "{on_second} of {}", acks.len());
            }
        }
    }
}

#[test]
fn what_was_on_a_path_that_fails_arrives_over_another() {
    for fails in [0, 1] {
        let mut pipe = client_over(&several(2, |_| ()), &[(20, 10 * MBIT), (30, 10 * MBIT)], 2);
        send(&mut pipe, 10_000_000);
        pipe.run(ms(2_000), |_| false);
        let before = pipe.delivered[0];
        pipe.ways[fails].is_up = false;
        pipe.run(ms(4_000), |_| false);
        assert!(pipe.delivered[0] > before + 1_000_000, "path {fails} holds everything up");
        pipe.deliver(10_000_000);
        assert!(pipe.now < ms(9_000), "{}", pipe.now);
    }
}

/// Whether an end told the other one to abandon a path.
fn abandons(pipe: &Pipe<QuicEndpoint>, end: usize, path: u32) -> usize {
    let frames = pipe.passed[end].iter().flat_map(|passed| &passed.packets);
    let frames = frames.flat_map(|packet| &packet.frames);
    let is_it = |frame: &&Frame| matches!(frame, Frame::Path(PathFrame::Abandon { path: id, .. }) if *id == path);
    frames.filter(is_it).count()
}

#[test]
fn a_path_is_abandoned_when_its_address_goes_and_another_is_opened_when_it_comes_back() {
    for goes in [0, 1] {
        let mut pipe = client_over(&several(2, |_| ()), &[(20, 10 * MBIT), (30, 10 * MBIT)], 2);
        send(&mut pipe, 15_000_000);
        pipe.run(ms(2_000), |_| false);
        pipe.ways[goes].is_up = false;
        let change = InterfaceChange { address: address(goes), up: false };
        pipe.input(Input::Interface(change));
        pipe.run(ms(4_000), |_| false);
        assert_eq!([SENDER, RECEIVER].map(|end| abandons(&pipe, end, goes as u32)), [1, 1]);
        let late = pipe.passed[SENDER].iter().filter(|passed| passed.at > ms(2_000));
        assert!(late.clone().all(|passed| way(passed) != goes), "nothing more is sent on it");
        pipe.ways[goes].is_up = true;
        pipe.input(Input::Interface(InterfaceChange { up: true, ..change }));
        pipe.deliver(15_000_000);
        let events = path_events(&pipe, SENDER);
        assert!(events.contains(&"2 opened".to_owned()), "{events:?}");
        let again = pipe.passed[SENDER].iter().filter(|passed| passed.at > ms(5_000));
        assert!(again.clone().any(|passed| way(passed) == goes && passed.streams().count() > 0));
    }
}

#[test]
fn a_path_that_nobody_answers_on_is_abandoned() {
    let mut pipe = client_over(&several(2, |_| ()), &[(20, 10 * MBIT), (30, 10 * MBIT)], 2);
    pipe.ways[1].is_up = false;
    send(&mut pipe, 10_000_000);
    pipe.deliver(10_000_000);
    assert_eq!(path_events(&pipe, SENDER)[..2], ["1 opened", "1 abandoned"]);
    assert_eq!(abandons(&pipe, SENDER, 1), 1);
    assert_eq!(abandons(&pipe, RECEIVER, 1), 1, "although it knew nothing of it");
}

#[test]
fn an_idle_path_is_abandoned_if_that_is_asked_for() {
    let spec = several(2, |multipath| {
        multipath.backup = vec!["1".to_owned()];
        multipath.idle_timeout = Some(SimDuration::from_secs(3));
    });
    let mut pipe = client_over(&spec, &[(20, 10 * MBIT), (30, 10 * MBIT)], 2);
    send(&mut pipe, 10_000_000);
    pipe.run(ms(3_000), |_| false);
    let events = path_events(&pipe, SENDER);
    assert!(!events.iter().any(|event| event.starts_with("1 abandoned")), "{events:?}");
    pipe.deliver(10_000_000);
    let events = path_events(&pipe, SENDER);
    assert!(events.iter().any(|event| event.starts_with("1 abandoned")), "{events:?}");
}

#[test]
fn a_backup_is_used_when_the_other_path_fails() {
    for sender in [Role::Client, Role::Server] {
        let spec = several(2, |multipath| multipath.backup = vec!["1".to_owned()]);
        let mut pipe = connect(&spec, 1, sender);
        let client = usize::from(sender == Role::Server);
        let addresses: [IpAddr; 2] = [[10, 0, 0, 1 + client as u8].into(), [10, 0, 1, 1].into()];
        pipe.ends[client].use_addresses(&addresses);
        let rates = [10 * MBIT, 2 * MBIT];
        pipe.ways =
            std::iter::zip(addresses, rates).map(|(ip, bps)| Way::new(ip, 20, bps)).collect();
        send(&mut pipe, 4_000_000);
        pipe.run(ms(2_000), |_| false);
        let on_backup = |passed: &&Passed| {
            [passed.source.ip(), passed.destination.ip()].contains(&addresses[1])
                && passed.streams().count() > 0
        };
        assert_eq!(pipe.passed[SENDER].iter().filter(on_backup).count(), 0);
        pipe.ways[0].is_up = false;
        pipe.deliver(4_000_000);
        assert!(pipe.passed[SENDER].iter().filter(on_backup).count() > 100);
    }
}

#[test]
fn a_client_whose_server_offers_one_path_refuses_the_run() {
    let mut pipe = client_over(&several(2, |_| ()), &[(20, 10 * MBIT), (30, 10 * MBIT)], 2);
    pipe.ends[RECEIVER].prepare(|parts| parts.offer = None);
    pipe.may_fail = true;
    pipe.run(ms(1_000), |pipe| pipe.failed.is_some());
    let error = pipe.failed.unwrap();
    assert!(error.refuses_scenario());
    let error = error.to_string();
    assert!(
        error.contains("10.0.0.1:4433 offers several paths, but 10.0.0.2:4433 does not"),
        "{error}"
    );
}

#[test]
fn a_scheduler_that_cannot_be_built_fails_when_the_handshake_is_complete() {
    let mut pipe = client_over(&several(2, |_| ()), &[(20, 10 * MBIT); 2], 2);
    pipe.ends[SENDER].prepare(|parts| {
        parts.offer.as_mut().unwrap().scheduler = std::sync::Arc::new(|| Err("none".to_owned()));
    });
    pipe.may_fail = true;
    pipe.run(ms(1_000), |pipe| pipe.failed.is_some());
    let error = pipe.failed.unwrap().to_string();
    assert!(error.ends_with(&format!(" at {}: none", pipe.now)), "{error}");
}

/// Loss and reordering of all kinds, two to four paths: every byte arrives once and in order, which the pipe checks.
#[test]
fn every_byte_arrives_once_over_random_paths() {
    for seed in 0..40 {
        let mut rng = RngTree::new(seed).child("paths").rng();
        let paths = 2 + rng.below(3) as usize;
        let ways: Vec<_> =
            (0..paths).map(|_| (1 + rng.below(200), (1 + rng.below(20)) * MBIT)).collect();
        let policy =
            [AckPath::SamePath, AckPath::Fastest, AckPath::RoundRobin][rng.below(3) as usize];
        let kinds = PathSchedulerSpec::examples();
        let kind = kinds[rng.below(kinds.len() as u64) as usize].clone();
        let spec =
            several(paths, |multipath| (multipath.ack, multipath.scheduler) = (policy, kind));
        let mut pipe = client_over(&spec, &ways, paths);
        let (lost, late) = (rng.below(80), rng.below(300));
        let mut luck = rng.clone();
        pipe.fate = Box::new(move |_, _, _| {
            let delay = if luck.below(1_000) < late { luck.below(100) } else { 0 };
            (luck.below(1_000) >= lost).then_some(SimDuration::from_millis(delay))
        });
        let bytes = 500_000 + rng.below(2_000_000);
        send(&mut pipe, bytes);
        // A client whose address goes away before the handshake is confirmed has lost its connection.
        pipe.run(ms(20_000), |pipe| pipe.count(SENDER, "path") > 0);
        for _ in 0..rng.below(4) {
            pipe.run(pipe.now + SimDuration::from_millis(rng.below(600)), |_| false);
            let at = rng.below(paths as u64) as usize;
            let up = !pipe.ways[at].is_up;
            pipe.ways[at].is_up = up;
            if rng.below(2) == 0 {
                pipe.input(Input::Interface(InterfaceChange { address: address(at), up }));
            }
        }
        for at in 0..paths {
            pipe.ways[at].is_up = true;
            pipe.input(Input::Interface(InterfaceChange { address: address(at), up: true }));
        }
        pipe.deliver(bytes);
    }
}

#[test]
fn nothing_of_multipath_is_sent_unless_both_ends_offer_it() {
    let mut pipe = connect(&spec(|_| ()), 1, Role::Client);
    send(&mut pipe, 100_000);
    pipe.deliver(100_000);
    let packets = pipe.passed.iter().flatten().flat_map(|passed| &passed.packets);
    let frames = packets.flat_map(|packet| &packet.frames);
    let of_paths = |frame: &Frame| matches!(frame, Frame::Path(_) | Frame::PathAck { .. });
    assert!(!frames.clone().any(of_paths));
}

/// A host that leaves one network the moment it enters another: the path that is left is abandoned for one that is not validated yet.
#[test]
fn one_address_goes_as_another_comes() {
    for millis in [500, 505, 530, 600] {
        let mut pipe = client_over(&several(2, |_| ()), &[(20, 10 * MBIT), (30, 10 * MBIT)], 2);
        pipe.input(Input::Interface(InterfaceChange { address: address(1), up: false }));
        send(&mut pipe, 5_000_000);
        pipe.run(ms(500), |_| false);
        assert_eq!(path_events(&pipe, SENDER), [""; 0]);
        pipe.input(Input::Interface(InterfaceChange { address: address(1), up: true }));
        pipe.run(ms(millis), |_| false);
        pipe.ways[0].is_up = false;
        pipe.input(Input::Interface(InterfaceChange { address: address(0), up: false }));
        pipe.deliver(5_000_000);
        let events = path_events(&pipe, SENDER);
        assert!(events.contains(&"0 abandoned".to_owned()), "{events:?}");
        let late = pipe.passed[SENDER].iter().filter(|passed| passed.at > ms(millis));
        assert!(late.clone().all(|passed| way(passed) == 1));
        assert!(pipe.now < ms(6_000), "{}", pipe.now);
    }
}

/// A host with one network at a time: its only path moves again and again, and each move needs a fresh connection ID of either end.
#[test]
fn the_only_path_moves_as_often_as_addresses_change() {
    let mut pipe = client_over(&several(2, |_| ()), &[(20, 10 * MBIT), (30, 10 * MBIT)], 2);
    pipe.input(Input::Interface(InterfaceChange { address: address(1), up: false }));
    send(&mut pipe, 10_000_000);
    for change in 1..=12 {
        pipe.run(ms(change * 500), |_| false);
        for up in [false, true] {
            let number = (change as usize + usize::from(!up)) % 2;
            pipe.ways[number].is_up = up;
            pipe.input(Input::Interface(InterfaceChange { address: address(number), up }));
        }
    }
    pipe.deliver(10_000_000);
    for end in [SENDER, RECEIVER] {
        let moves = path_events(&pipe, end).iter().filter(|event| *event == "moved").count();
        assert_eq!(moves, 12, "{:?}", path_events(&pipe, end));
    }
}
