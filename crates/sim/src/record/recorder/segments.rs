//! Rows on the segments of videos.

use leobench_base::FlowId;
use leobench_media::Player;

use super::super::schema::Table;
use super::super::sink::SinkError;
use super::Recorder;

impl Recorder {
    /// The segments that a flow's player asked for.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn segments(&mut self, flow: FlowId, player: &Player) -> Result<(), SinkError> {
        if !self.has_series(flow) {
            return Ok(());
        }
        for segment in player.segments() {
            let has_arrived = segment.arrived.is_some();
            let row = [
                segment.requested.into(),
                self.names.flows[flow].name.as_str().into(),
                segment.number.into(),
                (player.ladder()[segment.rung] as u64).into(),
                segment.bytes.into(),
                segment.arrived.into(),
                Some(segment.buffer).filter(|_| has_arrived).into(),
                Some(segment.stalled).filter(|_| has_arrived).into(),
            ];
            self.tables.append(Table::Segments, row)?;
        }
        Ok(())
    }
}
