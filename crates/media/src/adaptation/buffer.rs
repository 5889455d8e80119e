//! The bitrate as a function of the buffer alone.

use leobench_base::spec::Fault;

use super::{Adaptation, AdaptationContext, AdaptationModel, PlayerView};

leobench_base::spec! {
    /// A bitrate that rises with the buffer, whatever the throughput (BBA-0 of Huang et al. 2014, algorithm 1).
    ///
    /// The lowest within the reservoir, the highest beyond reservoir and cushion, on a line in between; it changes once the line
    /// has passed the next bitrate. The defaults are the paper's 90 and 126 s of 240 s.
    pub struct BufferSpec: Default check = BufferSpec::check {
        /// Share of `most_buffer` within which the lowest bitrate is used.
        pub reservoir: f64 = 0.375,
        /// Share of it over which the bitrate rises.
        pub cushion: f64 = 0.525,
    }
}

impl BufferSpec {
    fn check(&self) -> Result<(), Fault> {
        for (field, share) in [("reservoir", self.reservoir), ("cushion", self.cushion)] {
            if !(share > 0.0 && share < 1.0) {
                return Err(Fault::new(field, "is not a share", "a number between 0 and 1"));
            }
        }
        if self.reservoir + self.cushion > 1.0 {
            let problem = "ends beyond the longest buffer, together with the reservoir";
            return Err(Fault::new("cushion", problem, "at most 1 in all"));
        }
        Ok(())
    }
}

impl AdaptationModel for BufferSpec {
    fn build(&self, _: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        Ok(Box::new(Buffer(self.clone())))
    }
}

#[derive(Debug)]
struct Buffer(BufferSpec);

impl Adaptation for Buffer {
    fn choose(&mut self, view: &PlayerView<'_>) -> Result<usize, String> {
        let highest = view.ladder.len() - 1;
        let Some(last) = view.last else { return Ok(0) };
        let [reservoir, cushion] =
            [self.0.reservoir, self.0.cushion].map(|share| share * view.most_buffer_s);
        if view.buffer_s <= reservoir {
            return Ok(0);
        }
        if view.buffer_s >= reservoir + cushion {
            return Ok(highest);
        }
        let [first, top] = [view.ladder[0], view.ladder[highest]];
        let line = first + (top - first) * (view.buffer_s - reservoir) / cushion;
        Ok(if line >= view.ladder[(last + 1).min(highest)] {
            view.ladder.iter().rposition(|rate| *rate < line).unwrap_or(0)
        } else if line <= view.ladder[last.saturating_sub(1)] {
            view.ladder.iter().position(|rate| *rate > line).unwrap_or(highest)
        } else {
            last
        })
    }
}
