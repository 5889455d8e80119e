//! The scenarios at the top of the repository, and the schema that describes them.

use std::fs;
use std::path::{Path, PathBuf};

use leobench_base::spec::{Schema, json};
use leobench_transport::Plugins;

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn shipped() -> Vec<(PathBuf, Scenario)> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    assert!(
        files.len() >= 10,
        "two bands by three queues, a path, a trace, two flows, a page: {files:?}"
    );
    let load = |path: PathBuf| match load_file(&path, &[], Plugins::NONE, FlowUse::Required) {
        Ok(scenario) => (path, scenario),
        Err(error) => panic!("{error}"),
    };
    files.into_iter().map(load).collect()
}

#[test]
fn every_shipped_scenario_loads_under_its_own_name() {
    for (path, scenario) in shipped() {
        assert_eq!(path.file_stem().unwrap().to_str(), Some(scenario.spec.name.as_str()));
        assert!(
            fs::read_to_string(&path).unwrap().starts_with("# "),
            "{path:?} says what it shows"
        );
    }
}

#[test]
fn what_is_written_loads_as_the_same_scenario() {
    for (path, scenario) in shipped() {
        let text = serde_json::to_string_pretty(&scenario.write()).unwrap();
        let source = Source {
            file: "written.json",
            text: &text,
            syntax: Syntax::Json,
            folder: scenario.folder.clone(),
        };
        assert_eq!(load(&source, &[]).unwrap(), scenario, "{path:?}");
    }
}

#[test]
fn the_synthetic_trace_follows_its_rule() {
    let lines = |times: &mut dyn Iterator<Item = u32>| {
        times.map(|ms| ms.to_string() + "\n").collect::<String>()
    };
    let sends = |ms: &u32| {
        let step = if *ms > 15_000 { 4 } else { 2 };
        (ms - 1) % 15_000 >= 100 && ms.is_multiple_of(step)
    };
    let trace = lines(&mut (1..=30_000).filter(sends));
    let delay = |i: u32| if i < 150 { 35 - i / 10 } else { 25 + (i - 150) / 10 };
    let delay = lines(&mut (0..300).map(delay));
    let read = |name| fs::read_to_string(folder().join("traces").join(name)).unwrap();
    assert_eq!(read("synthetic.mahimahi"), trace);
    assert_eq!(read("synthetic.delay"), delay);
}

/// Whether `value` is what `schema` describes, for the keywords that our schemas use.
fn fits(schema: &Schema, value: &Value) -> bool {
    let keyword = |name: &str| schema.get(name);
    if let Some(options) = keyword("oneOf") {
        let options = options.as_array().unwrap();
        return options.iter().filter(|option| fits(option, value)).count() == 1;
    }
    if let Some(expected) = keyword("const") {
        return matches!(value, Value::String(text) if expected == text);
    }
    if let Some(words) = keyword("enum") {
        let words = words.as_array().unwrap();
        return matches!(value, Value::String(text) if words.iter().any(|word| word == text));
    }
    match (keyword("type").and_then(Schema::as_str).unwrap(), value) {
        ("object", Value::Table(table)) => {
            let properties = keyword("properties");
            let required = keyword("required").and_then(Schema::as_array);
            required.is_none_or(|keys| {
                keys.iter().all(|key| table.get(key.as_str().unwrap()).is_some())
            }) && table.iter().all(|(key, value)| {
                let known = properties.and_then(|properties| properties.get(key));
                let other = keyword("additionalProperties").filter(|other| other.is_object());
                known.or(other).is_some_and(|schema| fits(schema, value))
            })
        }
        ("array", Value::Array(values)) => {
            let bound = |name| keyword(name).and_then(Schema::as_u64);
            let count = values.len() as u64;
            bound("minItems").is_none_or(|least| count >= least)
                && bound("maxItems").is_none_or(|most| count <= most)
                && values.iter().all(|value| fits(&schema["items"], value))
        }
        ("integer", Value::Integer(_))
        | ("number", Value::Integer(_) | Value::Float(_))
        | ("boolean", Value::Bool(_)) => true,
        // Of the patterns, those of quantities: they begin with a digit or a point, and words beside them do not.
        ("string", Value::String(text)) => {
            let pattern = keyword("pattern").and_then(Schema::as_str);
            !pattern.is_some_and(|pattern| pattern.starts_with(r"^\s*[0-9"))
                || text
                    .trim_start()
                    .starts_with(|first: char| first.is_ascii_digit() || first == '.')
        }
        _ => false,
    }
}

#[test]
fn the_schema_describes_the_shipped_scenarios_as_they_stand_and_as_they_are_written() {
    let schema = Scenario::schema();
    for (path, scenario) in shipped() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(fits(&schema, &toml::from_str(&text).unwrap()), "{path:?}");
        assert!(fits(&schema, &scenario.write()), "{path:?} as written");
        let stray = format!("stray = 1\n{text}");
        assert!(!fits(&schema, &toml::from_str(&stray).unwrap()), "{path:?} with a stray key");
    }
}

#[test]
fn the_schema_names_its_draft_and_describes_every_key() {
    let schema = Scenario::schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["title"], "leobench scenario");
    assert_eq!(schema["required"], json!(["name"]));
    assert_eq!(undescribed(&schema, ""), None);
    let link = &schema["properties"]["links"]["additionalProperties"]["properties"];
    assert_eq!(
        link["delay"]["description"],
        "Propagation delay, in addition to the channel's own."
    );
    assert_eq!(link["between"]["minItems"], 2);
}

/// The first key of a table in `schema` that says nothing about itself, `kind` aside.
fn undescribed(schema: &Schema, place: &str) -> Option<String> {
    let properties = schema.get("properties").and_then(Schema::as_object);
    let keys = properties.into_iter().flatten().filter(|(key, _)| *key != "kind");
    for (key, inner) in keys {
        let place = format!("{place}.{key}");
        let described = inner.get("description").is_some_and(|text| text != "");
        if !described {
            return Some(place);
        }
        if let Some(found) = undescribed(inner, &place) {
            return Some(found);
        }
    }
    let options = schema.get("oneOf").and_then(Schema::as_array).into_iter().flatten();
    let nested = ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
    options.chain(nested).find_map(|inner| undescribed(inner, place))
}
