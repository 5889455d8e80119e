//! Pages over HTTP/1.1 against arithmetic: rounds of requests on several connections, and what a lost segment holds up.

use leobench_sim::Outcome;

use crate::http2::{arrivals, assert_close, page, page_of};

/// A link on which bytes take no time: a round trip takes 100 ms.
const FAT: &str = "rate = \"1000 Gbps\"\ndelay = \"50 ms\"";
const ROUND: f64 = 100_000.0;

/// A page of `objects` over up to `connections`.
fn pooled(link: &str, tls: bool, connections: usize, objects: &str) -> Outcome {
    let transport = format!("{{ kind = \"tcp\", tls = {tls} }}");
    let objects = format!("{objects}\nhttp = \"1.1\"\nconnections = {connections}");
    page(link, &transport, &objects)
}

/// Arrivals in whole rounds; bytes must take less than a thousandth of one.
fn rounds(outcome: &Outcome) -> Vec<f64> {
    let rounds = arrivals(outcome).into_iter().map(|micros| micros / ROUND);
    let whole = |rounds: f64| {
        assert!((rounds - rounds.round()).abs() < 1e-3, "{rounds} rounds");
        rounds.round()
    };
    rounds.map(whole).collect()
}

/// A handshake, that of TLS, and a round for every object of a connection: `connections` arrive in each.
#[test]
fn objects_arrive_in_rounds() {
    for (count, connections) in [(1, 6), (5, 6), (6, 6), (7, 6), (13, 6), (13, 2), (5, 1), (70, 64)]
    {
        for tls in [false, true] {
            let objects = format!(r#"[{{ name = "o", size = "1 kB", count = {count} }}]"#);
            let outcome = pooled(FAT, tls, connections, &objects);
            let before = 1 + usize::from(tls);
            let expected = (0..count).map(|object| (before + 1 + object / connections) as f64);
            let found = rounds(&outcome);
            assert_eq!(found, expected.collect::<Vec<_>>(), "{count} over {connections}, {tls}");
            let flow = &outcome.summary.flows[0];
            assert_eq!(flow.paths.len(), count.min(connections));
            let sent: u64 = flow.paths.iter().map(|path| path.sent_packets).sum();
            assert_eq!(flow.sent_packets, sent);
            assert_eq!((flow.reinjected_bytes, flow.lost_packets), (None, 0));
        }
    }
}

/// The page needs 13 objects when its first has arrived. The connection that is there takes one in each round; five others take
/// one each as soon as their handshakes are complete.
#[test]
fn connections_open_when_requests_wait() {
    let objects = r#"[{ name = "html", size = "1 kB" }, { name = "o", size = "1 kB", count = 13, after = ["html"] }]"#;
    for tls in [false, true] {
        let handshakes = 1 + usize::from(tls);
        let start = handshakes + 1;
        let mut expected = vec![start];
        for round in 1.. {
            let arriving = if round > handshakes { 6 } else { 1 };
            expected.extend(std::iter::repeat_n(start + round, arriving));
            if expected.len() >= 14 {
                break;
            }
        }
        expected.truncate(14);
        let expected: Vec<_> = expected.into_iter().map(|round| round as f64).collect();
        assert_eq!(rounds(&pooled(FAT, tls, 6, objects)), expected);
    }
}

/// Six objects in two full segments each, on a connection each. The server acknowledges each request, and answers; the link
/// never idles.
#[test]
fn a_lost_segment_delays_the_object_of_its_connection() {
    const OBJECTS: &str = r#"[{ name = "o", size = "2896 B", count = 6 }]"#;
    // At 8 Mbit/s a byte takes a microsecond. SYN and SYN-ACK of 60 bytes, an acknowledgement of 52 and a request of 452.
    let asked = 150_000 + 60 + 60 + 52 + 452;
    let answer = 52 + 2 * 1_500;
    let on_link = |steps: &str| {
        let channel =
            format!("kind = \"schedule\", steps = [{{ at = \"0 s\", rate = \"8 Mbps\" }}{steps}]");
        pooled(&format!("delay = \"50 ms\"\nchannel = {{ {channel} }}"), false, 6, OBJECTS)
    };
    let clean = arrivals(&on_link(""));
    let expected = (1..=6).map(|object| f64::from(asked + object * answer + 50_000));
    assert_close(&clean, &expected.collect::<Vec<_>>());
    for segment in 0..12 {
        let object = segment / 2;
        let end = asked + object * answer + 52 + 1_500 * (1 + segment % 2);
        let loss = |at, probability| format!(", {{ at = \"{at} us\", loss = {probability} }}");
        let outcome = on_link(&(loss(end - 700, "1.0") + &loss(end + 20, "0.0")));
        let delays = arrivals(&outcome).into_iter().zip(&clean).map(|(lossy, clean)| lossy - clean);
        for (number, delay) in (0..).zip(delays) {
            let delayed = number == object;
            assert!(
                if delayed { delay > 50_000.0 } else { delay.abs() < 1e-3 },
                "segment {segment} delays object {number} by {delay} µs"
            );
        }
        let flow = &outcome.summary.flows[0];
        let repeated = flow.paths.iter().map(|path| path.retransmitted_packets);
        let expected = (0..6).map(|number| u64::from(number == object));
        assert!(repeated.eq(expected), "segment {segment}: {:?}", flow.paths);
    }
}

/// A single connection carries objects as if each were requested when the one before has arrived.
#[test]
fn one_connection_takes_objects_in_sequence() {
    let link = "rate = \"8 Mbps\"\ndelay = \"20 ms\"";
    let together = pooled(link, true, 1, r#"[{ name = "o", size = "40 kB", count = 5 }]"#);
    let chain = |number| {
        let after = if number == 1 { String::new() } else { format!("\"o{}\"", number - 1) };
        format!("{{ name = \"o{number}\", size = \"40 kB\", after = [{after}] }}")
    };
    let chain = (1..=5).map(chain).collect::<Vec<_>>().join(", ");
    let sequence = pooled(link, true, 6, &format!("[{chain}]"));
    assert_close(&arrivals(&together), &arrivals(&sequence));
    let counts = |outcome: &Outcome| {
        let flow = &outcome.summary.flows[0];
        (flow.sent_packets, flow.paths.len(), page_of(outcome).first_byte_s)
    };
    assert_eq!(counts(&together), counts(&sequence));
}

/// A page that keeps all connections busy takes as long as its bytes: windows of their own open side by side.
#[test]
fn connections_share_the_link() {
    let objects = r#"[{ name = "o", size = "500 kB", count = 12 }]"#;
    let outcome = pooled("rate = \"8 Mbps\"\ndelay = \"5 ms\"", false, 6, objects);
    let found = page_of(&outcome).completion_s.unwrap();
    // 6 MB in segments of 1,448 bytes behind 52 of headers, after two round trips.
    let most_efficient = 6e6 / 1_448.0 * 1_500.0 / 1e6 + 0.02;
    assert!((most_efficient..1.05 * most_efficient).contains(&found), "{found} s");
}
