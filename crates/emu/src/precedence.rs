//! Precedence of leobench's threads over other programs.

/// How the kernel schedules a thread beside other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// It goes on at once when something is due (`SCHED_FIFO`), which needs a privilege.
    RealTime,
    /// It gets a larger share of the processor (a nice value of -20), which needs a privilege too.
    Raised,
    /// As other programs.
    #[default]
    Usual,
}

/// A thread of leobench: of two that are ready, the one with the larger number goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// The one that watches the programs.
    Watch = 1,
    /// The driver, and those that write for it.
    Driver = 2,
}

impl Precedence {
    /// The word for it in the results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::Raised => "raised",
            Self::Usual => "usual",
        }
    }

    /// Lets this thread go before other programs, those on its own hosts too: whenever something is due, it goes on at once.
    /// Others would be left some milliseconds on a busy machine, however nice they are. It sleeps most of the time, and the kernel
    /// keeps 5 % of the processor for the others by default (`sched_rt_runtime_us`).
    pub(crate) fn take(rank: Rank) -> Self {
        let parameters = libc::sched_param { sched_priority: rank as i32 };
        let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
        #[expect(unsafe_code, reason = "no library sets it; the pointer is to a value that lives")]
        let result = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
        if result == 0 {
            return Self::RealTime;
        }
        // Where this is not allowed either, the programs compete with the driver, which the lateness shows.
        let raised = rustix::process::setpriority_process(None, -20);
        if raised.is_ok() { Self::Raised } else { Self::Usual }
    }
}
