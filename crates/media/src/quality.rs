//! One number for a session: what a viewer gets, less what annoys.

/// Weight of a change of the bitrate beside the bitrate itself.
pub const SWITCH_WEIGHT: f64 = 1.0;

/// Quality of experience in bit/s per segment, after Yin et al. 2015 ("A control-theoretic approach for dynamic adaptive video
/// streaming over HTTP", equation 5) with the identity as the quality of a bitrate: the mean bitrate, less its mean change
/// between segments, less the highest bitrate for each second of start-up and stalls, by segment.
///
/// `bitrates` and `highest` are in bit/s, `waited_s` is start-up and stalls. None without a segment.
pub fn quality(bitrates: &[f64], highest: f64, waited_s: f64) -> Option<f64> {
    if bitrates.is_empty() {
        return None;
    }
    let got: f64 = bitrates.iter().sum();
    let changed: f64 = bitrates.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    let worth = got - SWITCH_WEIGHT * changed - highest * waited_s;
    Some(worth / bitrates.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::quality;

    #[test]
    fn switches_and_stalls_cost() {
        assert_eq!(quality(&[1e6, 3e6, 3e6, 1e6], 3e6, 1.0), Some(1e6 * (8.0 - 4.0 - 3.0) / 4.0));
        assert_eq!(quality(&[], 3e6, 1.0), None);
    }
}
