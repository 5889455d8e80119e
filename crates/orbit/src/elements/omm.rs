//! Orbit mean-elements messages: the keywords of CCSDS 502.0-B-3, section 4, as CSV, JSON or XML.

use std::borrow::Cow;

use leobench_base::spec::quoted;
use roxmltree::{Document, Node};
use serde_json::Value;

use super::{ElementRecord, MeanElements};
use crate::error::{FileError, Location};
use crate::frame::Epoch;

/// Keywords with the only values that SGP4 can use; absent ones are taken to have them.
const FIXED: [(&str, &[&str]); 4] = [
    ("CENTER_NAME", &["EARTH"]),
    ("REF_FRAME", &["TEME"]),
    ("TIME_SYSTEM", &["UTC"]),
    ("MEAN_ELEMENT_THEORY", &["SGP4", "SGP", "SGP/SGP4"]),
];

/// Makes elements of a message, whose keywords `get` looks up.
fn message<'a>(get: &dyn Fn(&str) -> Option<Cow<'a, str>>) -> Result<MeanElements, String> {
    let required = |key: &str| get(key).ok_or_else(|| format!("{key} is missing"));
    let number = |key: &str| {
        let text = required(key)?;
        let value = text.trim().parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| format!("{key} should be a number, found {}", quoted(&text)))
    };
    for (key, allowed) in FIXED {
        if let Some(value) = get(key)
            && !allowed.contains(&value.trim().to_ascii_uppercase().as_str())
        {
            return Err(format!("{key} should be {}, found {value:?}", allowed[0]));
        }
    }
    let catalogue = required("NORAD_CAT_ID")?;
    let catalogue: u64 = catalogue
        .trim()
        .parse()
        .map_err(|_| format!("NORAD_CAT_ID should be a whole number, found {catalogue:?}"))?;
    let epoch = required("EPOCH")?;
    let name =
        get("OBJECT_NAME").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    Ok(MeanElements {
        name: name.unwrap_or_else(|| catalogue.to_string()),
        catalogue,
        epoch: Epoch::parse(&epoch).ok_or_else(|| {
            format!("EPOCH should be a time such as 2026-03-20T10:39:26.66, found {epoch:?}")
        })?,
        inclination: number("INCLINATION")?,
        node: number("RA_OF_ASC_NODE")?,
        eccentricity: number("ECCENTRICITY")?,
        perigee: number("ARG_OF_PERICENTER")?,
        anomaly: number("MEAN_ANOMALY")?,
        motion: number("MEAN_MOTION")?,
        drag: number("BSTAR")?,
    })
}

pub(super) fn read_csv(file: &str, text: &str) -> Result<Vec<ElementRecord>, FileError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let wrong = |error: csv::Error| FileError::not_csv(file, &error);
    let columns = reader.headers().map_err(wrong)?.clone();
    let mut all = Vec::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let line = record.position().map_or(1, csv::Position::line);
        let get = |key: &str| {
            let column = columns.iter().position(|column| column.trim() == key)?;
            record.get(column).map(Cow::Borrowed)
        };
        let elements = message(&get).map_err(|problem| FileError::line(file, line, problem))?;
        all.push(ElementRecord { elements, location: Location::Line(line) });
    }
    Ok(all)
}

pub(super) fn read_json(file: &str, text: &str) -> Result<Vec<ElementRecord>, FileError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        FileError::line(file, error.line() as u64, format!("not JSON: {error}"))
    })?;
    let messages = match value {
        Value::Array(messages) => messages,
        object => vec![object],
    };
    let mut all = Vec::new();
    for (number, value) in (1..).zip(&messages) {
        let location = Location::Record(number);
        let get = |key: &str| match value.get(key)? {
            Value::String(text) => Some(Cow::Borrowed(text.as_str())),
            Value::Null => None,
            other => Some(Cow::Owned(other.to_string())),
        };
        let elements =
            message(&get).map_err(|problem| FileError::at(file, location.clone(), problem))?;
        all.push(ElementRecord { elements, location });
    }
    Ok(all)
}

pub(super) fn read_xml(file: &str, text: &str) -> Result<Vec<ElementRecord>, FileError> {
    let document = Document::parse(text).map_err(|error| {
        FileError::line(file, u64::from(error.pos().row), format!("not XML: {error}"))
    })?;
    let mut all = Vec::new();
    for node in document.descendants().filter(|node| node.has_tag_name("omm")) {
        let line = u64::from(document.text_pos_at(node.range().start).row);
        let elements = message(&|key| text_of(node, key))
            .map_err(|problem| FileError::line(file, line, problem))?;
        all.push(ElementRecord { elements, location: Location::Line(line) });
    }
    Ok(all)
}

fn text_of<'a>(message: Node<'a, 'a>, key: &str) -> Option<Cow<'a, str>> {
    let node = message.descendants().find(|node| node.has_tag_name(key))?;
    node.text().map(Cow::Borrowed)
}
