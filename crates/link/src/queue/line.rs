//! Packets in order of arrival, counted.

use std::collections::VecDeque;

use leobench_base::Descriptor;

use super::Backlog;

/// Waiting packets, the first to come in front.
#[derive(Debug, Default)]
pub(crate) struct Line {
    packets: VecDeque<Descriptor>,
    backlog: Backlog,
}

impl Line {
    /// Appends a packet.
    pub fn push(&mut self, packet: Descriptor) {
        self.backlog.add(packet.meta.size);
        self.packets.push_back(packet);
    }

    /// Takes the first packet.
    pub fn pop(&mut self) -> Option<Descriptor> {
        let packet = self.packets.pop_front()?;
        self.backlog.remove(packet.meta.size);
        Some(packet)
    }

    /// Hands out the packets that leave, in order.
    pub fn withdraw(
        &mut self,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) -> Backlog {
        let mut gone = Backlog::default();
        for _ in 0..self.packets.len() {
            let Some(packet) = self.packets.pop_front() else { break };
            if leaves(&packet) {
                gone.add(packet.meta.size);
                out.push(packet);
            } else {
                self.packets.push_back(packet);
            }
        }
        self.backlog.packets -= gone.packets;
        self.backlog.bytes -= gone.bytes;
        gone
    }

    /// How much waits.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Hands out every packet in order.
    pub fn flush(&mut self, out: &mut Vec<Descriptor>) {
        self.backlog = Backlog::default();
        out.extend(self.packets.drain(..));
    }
}
