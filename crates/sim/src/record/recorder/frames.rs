//! Rows on the frames of calls.

use leobench_base::FlowId;
use leobench_media::call::FrameTimes;

use super::super::rows::Cell;
use super::super::schema::Table;
use super::super::sink::SinkError;
use super::Recorder;

impl Recorder {
    /// The frames of a flow's call of which anything has arrived.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn frames(&mut self, flow: FlowId, frames: &[FrameTimes]) -> Result<(), SinkError> {
        if !self.has_series(flow) {
            return Ok(());
        }
        for FrameTimes { header, completed, rendered, is_late } in frames {
            let row = [
                header.captured.into(),
                self.names.flows[flow].name.as_str().into(),
                header.number.into(),
                Cell::Flag(header.is_key),
                header.bytes.into(),
                u64::from(header.parts()).into(),
                (*completed).into(),
                (*rendered).into(),
                Cell::Flag(*is_late),
            ];
            self.tables.append(Table::Frames, row)?;
        }
        Ok(())
    }
}
