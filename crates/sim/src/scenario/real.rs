//! Time of a run: whether a clock drives it, and how far it may deviate from that clock.

use leobench_base::SimDuration;
use leobench_base::spec::Range;

leobench_base::words! {
    /// The driver of a run.
    pub enum Engine {
        /// The next event sets the time; all transports are leobench's own.
        Virtual = "virtual",
        /// A clock: flows use sockets of hosts, and TCP is the kernel's.
        Real = "real",
    }
}

leobench_base::spec! {
    /// How a run in real time follows the clock, and when its times can be trusted.
    #[derive(Copy)]
    pub struct RealSpec {
        /// Maximum lateness of 99 in 100 packets; if it is exceeded, the run is invalid.
        pub lateness: SimDuration = Self::DEFAULT.lateness,
        /// Longest stall of the driver; a longer one makes the run invalid.
        pub stall: SimDuration = Self::DEFAULT.stall,
        /// Maximum share of time in which the processors are busy while programs of `leobench emulate` need them; more
        /// makes the run invalid.
        pub busy: f64 [Range::from(0.0).to(1.0)] = Self::DEFAULT.busy,
        /// Maximum share of any tenth of a second for which a program of `leobench emulate` waits for a processor; more makes
        /// the run invalid.
        pub waited: f64 [Range::from(0.0).to(1.0)] = Self::DEFAULT.waited,
        /// Time before each event in which the driver spins instead of sleeping: a longer time is more punctual and
        /// takes more of a processor.
        pub spin: SimDuration = Self::DEFAULT.spin,
        /// Head start of the other programs of `leobench emulate` over the main one.
        pub settle: SimDuration = Self::DEFAULT.settle,
    }
}

impl RealSpec {
    /// Defaults of the keys.
    pub const DEFAULT: Self = Self {
        lateness: SimDuration::from_millis(1),
        stall: SimDuration::from_millis(20),
        busy: 0.95,
        waited: 0.25,
        spin: SimDuration::from_micros(50),
        settle: SimDuration::from_millis(300),
    };
}
