//! Shares from a file.

use leobench_base::SimRng;
use leobench_base::spec::Fault;
use leobench_orbit::FileError;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Demand, MatrixContext, MatrixModel};
use crate::scenario::traffic::file::{self, Row};

/// The key of the file.
const FILE: &str = "file";

leobench_base::spec! {
    /// A CSV file with the columns `from`, `to` and `weight`: the share of each pair is its weight over the sum of all.
    pub struct FileSpec example = r#"{"file": "matrix.csv"}"# {
        /// Name of the file.
        pub file: String,
    }
}

impl MatrixModel for FileSpec {
    fn demands(&self, context: &MatrixContext<'_>, _: &mut SimRng) -> Result<Vec<Demand>, Fault> {
        let places: FxHashMap<_, _> = context
            .places
            .iter()
            .enumerate()
            .map(|(number, place)| (place.name.as_str(), number))
            .collect();
        let allowed = "a CSV file with `from`, `to` and `weight` per line";
        file::read(context.folder, FILE, &self.file, allowed, |rows| {
            let mut seen = FxHashSet::default();
            let mut demands = Vec::new();
            for row in rows.iter() {
                let demand = demand(row, &places)?;
                if !seen.insert((demand.from, demand.to)) {
                    return Err(row.wrong("the pair appears twice"));
                }
                if demand.weight > 0.0 {
                    demands.push(demand);
                }
            }
            if demands.is_empty() {
                return Err(FileError::whole(&self.file, "has no weight above 0"));
            }
            Ok(demands)
        })
    }
}

fn demand(row: Row<'_>, places: &FxHashMap<&str, usize>) -> Result<Demand, FileError> {
    let place = |column: &str| {
        let name = row.text(column)?;
        places.get(name).copied().ok_or_else(|| {
            row.wrong(format!("{column} should be a place with traffic, found {name:?}"))
        })
    };
    let (from, to) = (place("from")?, place("to")?);
    if from == to {
        return Err(row.wrong("a place should send to another place"));
    }
    let weight = row.number("weight")?;
    if weight < 0.0 {
        return Err(row.wrong(format!("weight should be 0 or more, found {weight}")));
    }
    Ok(Demand { from, to, weight })
}
