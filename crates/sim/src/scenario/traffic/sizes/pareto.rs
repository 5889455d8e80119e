//! Heavy-tailed sizes.

use leobench_base::spec::{Fault, Range};
use leobench_base::{Bytes, SimRng};

use super::{SizeModel, check_size};

leobench_base::spec! {
    /// A bounded Pareto law: density in proportion to `x^(-shape - 1)` between the smallest and the largest size.
    ///
    /// (Harchol-Balter 2013, "Performance Modeling and Design of Computer Systems", chapter 20.)
    pub struct ParetoSpec example = r#"{"shape": 1.2, "least": "10 kB", "most": "100 MB"}"#
        check = ParetoSpec::check
    {
        /// Shape: the smaller, the heavier the tail.
        pub shape: f64 [Range::above(0.0).to(100.0)],
        /// Smallest size.
        pub least: Bytes,
        /// Largest size.
        pub most: Bytes,
    }
}

impl ParetoSpec {
    fn check(&self) -> Result<(), Fault> {
        check_size("least", self.least)?;
        check_size("most", self.most)?;
        if self.least >= self.most {
            let problem = format!("is not above `least`, {}", self.least);
            return Err(Fault::new("most", problem, "more than `least`"));
        }
        Ok(())
    }

    /// Both bounds as numbers.
    fn bounds(&self) -> [f64; 2] {
        [self.least, self.most].map(|size| size.get() as f64)
    }
}

impl SizeModel for ParetoSpec {
    /// Draws by inversion of `F(x) = (1 - (l/x)^a) / (1 - (l/h)^a)`.
    fn draw(&self, rng: &mut SimRng) -> Option<f64> {
        let [least, most] = self.bounds();
        let whole = 1.0 - libm::pow(least / most, self.shape);
        let drawn = least * libm::pow(1.0 - rng.unit() * whole, -1.0 / self.shape);
        Some(drawn.min(most))
    }

    fn mean(&self) -> Option<f64> {
        let ([least, most], shape) = (self.bounds(), self.shape);
        let ratio = least / most;
        let whole = 1.0 - libm::pow(ratio, shape);
        if (shape - 1.0).abs() < 1e-9 {
            return Some(-least * libm::log(ratio) / whole);
        }
        let rest = 1.0 - libm::pow(ratio, shape - 1.0);
        Some(shape / (shape - 1.0) * least * rest / whole)
    }
}
