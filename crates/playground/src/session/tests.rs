use leobench_sim::record::MemorySink;

use super::*;

const PATH: &str = r#"
    name = "path"
    duration = "5 s"
    seed = 3
    [nodes]
    client = {}
    server = {}
    [links.path]
    between = ["client", "server"]
    rate = "8 Mbps"
    delay = "20 ms"
    loss = { kind = "bernoulli", probability = 0.01 }
    queue = { kind = "fifo", limit = "30 packets" }
    [flows.main]
    from = "client"
    to = "server"
    transport = "quic"
    source = { kind = "cbr", rate = "6 Mbps", size = "1000 B" }
"#;

fn request(tables: &[&str]) -> Request {
    Request {
        file: "path.toml".to_owned(),
        text: PATH.to_owned(),
        overrides: Vec::new(),
        seed: None,
        tables: tables.iter().map(|&name| name.to_owned()).collect(),
    }
}

fn finished(request: &Request) -> (Session, String) {
    let mut session = Session::new(request).unwrap();
    while !session.advance(1_000).unwrap() {}
    let answer = session.finish().unwrap();
    (session, answer)
}

fn refusal(change: impl FnOnce(&mut Request)) -> String {
    let mut request = request(&["transport"]);
    change(&mut request);
    Session::new(&request).err().expect("a refusal")
}

/// The summary of a run whose tables are Parquet files, as the command line has it.
fn of_command_line(overrides: &[(String, String)]) -> String {
    let source =
        Source { file: "path.toml", text: PATH, syntax: Syntax::Toml, folder: PathBuf::new() };
    let scenario = load(&source, overrides).unwrap();
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario, scenario.spec.seed, RunOptions::default(), sink).unwrap();
    run.to_end().unwrap();
    json(&run.finish().unwrap().summary)
}

#[test]
fn the_summary_is_that_of_the_command_line() {
    let (_, answer) = finished(&request(&["messages", "transport"]));
    assert!(answer.starts_with(&format!("{{\"summary\":{},\"stalls\"", of_command_line(&[]))));
}

#[test]
fn overrides_and_the_seed_take_the_place_of_the_texts_values() {
    let mut given = request(&[]);
    given.overrides = vec![("links.path.delay".to_owned(), "30 ms".to_owned())];
    given.seed = Some("7".to_owned());
    let (session, answer) = finished(&given);
    let mut overrides = given.overrides.clone();
    overrides.push(("seed".to_owned(), "7".to_owned()));
    assert!(answer.contains(&of_command_line(&overrides)));
    let resolved: serde_json::Value = serde_json::from_str(&session.resolved()).unwrap();
    assert_eq!(resolved["seed"], 7);
    assert_eq!(resolved["links"]["path"]["delay"], "30 ms");
}

#[test]
fn tables_are_kept_on_request_and_their_columns_are_as_long_as_they_say() {
    let (session, answer) = finished(&request(&["transport", "messages"]));
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let kept: Vec<_> = answer["tables"].as_object().unwrap().keys().collect();
    assert_eq!(kept, ["messages", "transport"]);
    for stored in session.tables() {
        let Stored::Columns(columns) = &stored.stored else { panic!("columns") };
        let told = &answer["tables"][stored.table.name()];
        assert_eq!(told["columns"].as_array().unwrap().len(), stored.table.columns().len());
        for column in columns {
            assert_eq!(told["rows"], rows(&column.values));
            assert!(column.present.as_ref().is_none_or(|it| told["rows"] == it.len()));
        }
    }
    // 6 Mbit/s of 1,000 bytes for 5 s.
    assert_eq!(answer["tables"]["messages"]["rows"], 3_750);
    assert_eq!(answer["summary"]["flows"][0]["messages"], 3_750);
}

#[test]
fn missing_values_have_zeros_in_their_places() {
    let (session, _) = finished(&request(&["messages"]));
    let Stored::Columns(columns) = &session.tables()[0].stored else { panic!("columns") };
    let delivered = &columns[6];
    let (StoredValues::Integers(times), Some(present)) = (&delivered.values, &delivered.present)
    else {
        panic!("{delivered:?}")
    };
    assert!(present.contains(&0), "the run ends before the last messages arrive");
    assert!(present.contains(&1));
    assert!(times.iter().zip(present).all(|(time, there)| (*time != 0) == (*there == 1)));
    let StoredValues::Texts { numbers, texts } = &columns[0].values else { panic!("texts") };
    assert_eq!(*texts, ["main"]);
    assert!(numbers.iter().all(|number| *number == 0));
}

#[test]
fn refusals_name_what_is_wrong() {
    let place = |place: &str, value: &str| {
        refusal(|request| request.overrides = vec![(place.to_owned(), value.to_owned())])
    };
    assert!(place("links.path.delai", "1 ms").contains("links.path.delai"));
    assert!(place("engine", "real").ends_with("a page has no sockets; allowed: `virtual`"));
    assert!(refusal(|request| request.text = "[".to_owned()).starts_with("path.toml:1:"));
    assert!(refusal(|request| request.seed = Some("many".to_owned())).contains("seed"));
    let table = refusal(|request| request.tables = vec!["nothing".to_owned()]);
    assert_eq!(table, "the request of the page: there is no table `nothing`");
    assert!(Session::start(b"{}").err().unwrap().starts_with("the request of the page: missing"));
}

#[test]
fn a_run_is_summed_up_once() {
    let (mut session, _) = finished(&request(&[]));
    assert_eq!(session.finish(), Err("the run was summed up before".to_owned()));
    assert_eq!(session.advance(1), Ok(true));
}

#[test]
fn a_run_that_records_too_much_ends_with_a_message() {
    let source =
        Source { file: "path.toml", text: PATH, syntax: Syntax::Toml, folder: PathBuf::new() };
    let scenario = load(&source, &[]).unwrap();
    let ended = |room| {
        let sink = Box::new(ColumnSink::new(&[Table::Messages], Bytes::new(room)));
        let mut run = Run::new(&scenario, 1, RunOptions::default(), sink).unwrap();
        let reached = run.to_end();
        reached.and_then(|()| run.finish()).map(|outcome| outcome.tables.len())
    };
    // 3,750 rows of 62 bytes and more.
    assert_eq!(ended(1_000_000).ok(), Some(1));
    let message = ended(100_000).unwrap_err().to_string();
    assert!(
        message.contains("`messages`") && message.contains("allowed: a shorter run"),
        "{message}"
    );
}
