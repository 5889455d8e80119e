//! The window that BBR returns to after recovery or `ProbeRTT`.

/// The window in bytes before recovery or `ProbeRTT` cut it (`prior_cwnd`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PriorWindow(u64);

impl PriorWindow {
    /// `BBRSaveCwnd`: a window that is about to be cut. One that is cut already does not replace a larger one.
    pub fn save(&mut self, window: u64, is_cut: bool) {
        self.0 = if is_cut { self.0.max(window) } else { window };
    }

    /// `BBRRestoreCwnd`: the window without the cut.
    pub fn restore(self, window: u64) -> u64 {
        window.max(self.0)
    }
}
