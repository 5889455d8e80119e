//! Content of the packets that several streams share.

use leobench_base::spec::Whole;
use leobench_transport::scheduler::SchedulerSpec;

use super::*;

/// The packets that carry stream data.
fn data(pipe: &Pipe<NoqEndpoint>) -> impl Iterator<Item = &Passed> {
    pipe.passed[SENDER].iter().filter(|packet| packet.frames.iter().any(|(_, _, len, _)| *len > 0))
}

#[test]
fn round_robin_gives_each_packet_to_the_next_stream_and_fills_it() {
    // Slow start without a bottleneck passes 128 and 32,768 packets in flight, where packet numbers grow a byte
    // (RFC 9000 section 17.1), and the offsets pass 2^14, where theirs do.
    const STREAMS: u64 = 3;
    let mut pipe = connect(&spec(|_| ()), STREAMS as usize, Role::Client);
    (0..STREAMS as usize).for_each(|stream| pipe.write(stream, 50_000_000));
    pipe.deliver(150_000_000);
    let (mut packets, mut short, mut mixed, mut astray) = (0, 0, 0, 0);
    let mut next = 0;
    for packet in data(&pipe).filter(|packet| packet.backlog > 10_000) {
        packets += 1;
        // One packet in eleven received is acknowledged, beside which the frame cannot fill the packet to the last byte.
        short += u64::from(packet.size < 1_252);
        assert!(packet.size > 1_252 - 35, "{} bytes", packet.size);
        mixed += u64::from(packet.frames.len() > 1);
        // The rest of an earlier choice may go first: acknowledgements had taken its place.
        let (stream, ..) = packet.frames[packet.frames.len() - 1];
        astray += u64::from(stream != next);
        next = (stream + 1) % STREAMS;
    }
    assert!(packets > 120_000, "{packets} packets");
    assert!(
        short < packets / 40 && astray <= 2,
        "{short} short, {astray} out of turn of {packets}"
    );
    assert!(
        mixed < packets / 10_000,
        "{mixed} of {packets} packets carry the rest of an earlier choice"
    );
}

#[test]
fn small_messages_of_many_streams_share_a_packet() {
    let mut pipe = connect(&spec(|_| ()), 40, Role::Client);
    for round in 0..50 {
        (0..40).for_each(|stream| pipe.write(stream, 60 + round));
    }
    let bytes = 40 * (0..50).map(|round| 60 + round).sum::<u64>();
    pipe.deliver(bytes);
    let full: Vec<_> = data(&pipe).filter(|packet| packet.backlog > 0).collect();
    // Nothing starts in the last 25 bytes, and 8 are kept for a length field.
    let fullest = full.iter().filter(|packet| packet.size >= 1_252 - 25 - 8).count();
    assert!(fullest + 2 >= full.len(), "{fullest} of {} packets are full", full.len());
}

#[test]
fn what_leaves_is_what_the_scheduler_chose() {
    for scheduler in SchedulerSpec::examples() {
        as_chosen(&spec(|spec| spec.scheduler = scheduler));
    }
}

/// Fewer acknowledgements come, in larger frames or none: how much room a packet has is known all the same.
#[test]
fn what_leaves_is_what_the_scheduler_chose_at_any_frequency_of_acknowledgements() {
    for threshold in [0, 9, 99] {
        as_chosen(&spec(|spec| spec.ack_eliciting_threshold = Whole::nearest(threshold)));
    }
}

fn as_chosen(spec: &QuicSpec) {
    let kind = format!("{}, {:?}", spec.scheduler.kind(), spec.ack_eliciting_threshold);
    for load in [busy, backlogged] {
        let pipe = load(spec);
        let (packets, agree) = agreement(&pipe);
        assert!(packets > 8_000 && pipe.dropped[SENDER] > 5, "{kind}: {packets} packets");
        assert!(agree * 1_000 >= packets * 999, "{kind}: {agree} of {packets} as chosen");
    }
}

/// How many packets without retransmissions left, and how many of them carry what the scheduler chose.
fn agreement(pipe: &Pipe<NoqEndpoint>) -> (u64, u64) {
    let choices = &pipe.ends[SENDER].sender().unwrap().choices;
    let (mut packets, mut agree, mut last) = (0, 0, 0);
    let mut sent = [0; 2];
    for packet in data(pipe) {
        let repeats = packet.frames.iter().any(|(id, offset, ..)| *offset < sent[*id as usize]);
        for (id, offset, len, _) in &packet.frames {
            sent[*id as usize] = sent[*id as usize].max(offset + len);
        }
        if repeats {
            continue;
        }
        let mut held: Vec<_> = packet.frames.iter().map(|(id, _, len, _)| (*id, *len)).collect();
        held.sort_unstable();
        // The stack leaves out some numbers (RFC 9000 section 21.4).
        let number = packet.number.unwrap();
        let chosen = choices.range(last..=number).next_back().map(|(_, shares)| shares);
        last = number + 1;
        packets += 1;
        agree += u64::from(chosen.is_some_and(|chosen| is_what_was_chosen(&held, chosen)));
    }
    (packets, agree)
}

/// Whether every stream got the bytes chosen, but for one at most that got the rest of the packet: beside an
/// acknowledgement, up to 32 bytes more than could be promised.
fn is_what_was_chosen(held: &[(u64, u64)], chosen: &[(u64, u64)]) -> bool {
    let mut chosen = chosen.to_vec();
    chosen.sort_unstable();
    let differ: Vec<_> = held.iter().zip(&chosen).filter(|(held, chosen)| held != chosen).collect();
    let is_rest = |((held, got), (stream, want)): &(&(u64, u64), &(u64, u64))| {
        held == stream && (*want..=want + 32).contains(got)
    };
    held.len() == chosen.len() && differ.len() <= 1 && differ.iter().all(is_rest)
}

/// Two streams, of which the first sends twice as much as the second, over 45 Mbit/s with a short queue: near its
/// rate, with losses.
fn busy(spec: &QuicSpec) -> Pipe<NoqEndpoint> {
    let mut pipe = lossy(spec);
    let mut rng = RngTree::new(2).child("arrivals").rng();
    let mut written = 0;
    for round in 1..=2_000 {
        for (stream, messages) in [(0, 4.0), (1, 2.0)] {
            let count = rng.poisson(messages);
            (0..count).for_each(|_| pipe.write(stream, 1_000));
            written += count * 1_000;
        }
        pipe.run(ms(100 + round), |_| false);
    }
    pipe.deliver(written);
    pipe
}

/// Two streams that have all to send from the start, over the same path.
fn backlogged(spec: &QuicSpec) -> Pipe<NoqEndpoint> {
    let mut pipe = lossy(spec);
    (0..2).for_each(|stream| pipe.write(stream, 7_000_000));
    pipe.deliver(14_000_000);
    pipe
}

/// Two streams over 45 Mbit/s, of which 0.2 % of the packets are lost.
fn lossy(spec: &QuicSpec) -> Pipe<NoqEndpoint> {
    let mut pipe = connect(spec, 2, Role::Client);
    pipe.rate = BitRate::from_bps(45_000_000);
    let mut loss = RngTree::new(2).child("loss").rng();
    pipe.fate = Box::new(move |end, _, _| {
        (end == RECEIVER || loss.unit() > 0.002).then_some(SimDuration::ZERO)
    });
    pipe
}
