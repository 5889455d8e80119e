//! The defaults of all models, as `defaults.txt` beside this file states them: a change of one is a change of results, and
//! has to be made in both places. A model that is not stated there yet has no default to keep.
//! `LEOBENCH_DEFAULTS=write` in the environment has the file written anew, new models included.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use leobench_base::spec::{Schema, Value};
use leobench_sim::listing;

/// Words of which a parenthesis in a documentation has one, or a year, if it names a source.
const SOURCES: [&str; 7] = ["RFC", "draft", "section", "Linux", "paper", "et al", "`BBR"];

/// A model's name, and a line for each of its defaults.
type Section = (String, Vec<String>);

fn options(schema: &Schema) -> impl Iterator<Item = (&str, &Schema)> {
    let options = schema["oneOf"].as_array().into_iter().flatten();
    options.filter_map(|option| Some((option["properties"]["kind"]["const"].as_str()?, option)))
}

/// A default as a scenario would say it. Of another model with its own defaults, which are stated elsewhere, the name.
fn shown(default: &Schema, models: &BTreeMap<String, Schema>) -> String {
    let kind = default.get("kind").and_then(Schema::as_str);
    if let Some(model) = kind.and_then(|kind| models.get(kind))
        && default.as_object().unwrap().iter().all(|(key, value)| {
            key == "kind" || model["properties"][key].get("default") == Some(value)
        })
    {
        return Value::String(kind.unwrap().to_owned()).to_string();
    }
    serde_json::from_value::<Value>(default.clone()).unwrap().to_string()
}

/// The sources that a documentation names in parentheses.
fn sources(description: &str) -> String {
    let parentheses = description.split('(').skip(1).filter_map(|rest| rest.split(')').next());
    let is_year =
        |word: &str| word.len() == 4 && word.parse().is_ok_and(|year| (1950..2100).contains(&year));
    let named = parentheses.filter(|text| {
        SOURCES.iter().any(|word| text.contains(word)) || text.split(' ').any(is_year)
    });
    named.map(|text| text.replace('\n', " ")).collect::<Vec<_>>().join("; ")
}

fn sections() -> Vec<Section> {
    let registries: Vec<_> = listing::kinds().map(|kind| listing::schema(kind).unwrap()).collect();
    let models = registries.iter().flat_map(|(_, schema)| options(schema));
    let models = models.map(|(name, model)| (name.to_owned(), model.clone())).collect();
    let mut sections = Vec::new();
    for (at, ((key, schema), kind)) in registries.iter().zip(listing::kinds()).enumerate() {
        // Two kinds have the same key at different places of a scenario: the second goes by its name in `leobench list`.
        let is_taken = registries[..at].iter().any(|(earlier, _)| earlier == key);
        let kind = if is_taken { kind } else { *key };
        for (name, model) in options(schema) {
            let mut lines = Vec::new();
            for (key, property) in model["properties"].as_object().unwrap() {
                let Some(default) = property.get("default") else { continue };
                let source = sources(property["description"].as_str().unwrap());
                let default = shown(default, &models);
                lines.push(format!("    {key:<24}{default:<16}{source}").trim_end().to_owned());
            }
            if !lines.is_empty() {
                sections.push((format!("{kind} {name}"), lines));
            }
        }
    }
    sections
}

fn read(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut sections = BTreeMap::new();
    let mut lines = text.lines().filter(|line| !line.is_empty()).peekable();
    while let Some(name) = lines.next() {
        let mut defaults = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            defaults.push(line);
        }
        assert!(sections.insert(name, defaults).is_none(), "{name} appears twice");
    }
    sections
}

#[test]
fn defaults_are_those_stated() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join("defaults.txt");
    let sections = sections();
    if std::env::var_os("LEOBENCH_DEFAULTS").is_some_and(|value| value == "write") {
        let text = sections.iter().fold(String::new(), |mut text, (name, lines)| {
            writeln!(text, "{name}\n{}\n", lines.join("\n")).unwrap();
            text
        });
        std::fs::write(&file, text.trim_end().to_owned() + "\n").unwrap();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let mut stated = read(&text);
    for (name, lines) in &sections {
        if let Some(stated) = stated.remove(name.as_str()) {
            assert_eq!(*lines, stated, "{name}: the code first, then {}", file.display());
        }
    }
    assert!(stated.is_empty(), "there is no {stated:?} any more");
}
