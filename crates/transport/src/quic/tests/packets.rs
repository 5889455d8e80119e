//! What is in the packets when several streams share them.

use super::*;

/// The packets that carry stream data.
fn data(pipe: &Pipe) -> impl Iterator<Item = &Passed> {
    pipe.passed[SENDER].iter().filter(|packet| packet.frames.iter().any(|(_, _, len, _)| *len > 0))
}

#[test]
fn round_robin_gives_each_packet_to_the_next_stream_and_fills_it() {
    // Slow start without a bottleneck passes 128 and 32,768 packets in flight, where packet numbers grow a byte
    // (RFC 9000 section 17.1), and the offsets pass 2^14, where theirs do.
    const STREAMS: u64 = 3;
    let mut pipe = Pipe::new(&spec(|_| ()), STREAMS as usize, Role::Client);
    (0..STREAMS as usize).for_each(|stream| pipe.write(stream, 50_000_000));
    pipe.deliver(150_000_000);
    let (mut packets, mut short, mut mixed, mut astray) = (0, 0, 0, 0);
    let mut next = 0;
    for packet in data(&pipe).filter(|packet| packet.backlog > 10_000) {
        packets += 1;
        short += u64::from(packet.size < 1_252);
        mixed += u64::from(packet.frames.len() > 1);
        // The rest of an earlier choice may go first: acknowledgements had taken its place.
        let (stream, ..) = packet.frames[packet.frames.len() - 1];
        astray += u64::from(stream != next);
        next = (stream + 1) % STREAMS;
    }
    assert!(packets > 120_000, "{packets} packets");
    assert!(short + astray <= 2, "{short} short, {astray} out of turn of {packets}");
    assert!(
        mixed < packets / 30,
        "{mixed} of {packets} packets carry the rest of an earlier choice"
    );
}

#[test]
fn small_messages_of_many_streams_share_a_packet() {
    let mut pipe = Pipe::new(&spec(|_| ()), 40, Role::Client);
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
