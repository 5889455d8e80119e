//! Links that no packet of any flow can ever take: they lead to nodes behind which nobody is. Nothing is recorded of them.

use leobench_base::{DirectionId, NodeId};
use typed_index_collections::{TiSlice, TiVec};

/// By direction of a link, whether it lies on no way between two of the nodes that are `used`, given the nodes at both ends of each.
pub(in crate::network) fn idle_directions(
    used: &TiSlice<NodeId, bool>,
    directions: &TiSlice<DirectionId, [NodeId; 2]>,
) -> TiVec<DirectionId, bool> {
    let mut neighbours: TiVec<NodeId, Vec<NodeId>> = used.iter().map(|_| Vec::new()).collect();
    for [from, to] in directions {
        neighbours[*from].push(*to);
    }
    for nodes in &mut neighbours {
        nodes.sort_unstable();
        nodes.dedup();
    }
    let mut alive: TiVec<NodeId, bool> = used.iter().map(|_| true).collect();
    let mut degrees: TiVec<NodeId, usize> = neighbours.iter().map(Vec::len).collect();
    let is_end = |node: NodeId, degree: usize| !used[node] && degree <= 1;
    let mut ends: Vec<_> = used.keys().filter(|node| is_end(*node, degrees[*node])).collect();
    while let Some(end) = ends.pop() {
        if !std::mem::take(&mut alive[end]) {
            continue;
        }
        for node in &neighbours[end] {
            degrees[*node] = degrees[*node].saturating_sub(1);
            if alive[*node] && is_end(*node, degrees[*node]) {
                ends.push(*node);
            }
        }
    }
    // A ring without anybody is left, unless it is looked for from where somebody is.
    let mut reached: TiVec<NodeId, bool> = used.to_vec();
    let mut next: Vec<_> = used.keys().filter(|node| used[*node]).collect();
    while let Some(node) = next.pop() {
        for other in neighbours[node].iter().filter(|other| alive[**other]) {
            if !std::mem::replace(&mut reached[*other], true) {
                next.push(*other);
            }
        }
    }
    directions.iter().map(|ends| !ends.iter().all(|node| alive[*node] && reached[*node])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes as letters, those with somebody on them in capitals; links as pairs of letters. Returns those that are idle.
    fn idle(nodes: &str, links: &str) -> String {
        let used: TiVec<NodeId, bool> = nodes.chars().map(char::is_uppercase).collect();
        let place = |node: char| NodeId::from(nodes.find(node).unwrap());
        let ends = |pair: &str| {
            let [from, to] = [0, 1].map(|at| place(pair.chars().nth(at).unwrap()));
            [[from, to], [to, from]]
        };
        let both: TiVec<DirectionId, _> = links.split(' ').flat_map(ends).collect();
        let idle = idle_directions(&used, &both);
        let names = links.split(' ').zip(idle.raw.chunks(2));
        names
            .filter(|(_, idle)| idle[0] && idle[1])
            .map(|(name, _)| name)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn links_to_nobody_are_idle() {
        assert_eq!(idle("AB", "AB AB"), "");
        assert_eq!(idle("ABcd", "AB Bc cd"), "Bc cd", "a dead end of two links");
        assert_eq!(idle("ABcd", "AB cd cd"), "cd cd", "links beside each other, apart from all");
        assert_eq!(idle("ABc", "AB Ac cB"), "", "a detour is a way");
        assert_eq!(idle("ABcde", "AB cd de ec"), "cd de ec", "a ring that nobody is on");
        assert_eq!(idle("aBc", "aB Bc"), "aB Bc", "one node alone");
    }
}
