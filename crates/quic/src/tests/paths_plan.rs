//! The plan of a meeting with `noq-proto` over several paths.

use leobench_base::{RngTree, SimRng};

use crate::spec::AckPath;

/// A plan.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) own_is_client: bool,
    pub(super) own_sends: bool,
    pub(super) paths: usize,
    pub(super) bytes: u64,
    pub(super) ack: AckPath,
    pub(super) scheduler: usize,
    /// Of a thousand datagrams, how many are lost, and how many are late by up to 30 ms.
    pub(super) lost: u64,
    pub(super) late: u64,
    /// The delay of each way, in milliseconds.
    pub(super) delays: Vec<u64>,
    /// When the client abandons its paths, one after the other, but for the last one to be left.
    pub(super) abandons: Option<Vec<u64>>,
    /// Whether there is one path, and the server prefers another address.
    pub(super) prefers: bool,
}

impl Plan {
    pub(super) fn random(seed: u64) -> Self {
        let mut rng = RngTree::new(seed).child("plan").rng();
        let paths = 2 + rng.below(2) as usize;
        let abandons = |rng: &mut SimRng| {
            let mut order: Vec<_> = (0..paths as u64).collect();
            order.rotate_left(rng.below(paths as u64) as usize);
            order.pop();
            order
        };
        Self {
            seed,
            own_is_client: rng.below(2) == 0,
            own_sends: rng.below(2) == 0,
            paths,
            bytes: 100_000 + rng.below(1_500_000),
            ack: [AckPath::SamePath, AckPath::Fastest, AckPath::RoundRobin][rng.below(3) as usize],
            scheduler: rng.below(2) as usize,
            lost: rng.below(2) * rng.below(60),
            late: rng.below(2) * rng.below(200),
            delays: (0..paths).map(|_| 5 + rng.below(60)).collect(),
            abandons: (rng.below(2) == 0).then(|| abandons(&mut rng)),
            prefers: false,
        }
    }
}

/// A plan without trouble.
pub(super) fn plain(own_is_client: bool, own_sends: bool, paths: usize) -> Plan {
    Plan {
        seed: 1,
        own_is_client,
        own_sends,
        paths,
        bytes: 3_000_000,
        ack: AckPath::SamePath,
        scheduler: 0,
        lost: 0,
        late: 0,
        delays: vec![20; paths],
        abandons: None,
        prefers: false,
    }
}
