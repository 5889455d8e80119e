//! The QUIC stack `own` beside the reference, over links.

use crate::common::{one_link, run, scenario};
use leobench_sim::run::Outcome;

fn transfer(transport: &str, link: &str, seed: u64) -> Outcome {
    let head = "duration = \"20 s\"\nwarm_up = \"2 s\"\nrecord = { series = false }";
    let flow =
        format!("transport = {transport}\nsource = {{ kind = \"bulk\", size = \"100 GB\" }}");
    run(&scenario(&one_link(head, link, &flow)), seed)
}

fn ratio(own: f64, noq: f64) -> f64 {
    own / noq
}

/// The text of both specifications is the same, so a saturated link must not tell them apart by much; the bounds are those of
/// a single run.
#[test]
fn both_stacks_fill_a_link_alike() {
    let links = [
        "rate = \"45 Mbps\"\ndelay = \"20 ms\"\nqueue = { kind = \"fifo\", limit = \"200 packets\" }",
        "rate = \"45 Mbps\"\ndelay = \"20 ms\"\nqueue = { kind = \"fifo\", limit = \"15 packets\" }",
    ];
    for (link, congestion) in
        links.into_iter().flat_map(|link| ["newreno", "cubic", "bbr"].map(|name| (link, name)))
    {
        let flows = ["own", "noq"].map(|stack| {
            let transport = format!(
                "{{ kind = \"quic\", stack = \"{stack}\", congestion = \"{congestion}\" }}"
            );
            transfer(&transport, link, 1).summary.flows.swap_remove(0)
        });
        let goodput = ratio(flows[0].goodput_bps.unwrap(), flows[1].goodput_bps.unwrap());
        println!(
            "{congestion} {link:?}: goodput {goodput:.4}, losses {} and {}, timeouts {} and {}",
            flows[0].lost_packets, flows[1].lost_packets, flows[0].timeouts, flows[1].timeouts
        );
        assert!((0.97..1.03).contains(&goodput), "{congestion} over {link}: {goodput}");
        assert_eq!(flows[0].spurious_losses, 0, "{congestion} over {link}");
    }
}
