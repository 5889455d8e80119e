//! Time of a run: whether a clock drives it, and how far it may deviate from that clock.

use leobench_base::SimDuration;
use leobench_base::spec::Range;

leobench_base::words! {
    /// The driver of a run.
    pub enum Engine {
        /// The next event sets the time; all transports are leobench's own.
        Virtual = "virtual",
        /// A clock: flows go over sockets of hosts, TCP is that of the kernel.
        Real = "real",
    }
}

leobench_base::spec! {
    /// How a run in real time follows the clock, and when its times can be trusted.
    #[derive(Copy)]
    pub struct RealSpec {
        /// Time by which one packet in 100 may leave late; later ones make the run invalid.
        pub lateness: SimDuration = Self::DEFAULT.lateness,
        /// Time for which the driver may stand still; a longer one makes the run invalid.
        pub stall: SimDuration = Self::DEFAULT.stall,
        /// Share of their time for which the processors may be at work while programs of `leobench emulate` need them; more
        /// makes the run invalid.
        pub busy: f64 [Range::from(0.0).to(1.0)] = Self::DEFAULT.busy,
        /// Time before something is due in which the driver does not sleep: more is more punctual, and takes more of a
        /// processor.
        pub spin: SimDuration = Self::DEFAULT.spin,
        /// Time that the other programs of `leobench emulate` have before the main one starts.
        pub settle: SimDuration = Self::DEFAULT.settle,
    }
}

impl RealSpec {
    /// Defaults of the keys.
    pub const DEFAULT: Self = Self {
        lateness: SimDuration::from_millis(1),
        stall: SimDuration::from_millis(20),
        busy: 0.95,
        spin: SimDuration::from_micros(50),
        settle: SimDuration::from_millis(300),
    };
}
