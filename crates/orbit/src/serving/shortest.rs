//! Each packet goes up to the satellite of the shortest way, as if the terminal could use all satellites in its sky at once.

use leobench_base::spec::Fault;

use super::{PolicyContext, PolicyModel, ServingPolicy};

leobench_base::spec! {
    /// For each packet the satellite of the shortest way, with queues of hops only.
    ///
    /// Packets come down from any satellite in the sky. For terminals with several beams, and ground stations as Hypatia has them.
    pub struct ShortestSpec: Default {}
}

impl PolicyModel for ShortestSpec {
    fn build(&self, _context: PolicyContext) -> Result<Box<dyn ServingPolicy>, Fault> {
        let problem = "`shortest` needs routes hop by hop";
        let allowed = "`isl.rate`, `ground` or the `backhaul` of a gateway, or another policy";
        Err(Fault::new("policy", problem, allowed))
    }

    fn is_free(&self) -> bool {
        true
    }
}
