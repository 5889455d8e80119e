//! Links that lead through a constellation.

use leobench_base::spec::{Fault, Whole};
use leobench_budget::{BudgetSpec, CellSpec, FadingSpec};
use leobench_orbit::PolicySpec;

leobench_base::words! {
    /// One of the two routes between a pair of ends that share no laser.
    pub enum RouteChoice {
        /// The one of the lesser delay.
        First = "first",
        /// The other one.
        Second = "second",
    }
}

leobench_base::spec! {
    /// The route of a link from a terminal via its serving satellite to a gateway.
    ///
    /// The first node of the link's `between` is at the terminal, the second behind the gateway. Both directions have
    /// the delay of the route, in addition to the link's own; their rates are the link's `rate`, or those of budgets.
    ///
    /// With the channel `starlink`, a fit limits rates further, and adds loss, outages and the delay above its floor.
    pub struct PassageSpec check = PassageSpec::check {
        /// Name of the terminal.
        pub terminal: String,
        /// Names of the gateways; by default all of the constellation.
        pub gateways: Option<Vec<String>>,
        /// Policy of this link; by default that of the constellation.
        pub policy: Option<PolicySpec>,
        /// Which of the two disjoint routes between the terminal and the gateways the link takes, with the routing `disjoint`; the first
        /// unless given.
        pub route: Option<RouteChoice>,
        /// Budget of the radio link from the terminal to the satellite, for the rate in the direction `forward`.
        pub uplink: Option<BudgetSpec>,
        /// Budget of the radio link from the satellite to the terminal, for the rate in the direction `backward`.
        pub downlink: Option<BudgetSpec>,
        /// Random gain over both budgets.
        pub fading: Option<FadingSpec>,
        /// A cell whose capacity limits the rate of the downlink.
        pub cell: Option<CellSpec>,
        /// Subflow of a `chain`: 0 or 1.
        pub subflow: Option<Whole<0, 1>>,
    }
}

impl PassageSpec {
    fn check(&self) -> Result<(), Fault> {
        let budget = self.uplink.is_some() || self.downlink.is_some();
        if self.fading.is_some() && !budget {
            let allowed = "`fading` only with `uplink` or `downlink`";
            return Err(Fault::new("fading", "has no budget to act on", allowed));
        }
        if self.gateways.as_ref().is_some_and(Vec::is_empty) {
            return Err(Fault::new("gateways", "is empty", "at least one gateway, or no key"));
        }
        Ok(())
    }
}
