//! Always the same bitrate.

use leobench_base::spec::Whole;

use super::{Adaptation, AdaptationContext, AdaptationModel, PlayerView};

leobench_base::spec! {
    /// Always the same bitrate of the ladder.
    pub struct FixedSpec example = r#"{"rung": 0}"# {
        /// Its number in the ladder, from 0.
        pub rung: Whole<0, 1_000>,
    }
}

impl AdaptationModel for FixedSpec {
    fn build(&self, _: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        Ok(Box::new(Fixed(self.rung.get() as usize)))
    }
}

#[derive(Debug)]
struct Fixed(usize);

impl Adaptation for Fixed {
    fn choose(&mut self, _view: &PlayerView<'_>) -> Result<usize, String> {
        Ok(self.0)
    }
}
