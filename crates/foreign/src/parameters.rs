//! The parameters of a scenario as C strings.

use std::ffi::CString;

use leobench_base::spec::{Table, Value};

use crate::abi::Parameter;

/// Names and values, and the table that points to them.
pub(crate) struct Parameters {
    table: Vec<Parameter>,
    /// The texts that the table points to.
    _texts: Vec<CString>,
}

impl Parameters {
    /// The parameters of a table.
    ///
    /// # Errors
    /// If a name or a value has a zero byte.
    pub(crate) fn new(parameters: &Table) -> Result<Self, String> {
        let mut texts = Vec::new();
        for (name, value) in parameters.iter() {
            let written = match value {
                Value::String(text) => text.clone(),
                other => serde_json::to_string(other).map_err(|error| error.to_string())?,
            };
            for text in [name.to_owned(), written] {
                let text = CString::new(text);
                texts.push(text.map_err(|_| format!("parameter `{name}` has a zero byte"))?);
            }
        }
        let pairs = texts.chunks_exact(2);
        let table = pairs.map(|pair| Parameter { name: pair[0].as_ptr(), value: pair[1].as_ptr() });
        Ok(Self { table: table.collect(), _texts: texts })
    }

    /// The address and the length of the table.
    pub(crate) fn parts(&self) -> (*const Parameter, usize) {
        (self.table.as_ptr(), self.table.len())
    }
}
