//! Changes of inputs: single bytes, pieces of other inputs, and frames whose fields have extreme values.

use leobench_base::SimRng;
use leobench_quic::wire::write_varint;

/// Longest input.
const LONGEST: usize = 1_500;

/// Values at which something changes: sizes of variable-length integers, numbers of streams, and small ones.
const VALUES: [u64; 16] = [
    0,
    1,
    2,
    3,
    5,
    7,
    63,
    64,
    1_000,
    16_383,
    16_384,
    (1 << 30) - 1,
    1 << 30,
    1 << 60,
    (1 << 60) + 1,
    (1 << 62) - 1,
];

/// Types of frames with how many variable-length integers follow (RFC 9000 section 19, draft-ietf-quic-multipath section 4).
const FRAMES: [(u64, u64); 43] = [
    (0x00, 0),
    (0x01, 0),
    (0x02, 4),
    (0x02, 6),
    (0x03, 7),
    (0x04, 3),
    (0x05, 2),
    (0x06, 2),
    (0x07, 1),
    (0x08, 1),
    (0x09, 1),
    (0x0a, 2),
    (0x0c, 2),
    (0x0e, 3),
    (0x0f, 3),
    (0x10, 1),
    (0x11, 2),
    (0x12, 1),
    (0x13, 1),
    (0x14, 1),
    (0x15, 2),
    (0x16, 1),
    (0x17, 1),
    (0x18, 3),
    (0x19, 1),
    (0x1a, 8),
    (0x1b, 8),
    (0x1c, 3),
    (0x1d, 2),
    (0x1e, 0),
    (0x1f, 0),
    (0x30, 0),
    (0xaf, 4),
    (0x3e, 5),
    (0x3f, 8),
    (0x3e75, 2),
    (0x3e76, 2),
    (0x3e77, 2),
    (0x3e78, 4),
    (0x3e79, 2),
    (0x3e7a, 1),
    (0x3e7b, 1),
    (0x3e7c, 2),
];

fn pick<'a, T>(from: &'a [T], rng: &mut SimRng) -> &'a T {
    &from[rng.below(from.len() as u64) as usize]
}

/// A place in `input`, its end included.
fn place(input: &[u8], rng: &mut SimRng) -> usize {
    rng.below(input.len() as u64 + 1) as usize
}

/// An input of the pool with up to eight changes.
pub(crate) fn mutated(pool: &[Vec<u8>], rng: &mut SimRng) -> Vec<u8> {
    let mut input = pick(pool, rng).clone();
    for _ in 0..=rng.below(8) {
        change(&mut input, pool, rng);
    }
    input.truncate(LONGEST);
    input
}

fn change(input: &mut Vec<u8>, pool: &[Vec<u8>], rng: &mut SimRng) {
    let at = place(input, rng);
    match rng.below(8) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = rng.bits() as u8;
            }
        }
        2 => {
            let end = (at + 1 + rng.below(16) as usize).min(input.len());
            input.drain(at..end);
        }
        3 => {
            let bytes: Vec<u8> = (0..=rng.below(12)).map(|_| rng.bits() as u8).collect();
            input.splice(at..at, bytes);
        }
        4 => {
            let mut value = Vec::new();
            write_varint(&mut value, *pick(&VALUES, rng));
            let end = (at + rng.below(3) as usize).min(input.len());
            input.splice(at..end, value);
        }
        5 => {
            let other = pick(pool, rng);
            let from = place(other, rng);
            let to = (from + rng.below(64) as usize).min(other.len());
            input.splice(at..at, other[from..to].iter().copied());
        }
        6 => input.truncate(at),
        _ => {
            let frame = frame(rng);
            input.splice(at..at, frame);
        }
    }
}

fn frame(rng: &mut SimRng) -> Vec<u8> {
    let (kind, fields) = *pick(&FRAMES, rng);
    let mut frame = Vec::new();
    write_varint(&mut frame, kind);
    for _ in 0..fields {
        let value =
            if rng.below(4) == 0 { rng.bits() >> (2 + rng.below(62)) } else { *pick(&VALUES, rng) };
        write_varint(&mut frame, value);
    }
    frame
}
