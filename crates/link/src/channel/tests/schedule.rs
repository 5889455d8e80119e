//! Schedules from the scenario and from files.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, SimDuration, SimTime};

use super::super::schedule::ScheduleSpec;
use super::super::{Channel, ChannelModel, ChannelState, Service};
use crate::testing::{Folder, assert_refused, context, read};

const INLINE: &str = r#"{"steps": [
    {"at": "0 s", "rate": "50 Mbps", "delay": "10 ms"},
    {"at": "1.5 s", "rate": "0 bps", "loss": 0.25},
    {"at": "2 s", "up": false},
    {"at": "2.5 s", "rate": "50 Mbps", "loss": 0, "up": true}
], "repeat": "3 s"}"#;

const CSV: &str = "time,rate,delay,loss,up\n\
    0 s, 50 Mbps, 10 ms,,\n\
    1.5 s, 0 bps,, 0.25,\n\
    \n\
    2 s,,,, false\n\
    2.5 s, 50 Mbps,, 0, true\n";

fn state(mbps: u64, loss: f64, up: bool, label: &'static str) -> ChannelState {
    let service = Service::Rate(BitRate::from_bps(mbps * 1_000_000));
    let delay = SimDuration::from_millis(10);
    ChannelState { service, delay, loss, up, has_way: true, label: label.into() }
}

fn changes(channel: &mut dyn Channel, count: usize) -> Vec<(u64, ChannelState)> {
    (0..count)
        .map_while(|_| {
            let at = channel.next_change()?;
            Some((at.as_nanos() / 1_000_000, channel.advance(at).clone()))
        })
        .collect()
}

#[test]
fn rows_inherit_what_they_leave_out_and_repeat() {
    let spec: ScheduleSpec = read(INLINE).unwrap();
    let mut channel = spec.build(&context(1)).unwrap();
    assert_eq!(*channel.state(), state(50, 0.0, true, "up"));
    let first = [
        (1_500, state(0, 0.25, true, "held")),
        (2_000, state(0, 0.25, false, "down")),
        (2_500, state(50, 0.0, true, "up")),
    ];
    // The table starts again at 3 s with the very state it ended in, which is no change.
    let second = first.iter().map(|(at, state)| (at + 3_000, state.clone()));
    let expected: Vec<_> = first.iter().cloned().chain(second).collect();
    assert_eq!(changes(channel.as_mut(), 6), expected);
}

#[test]
fn without_repeat_the_last_row_holds() {
    let spec = ScheduleSpec { repeat: None, ..read(INLINE).unwrap() };
    let mut channel = spec.build(&context(1)).unwrap();
    assert_eq!(changes(channel.as_mut(), 6).len(), 3);
    assert_eq!(channel.next_change(), None);
    assert_eq!(*channel.advance(SimTime::MAX), state(50, 0.0, true, "up"));
}

