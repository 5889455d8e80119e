//! The bytes of streams: a pattern, so that a stack that loses, repeats or swaps some is found out.

use std::sync::LazyLock;

use leobench_base::mix;

/// The longest piece that is written or read at once.
pub(crate) const LONGEST: u64 = 65_536;
/// The length of the pattern: a prime, so that it repeats at no offset that a stack is likely to confuse.
const PERIOD: u64 = 65_521;

static PATTERN: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..PERIOD + LONGEST).map(|offset| mix(offset % PERIOD) as u8).collect());

/// The bytes of every stream from an offset on, [`LONGEST`] at most.
pub(crate) fn at(offset: u64, length: u64) -> &'static [u8] {
    let start = (offset % PERIOD) as usize;
    &PATTERN[start..start + length as usize]
}

/// The offset of the first byte of a piece that is not what a stream has from `offset` on.
pub(crate) fn first_wrong(offset: u64, piece: &[u8]) -> Option<u64> {
    let expected = at(offset, piece.len() as u64);
    if expected == piece {
        return None;
    }
    let wrong = expected.iter().zip(piece).position(|(expected, read)| expected != read)?;
    Some(offset + wrong as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte in place of another, and a piece in place of a later one, are found at their offsets.
    #[test]
    fn a_piece_that_is_not_in_place_is_found() {
        let offset = 3 * PERIOD - 100;
        let mut piece = at(offset, 1_000).to_vec();
        assert_eq!(piece[..100], at(PERIOD - 100, 100)[..], "it goes around");
        assert_eq!(first_wrong(offset, &piece), None);
        assert_eq!(first_wrong(offset + 1_200, &piece), Some(offset + 1_200));
        piece[700] ^= 1;
        assert_eq!(first_wrong(offset, &piece), Some(offset + 700));
        assert_eq!(first_wrong(offset, &piece[..700]), None);
    }
}
