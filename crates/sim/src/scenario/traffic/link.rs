//! The link that a pair of places gets.

use leobench_base::spec::{At, Schema, Spec, SpecError, Table, Value};

use crate::scenario::LinkSpec;

/// The keys of a link that the pair itself defines.
const BETWEEN: &str = "between";
const CONSTELLATION: &str = "constellation";
const TERMINAL: &str = "terminal";
const GATEWAYS: &str = "gateways";

/// Names that stand for those of a pair.
const ENDS: [&str; 2] = ["from", "to"];

/// A link through the constellation without its ends: those are the places of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairLinkSpec(Box<LinkSpec>);

impl PairLinkSpec {
    /// The link from one place, the terminal, to the other, the gateway.
    pub fn between(&self, from: &str, to: &str) -> LinkSpec {
        let mut link = LinkSpec::clone(&self.0);
        link.between = [from.to_owned(), to.to_owned()];
        if let Some(passage) = &mut link.constellation {
            from.clone_into(&mut passage.terminal);
            passage.gateways = Some(vec![to.to_owned()]);
        }
        link
    }
}

impl Spec for PairLinkSpec {
    fn schema() -> Schema {
        let mut schema = LinkSpec::schema();
        leave_out(&mut schema, &[BETWEEN]);
        leave_out(&mut schema["properties"][CONSTELLATION], &[TERMINAL, GATEWAYS]);
        schema
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let Value::Table(given) = value else {
            return Err(at.error(value, format!("is {}", value.type_name())).allowed("a table"));
        };
        let own = "no such key, because the pairs of places define the ends";
        let mut link = given.clone();
        if let Some(between) = given.get(BETWEEN) {
            return Err(at.key(BETWEEN).error(between, "is given").allowed(own));
        }
        link.insert(BETWEEN, Value::Array(ENDS.map(|end| Value::String(end.into())).into()));
        let mut passage = match given.get(CONSTELLATION) {
            None => Table::new(),
            Some(Value::Table(passage)) => passage.clone(),
            Some(other) => {
                let error = at.key(CONSTELLATION).error(other, format!("is {}", other.type_name()));
                return Err(error.allowed("a table"));
            }
        };
        for key in [TERMINAL, GATEWAYS] {
            if let Some(value) = passage.get(key) {
                let constellation = at.key(CONSTELLATION);
                return Err(constellation.key(key).error(value, "is given").allowed(own));
            }
        }
        passage.insert(TERMINAL, Value::String(ENDS[0].into()));
        passage.insert(GATEWAYS, Value::Array(vec![Value::String(ENDS[1].into())]));
        link.insert(CONSTELLATION, Value::Table(passage));
        LinkSpec::read(&Value::Table(link), at).map(|link| Self(Box::new(link)))
    }

    fn write(&self) -> Value {
        let Value::Table(mut link) = self.0.write() else { return self.0.write() };
        link.remove(BETWEEN);
        if let Some(Value::Table(passage)) = link.get_mut(CONSTELLATION) {
            passage.remove(TERMINAL);
            passage.remove(GATEWAYS);
        }
        Value::Table(link)
    }
}

/// Removes keys from the schema of a table.
fn leave_out(schema: &mut Schema, keys: &[&str]) {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|key, _| !keys.contains(&key.as_str()));
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|key| !keys.iter().any(|left_out| key == left_out));
    }
}
