//! The receiving application: reads streams as bytes come, in any order, and reports how far each is complete.
//!
//! The stack's own ordered reads give up on a connection with too many gaps, so reassembly happens here.

use std::collections::BTreeMap;

use leobench_transport::endpoint::Report;
use noq_proto::{Connection, Dir, StreamEvent, StreamId};

/// Reads the peer's streams.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    streams: Vec<Reassembly>,
}

impl Receiver {
    pub(super) fn on_event(
        &mut self,
        event: &StreamEvent,
        connection: &mut Connection,
        reports: &mut Vec<Report>,
    ) {
        match event {
            StreamEvent::Opened { dir: Dir::Uni } => {
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    self.read(id, connection, reports);
                }
            }
            StreamEvent::Readable { id } => self.read(*id, connection, reports),
            _ => {}
        }
    }

    fn read(&mut self, id: StreamId, connection: &mut Connection, reports: &mut Vec<Report>) {
        let stream = id.index() as usize;
        if stream >= self.streams.len() {
            self.streams.resize_with(stream + 1, Reassembly::default);
        }
        let reassembly = &mut self.streams[stream];
        let before = reassembly.complete;
        let mut receive = connection.recv_stream(id);
        let Ok(mut chunks) = receive.read(false) else { return };
        // An error says that nothing more can be read now, or ever on a stream that was reset.
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            reassembly.add(chunk.offset, chunk.offset + chunk.bytes.len() as u64);
        }
        let _ = chunks.finalize();
        if reassembly.complete > before {
            reports.push(Report::Delivered { stream: stream.into(), offset: reassembly.complete });
        }
    }
}

/// Which bytes of a stream have arrived.
#[derive(Debug, Default)]
struct Reassembly {
    /// All bytes below have.
    complete: u64,
    /// Beyond that, ranges by start: their ends.
    ahead: BTreeMap<u64, u64>,
}

impl Reassembly {
    fn add(&mut self, start: u64, end: u64) {
        if start > self.complete {
            let known = self.ahead.entry(start).or_insert(end);
            *known = end.max(*known);
            return;
        }
        self.complete = self.complete.max(end);
        while let Some(entry) = self.ahead.first_entry() {
            if *entry.key() > self.complete {
                break;
            }
            self.complete = self.complete.max(entry.remove());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_complete_up_to_its_first_gap() {
        let mut stream = Reassembly::default();
        let mut complete = |start, end| {
            stream.add(start, end);
            stream.complete
        };
        assert_eq!(complete(0, 10), 10);
        assert_eq!(complete(20, 30), 10);
        assert_eq!(complete(40, 50), 10);
        assert_eq!(complete(5, 12), 12, "overlaps count once");
        assert_eq!(complete(12, 20), 30);
        assert_eq!(complete(25, 45), 50);
        assert_eq!(complete(0, 7), 50);
    }
}
