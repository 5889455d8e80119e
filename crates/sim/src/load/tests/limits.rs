use super::*;

/// `BASE` with another source, run as `run` says.
fn with(source: &str, run: &str) -> String {
    let base = changed(r#"source = { kind = "cbr", rate = "1 Mbps", size = "1000 B" }"#, source);
    base.replace("duration = \"10 s\"", run)
}

fn refusal(source: &str, run: &str) -> String {
    load_text(&with(source, run), &[]).unwrap_err()
}

const RUN: &str = "duration = \"10 s\"";

#[test]
fn messages_at_one_instant_that_do_not_fit_are_refused() {
    // 10 Mbit/s for 3.6e8 s are 4.5e11 messages of 1,000 bytes, of 144 bytes of memory each.
    let slot = r#"source = { kind = "poisson_batch", rate = "10 Mbps", size = "1000 B", slot = "100000 h" }"#;
    let said = refusal(slot, RUN);
    assert!(said.starts_with("t.toml: flows.main.source = {"), "{said}");
    assert!(said.contains("makes 4.5e11 messages at once"), "{said}");
    assert!(said.contains("more than `limits.memory`, 4 GB; allowed: a lower `rate`"), "{said}");
    let streams = format!("streams = [{{ {slot} }}]");
    assert!(refusal(&streams, RUN).contains("flows.main.streams[0].source = {"));
    let blocking = format!("{slot}\napplication = \"blocking\"");
    assert!(load_text(&with(&blocking, RUN), &[]).is_ok(), "what blocks waits with its source");
    let fits = slot.replace("100000 h", "1 h");
    assert!(load_text(&with(&fits, RUN), &[]).is_ok());
    let roomy = &[("limits.memory", "100000 GB")];
    assert!(
        load_text(&with(slot, "duration = \"1 s\"\nrecord = { messages = false }"), roomy).is_ok()
    );
}

#[test]
fn tables_that_are_sure_not_to_fit_are_refused() {
    let many = r#"source = { kind = "cbr", rate = "9000 Gbps", size = "1 B" }"#;
    let said = refusal(many, RUN);
    // 1.125e12 messages a second, 64 bytes a row.
    assert!(said.contains("flows.main.source = {"), "{said}");
    assert!(said.contains("produces 1.1e13 messages, whose rows take about 720 TB"), "{said}");
    assert!(said.contains("`record.messages = false`, or a larger `limits.tables`"), "{said}");
    assert!(load_text(&with(many, RUN), &[("record.messages", "false")]).is_ok());
    assert!(load_text(&with(many, RUN), &[("limits.tables", "1000000 GB")]).is_ok());

    let few = r#"source = { kind = "cbr", rate = "1 Mbps", size = "1000 B" }"#;
    let fine = "record = { interval = \"1 ns\" }";
    let said = refusal(few, &format!("{RUN}\n{fine}"));
    assert!(said.contains("record.interval = \"1 ns\": produces samples of about"), "{said}");
    assert!(said.contains("allowed: a longer interval"), "{said}");
    assert!(load_text(&with(few, &format!("duration = \"1 ms\"\n{fine}")), &[]).is_ok());
}

#[test]
fn a_run_that_may_end_early_is_not_refused_for_what_it_would_record_later() {
    let source = r#"source = { kind = "bulk", size = "1 MB" }"#;
    let long = "duration = \"1000000 h\"";
    assert!(refusal(source, long).contains("record.interval: produces samples"), "until = time");
    assert!(load_text(&with(source, &format!("{long}\nuntil = \"drained\"")), &[]).is_ok());
}

#[test]
fn samples_of_traces_count() {
    // 1e6 samples: 2 of queues of 36 bytes, 120 of the path, 56 of the stream, and 28 for every direction with a trace.
    let at = |link: &str, limit: &str| {
        let run = format!("{RUN}\nrecord = {{ interval = \"10 us\", messages = false }}");
        let text = BASE.replace("duration = \"10 s\"", &run);
        let trace = "channel = { kind = \"trace\", file = \"../link/testdata/example.mahimahi\" }";
        let replaced = text.replace("rate = \"10 Mbps\"", &link.replace("TRACE", trace));
        load_text(&replaced, &[("limits.tables", limit)])
    };
    for (link, needed) in [
        ("rate = \"10 Mbps\"", 248),
        ("TRACE", 304),
        ("rate = \"10 Mbps\"\nbackward = { TRACE }", 276),
    ] {
        assert!(at(link, &format!("{needed} MB")).is_ok(), "{link}");
        let said = at(link, &format!("{} MB", needed - 1)).unwrap_err();
        assert!(said.contains("produces samples of about"), "{link}: {said}");
    }
}

#[test]
fn a_transfer_without_an_end_needs_a_run_that_has_one() {
    let endless = r#"source = "bulk""#;
    let scenario = load_text(&with(endless, RUN), &[]).unwrap();
    assert!(matches!(&scenario.spec.flows[0].1.source, Some(source) if source.kind() == "bulk"));
    let drained = refusal(endless, &format!("{RUN}\nuntil = \"drained\""));
    assert!(drained.contains("flows.main.source.size: is missing, but the run waits"), "{drained}");
    let udp = load_text(&with(endless, RUN), &[("flows.main.transport", "udp")]).unwrap_err();
    assert!(udp.contains("flows.main.source.size: is missing, but the transport"), "{udp}");
}
