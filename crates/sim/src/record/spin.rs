//! The table `spin`: round-trip times that were seen from outside a connection.

use std::path::Path;

use leobench_base::{SimDuration, SimTime};

use super::parquet_sinks::TableFile;
use super::rows::Batch;
use super::schema::Table;
use super::sink::SinkError;

/// A round-trip time that QUIC's spin bit showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinRow<'a> {
    /// When it ended.
    pub at: SimTime,
    /// Address and port of the sender of the packets.
    pub source: &'a str,
    /// Address and port of their receiver.
    pub destination: &'a str,
    /// How long it was.
    pub rtt: SimDuration,
}

/// Writes the table [`Table::Spin`] into a folder.
///
/// # Errors
/// If its file cannot be written.
pub fn write_spin<'a>(
    folder: &Path,
    rows: impl IntoIterator<Item = SpinRow<'a>>,
) -> Result<(), SinkError> {
    let mut file = TableFile::create(folder, Table::Spin)?;
    let mut batch = Batch::new(Table::Spin);
    for row in rows {
        batch.append([row.at.into(), row.source.into(), row.destination.into(), row.rtt.into()]);
        if batch.is_full() {
            file.write(&batch)?;
            batch.clear();
        }
    }
    if !batch.is_empty() {
        file.write(&batch)?;
    }
    file.finish().map(|_| ())
}
