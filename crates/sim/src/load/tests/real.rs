use super::*;
use crate::scenario::Engine;

const TRANSPORT: &str = "transport = \"quic\"";

/// `BASE` for real time, with this transport.
fn real(transport: &str) -> String {
    format!("engine = \"real\"\n{}", changed(TRANSPORT, &format!("transport = {transport}")))
}

#[test]
fn what_real_time_runs() {
    for transport in [
        "\"quic\"",
        "\"udp\"",
        "\"tcp\"",
        "{ kind = \"tcp\", congestion = \"newreno\", ecn = true, sack = false, timestamps = false, nagle = false }",
        "{ kind = \"tcp\", congestion = { kind = \"cubic\", slow_start = \"hystart\", full_reno_slope = false }, pacing = true, mss = \"1200 B\" }",
        "{ kind = \"tcp\", receive_buffer = \"1 MB\", send_buffer = \"unlimited\", notsent_lowat = \"16 kB\" }",
    ] {
        let scenario = load_text(&real(transport), &[]).unwrap();
        assert_eq!(scenario.spec.engine, Engine::Real);
    }
}

#[test]
fn what_only_virtual_time_runs_is_refused_by_key() {
    let kernel = "cannot be set for the kernel's TCP in real time";
    for (transport, expected) in [
        ("{ kind = \"tcp\", tls = true }", format!("tls = true: {kernel}; allowed: false")),
        ("{ kind = \"tcp\", ack_every = 3 }", format!("ack_every = 3: {kernel}; allowed: 2")),
        (
            "{ kind = \"tcp\", delayed_ack = \"10 ms\" }",
            format!("delayed_ack = \"10 ms\": {kernel}; allowed: \"40 ms\""),
        ),
        (
            "{ kind = \"tcp\", congestion = { kind = \"cubic\", beta = 0.5 } }",
            format!("congestion.beta = 0.5: {kernel}; allowed: 0.7"),
        ),
        (
            "{ kind = \"tcp\", congestion = { kind = \"newreno\", slow_start = \"hystart\" } }",
            format!("congestion.slow_start = \"hystart\": {kernel}; allowed: \"standard\""),
        ),
        (
            "{ kind = \"tcp\", congestion = { kind = \"newreno\", initial_window = 4 } }",
            format!("congestion.initial_window = 4: {kernel}; allowed: no such key"),
        ),
        (
            "{ kind = \"tcp\", mss = \"1449 B\" }",
            "mss = \"1449 B\": is too large for the TUN devices of hosts; allowed: up to 1.448 kB in real \
             time".to_owned(),
        ),
        (
            "{ kind = \"quic\", payload = \"1473 B\" }",
            "payload = \"1473 B\": is too large for the TUN devices of hosts; allowed: up to 1.472 kB in real \
             time".to_owned(),
        ),
        (
            "{ kind = \"quic\", stack = \"noq\" }",
            "stack = \"noq\": works in virtual time only; allowed: `own`".to_owned(),
        ),
    ] {
        let expected = format!("t.toml: flows.main.transport.{expected}");
        let jumbo = ("links.wire.mtu", "9000 B");
        assert_eq!(load_text(&real(transport), &[jumbo]).unwrap_err(), expected);
        load_text(&real(transport), &[jumbo, ("engine", "virtual")]).unwrap();
    }
}

#[test]
fn a_new_connection_and_too_many_hosts_are_refused() {
    let text = format!("{}reconnect = {{ after = \"1 s\" }}\n", real("\"tcp\""));
    assert_eq!(
        load_text(&text, &[]).unwrap_err(),
        "t.toml: flows.main.reconnect = { after = \"1 s\" }: works in virtual time only; allowed: no `reconnect`"
    );
    let nodes: Vec<_> = (0..199).map(|number| format!("[nodes.n{number}]\n")).collect();
    let error = load_text(&format!("{}{}", real("\"tcp\""), nodes.concat()), &[]).unwrap_err();
    assert!(error.ends_with("are too many for real time; allowed: up to 200"), "{error}");
}

#[test]
fn the_kernel_is_told_no_forecasts() {
    let van = include_str!("../../../../../scenarios/emergency.toml");
    let load = |transport, engine| {
        let transport = ("flows.upload.transport", transport);
        load_text(van, &[transport, ("flows.upload.forecast", "{}"), ("engine", engine)])
    };
    load("tcp", "virtual").unwrap();
    load("quic", "real").unwrap();
    assert_eq!(
        load("tcp", "real").unwrap_err(),
        "t.toml: flows.upload.forecast = {}: cannot be passed to the kernel's TCP; allowed: no `forecast`, or the \
         transport `quic`, in real time"
    );
}

#[test]
fn hosts_have_one_setting_for_all_their_connections() {
    let other = "[flows.other]\ntransport = { kind = \"tcp\", sack = false }\nfrom = \"server\"\nto = \"client\"\n\
                 source = { kind = \"cbr\", rate = \"1 Mbps\", size = \"1000 B\" }\n";
    assert_eq!(
        load_text(&format!("{}{other}", real("\"tcp\"")), &[]).unwrap_err(),
        "t.toml: flows.other.transport.sack = false: differs from the value of another TCP flow; allowed: true for all \
         flows in real time"
    );
}

#[test]
fn the_budget_of_the_clock() {
    let real = |spec: &str| load_text(&format!("real = {spec}\n{BASE}"), &[]);
    let spec = real("{ lateness = \"3 ms\", spin = \"0 s\" }").unwrap().spec.real;
    assert_eq!((spec.lateness.as_nanos(), spec.stall.as_nanos()), (3_000_000, 20_000_000));
    let error = real("{ latness = \"3 ms\" }").unwrap_err();
    assert!(error.contains("did you mean `lateness`?"), "{error}");
}
