//! Loading from files, and files that are none.

use std::fs;
use std::path::Path;

use leobench_transport::Plugins;

use super::constellations::SKY;
use super::*;

fn refusal(path: &Path) -> String {
    let message = load_file(path, &[], Plugins::NONE, FlowUse::Required).unwrap_err().to_string();
    let shown = path.display().to_string();
    message.strip_prefix(&shown).expect("the message starts with the file").to_owned()
}

#[test]
fn the_extension_tells_the_syntax() {
    let folder = tempdir().unwrap();
    let toml =
        load_file(&file(&folder, "a.toml", BASE.as_bytes()), &[], Plugins::NONE, FlowUse::Required)
            .unwrap();
    assert_eq!(toml.folder, folder.path());
    let json = serde_json::to_vec(&toml.write()).unwrap();
    assert_eq!(
        load_file(&file(&folder, "a.JSON", &json), &[], Plugins::NONE, FlowUse::Required).unwrap(),
        toml
    );
    assert_eq!(
        refusal(&file(&folder, "a.yaml", BASE.as_bytes())),
        ": has no known extension; allowed: `.toml`, `.json`"
    );
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let folder = tempdir().unwrap();
    let missing = ": cannot be read: no such file; allowed: a scenario file";
    assert_eq!(refusal(&folder.path().join("none.toml")), missing);
    assert_eq!(refusal(&folder.path().join("none")), missing);
    let is_folder = ": cannot be read: is a folder; allowed: a scenario file";
    assert_eq!(refusal(folder.path()), is_folder);
    let inner = folder.path().join("folder.toml");
    fs::create_dir(&inner).unwrap();
    assert_eq!(refusal(&inner), is_folder);
    assert_eq!(
        refusal(&file(&folder, "binary.toml", b"name = \"\xff\xfe\"")),
        ": is not text, at byte 8; allowed: TOML or JSON in UTF-8"
    );
}

/// Reading a pipe would wait for a writer, which never comes.
#[test]
fn pipes_are_refused_wherever_a_file_is_named() {
    let folder = tempdir().unwrap();
    let pipe = folder.path().join("pipe.toml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let is_pipe = "cannot be read: is a pipe, a device or a socket";
    assert_eq!(refusal(&pipe), format!(": {is_pipe}; allowed: a scenario file"));
    let channel = r#"channel = { kind = "schedule", file = "pipe.toml" }"#;
    for text in [
        BASE.replace(r#"rate = "10 Mbps""#, channel),
        BASE.replace(r#"rate = "10 Mbps""#, &channel.replace("schedule", "trace")),
        SKY.replace(r#"preset = "starlink""#, r#"elements = "pipe.toml""#),
    ] {
        let message = refusal(&file(&folder, "names-it.toml", text.as_bytes()));
        assert!(message.contains(is_pipe), "{message}");
    }
}

#[test]
fn syntax_errors_name_the_line_and_the_column() {
    let folder = tempdir().unwrap();
    let broken = |name: &str, text: &str| refusal(&file(&folder, name, text.as_bytes()));
    let message = broken("a.toml", "name = \"x\"\nduration = = 3\n");
    assert!(message.starts_with(":2:12: "), "{message}");
    assert!(message.ends_with("; in the line `duration = = 3`"), "{message}");
    let long = broken("long.toml", &format!("name = [{}= 1]\n", "\"word\", ".repeat(50)));
    assert!(long.starts_with(":1:409: "), "{long}");
    assert!(long.contains("\"word\", = 1]…`") && long.len() < 250, "{long}");
    let message = broken("twice.toml", "[nodes.a]\n[nodes.a]\n");
    let twice = "the name \"a\" is given twice";
    assert_eq!(
        message,
        format!(":2:8: {twice}; allowed: a different name for each; in the line `[nodes.a]`")
    );
    let message = broken("a.json", "{\"name\": \"x\",\n \"duration\": }");
    assert!(message.starts_with(":2:14: "), "{message}");
    assert!(!message.contains("line 2"), "{message}");
    let message = broken("twice.json", "{\"nodes\": {\"a\": {}, \"a\": {}}}");
    assert!(message.starts_with(":1:") && message.contains(twice), "{message}");
    let message = broken("date.toml", "name = 2026-01-01\n");
    assert!(message.contains("dates and times have no meaning"), "{message}");
    let message = broken("empty.toml", "");
    assert_eq!(message, ": name: is required but missing");
    let message = broken("array.json", "[1]");
    assert_eq!(message, ": [1]: is an array; allowed: a table");
}

#[test]
fn files_larger_than_any_scenario_are_refused_before_they_are_parsed() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("huge.toml");
    // A hole of 10 GB, which no memory would hold.
    fs::File::create(&path).unwrap().set_len(10_000_000_000).unwrap();
    assert_eq!(refusal(&path), ": is too large; allowed: at most 16 MB");
    let padded = |size: usize| format!("{BASE}\n#{}", " ".repeat(size - BASE.len() - 2));
    assert!(
        load_file(
            &file(&folder, "most.toml", padded(16_000_000).as_bytes()),
            &[],
            Plugins::NONE,
            FlowUse::Required
        )
        .is_ok()
    );
    let message = refusal(&file(&folder, "more.toml", padded(16_000_001).as_bytes()));
    assert_eq!(message, ": is too large; allowed: at most 16 MB");
}

#[test]
fn messages_stay_short_whatever_the_names() {
    let folder = tempdir().unwrap();
    let long = "x".repeat(1_000_000);
    for text in [
        BASE.replace("nodes.client]", &format!("nodes.{long}]")),
        format!("{BASE}\n[nodes.{long}]\n[nodes.{long}]\n"),
        format!("{BASE}\n[{long}]\n"),
        format!("{BASE}\n[nodes.\"{long} \"]\n"),
        BASE.replace("from = \"client\"", &format!("from = \"{long}\"")),
        BASE.replace("from = \"client\"", "from = \"lone\"").replace("lone", &long)
            + &format!("[nodes.{long}]\n"),
    ] {
        let message = refusal(&file(&folder, "long.toml", text.as_bytes()));
        assert!(message.len() < 1_000, "{} bytes", message.len());
    }
}

/// The line of an error may hold characters that a terminal would obey.
#[test]
fn the_line_of_an_error_is_printable() {
    let folder = tempdir().unwrap();
    let message = refusal(&file(&folder, "escape.toml", b"name = \"x\"\x1b[2J\n"));
    assert!(message.ends_with(r#"; in the line `name = "x"\u{1b}[2J`"#), "{message}");
}
