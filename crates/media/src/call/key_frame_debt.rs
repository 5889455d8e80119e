//! The bits of key frames beyond the target, which the frames after them pay back.

/// The buffer of libvpx's rate control at the target, as libwebrtc sets it, and the share of it up to which frames shrink
/// (`rc_buf_optimal_sz`, `rc_undershoot_pct` of VP9).
const BUFFER_S: f64 = 0.6;
const UNDERSHOOT: f64 = 0.5;

/// By how many bits frames have exceeded the target.
#[derive(Debug, Default)]
pub(super) struct KeyFrameDebt {
    bits: f64,
}

impl KeyFrameDebt {
    /// Takes bits that nothing has paid for.
    pub fn add(&mut self, bits: f64) {
        self.bits += bits;
    }

    /// The bits by which a frame is smaller, given its bits without a debt, at a rate in bit/s: half of the share that the debt has
    /// of the buffer, as in libvpx.
    pub fn repay(&mut self, frame: f64, rate: f64) -> f64 {
        if rate <= 0.0 {
            return 0.0;
        }
        let share = (self.bits / (BUFFER_S * rate)).min(UNDERSHOOT) / 2.0;
        let paid = (share * frame).min(self.bits);
        self.bits -= paid;
        paid
    }
}