#[test]
fn a_file_says_the_same_as_the_scenario() {
    let folder = Folder::new("schedule-same");
    folder.write("x.csv", CSV);
    let file: ScheduleSpec = read(r#"{"file": "x.csv", "repeat": "3 s"}"#).unwrap();
    let inline: ScheduleSpec = read(INLINE).unwrap();
    let mut a = file.build(&folder.context()).unwrap();
    let mut b = inline.build(&folder.context()).unwrap();
    assert_eq!(changes(a.as_mut(), 9), changes(b.as_mut(), 9));
}

#[test]
fn files_of_spreadsheets_are_read() {
    let folder = Folder::new("schedule-spreadsheet");
    let spreadsheet = CSV.replace("false", "FALSE").replace("true", "True").replace('\n', "\r\n");
    let quoted = spreadsheet.replace("50 Mbps", "\"50 Mbps\"").replace("time,", "\"time\",");
    folder.write("x.csv", format!("\u{feff}{quoted}"));
    let file: ScheduleSpec = read(r#"{"file": "x.csv", "repeat": "3 s"}"#).unwrap();
    let inline: ScheduleSpec = read(INLINE).unwrap();
    let mut a = file.build(&folder.context()).unwrap();
    let mut b = inline.build(&folder.context()).unwrap();
    assert_eq!(a.state(), b.state());
    assert_eq!(changes(a.as_mut(), 9), changes(b.as_mut(), 9));
}

#[test]
fn bad_rows_in_the_scenario_are_refused_by_place() {
    let steps = |rows: &str| format!(r#"{{"steps": [{rows}]}}"#);
    let first = r#"{"at": "0 s", "rate": "1 Mbps"}"#;
    let refused = |rows: &str, place: &str, problem: &str| {
        assert_refused::<ScheduleSpec>(&steps(rows), place, problem);
    };
    refused("", "steps", "no rows");
    refused(r#"{"at": "1 s", "rate": "1 Mbps"}"#, "steps[0].at", "is 1 s in the first row");
    refused(r#"{"at": "0 s"}"#, "steps[0].rate", "missing in the first row");
    refused(
        &format!(r#"{first}, {{"at": "2 s"}}, {{"at": "1 s"}}"#),
        "steps[2].at",
        "1 s after 2 s",
    );
    refused(&format!(r#"{first}, {{"at": "0 s"}}"#), "steps[1].at", "after");
    refused(&format!(r#"{first}, {{"at": "1 s", "loss": 1.5}}"#), "steps[1].loss", "out of range");
    refused(&format!(r#"{first}, {{"at": "1 s", "rates": 1}}"#), "steps[1].rates", "unknown key");
    refused(r#"{"at": "0 s", "rate": "0 bps"}"#, "steps", "never up");
    refused(r#"{"at": "0 s", "rate": "1 bps", "up": false}"#, "steps", "never up");
    assert_refused::<ScheduleSpec>("{}", "steps", "missing");
    let both = format!(r#"{{"steps": [{first}], "file": "x.csv"}}"#);
    assert_refused::<ScheduleSpec>(&both, "file", "together with `steps`");
    let short = format!(r#"{{"steps": [{first}, {{"at": "1 s"}}], "repeat": "1 s"}}"#);
    assert_refused::<ScheduleSpec>(&short, "repeat", "not after the last row");
}

#[test]
fn bad_files_are_refused_by_file_and_line() {
    let folder = Folder::new("schedule-bad");
    let fault = |content: &[u8]| -> Fault {
        folder.write("x.csv", content);
        let spec: ScheduleSpec = read(r#"{"file": "x.csv"}"#).unwrap();
        spec.build(&folder.context()).err().unwrap()
    };
    let refused = |content: &str, problem: &str| {
        let fault = fault(content.as_bytes());
        assert_eq!((fault.field.as_str(), fault.problem.as_str()), ("file", problem));
    };
    refused("", "x.csv is empty");
    refused("time,rate\n", "has no rows");
    refused("time,rat\n", "x.csv, line 1: unknown column \"rat\" (did you mean `rate`?)");
    refused("time,loss\n", "x.csv, line 1: column \"rate\" is missing");
    refused("time,rate,rate\n", "x.csv, line 1: column \"rate\" appears twice");
    refused("time,rate\n0 s\n", "x.csv, line 2: has 1 cells");
    refused("time,rate\n,1 bps\n", "x.csv, line 2: time: is missing");
    refused(
        "time,rate\n0 s,45 Mb\n",
        "x.csv, line 2: rate = \"45 Mb\": has an unknown unit \"Mb\"; did you mean `45 Mbps`?",
    );
    refused(
        "time,rate,loss\n0 s,1 bps,x\n",
        "x.csv, line 2: loss = \"x\": is a string, not a number",
    );
    refused(
        "time,rate,up\n0 s,1 bps,no\n",
        "x.csv, line 2: up = \"no\": is a string, not a boolean",
    );
    refused("time,rate\n\n1 s,1 bps\n", "x.csv, line 3: time is 1 s in the first row");
    refused("time,rate\n0 s,\n", "x.csv, line 2: rate is missing in the first row");
    refused("time,rate\n0 s,1 bps\n2 s,\n1 s,\n", "x.csv, line 4: time is 1 s after 2 s");
    refused("time,rate\n0 s,0 bps\n", "is never up");
    refused(
        "time,rate\n0 s,\"1 bps\n1 s,\"\n",
        "x.csv, line 2: has an opening quote but no closing quote",
    );
    let zeros = "0".repeat(900);
    refused(
        &format!("time,rate\n0 s,{zeros}\n"),
        &format!("x.csv, line 2: rate = \"{}\"… (900 characters): has no unit", "0".repeat(80)),
    );
    refused(&format!("time,rate\n0 s,{zeros}{zeros}\n"), "x.csv, line 2: is too long");
    assert_eq!(fault(b"time,rate\n0 s,\xff\n").problem, "x.csv, line 2: is not text");
    let missing: ScheduleSpec = read(r#"{"file": "y.csv"}"#).unwrap();
    let fault = missing.build(&folder.context()).err().unwrap();
    assert!(fault.problem.starts_with("there is no file ") && fault.problem.ends_with("y.csv"));
}
