//! Between standard normal numbers and values of the quantity.

use super::ProcessSpec;

impl ProcessSpec {
    /// The value of a standard normal number.
    pub fn warp(&self, z: f64) -> f64 {
        let bent = libm::sinh((libm::asinh(z) + self.skewness) / self.tail);
        self.floor + libm::exp(self.location + self.scale * bent)
    }

    /// The standard normal number of a value, and the logarithm of its slope there (dz per unit of the value). `None`
    /// if the value cannot be: it is at the floor or below.
    pub fn unwarp(&self, value: f64) -> Option<(f64, f64)> {
        let above = value - self.floor;
        if above.is_nan() || above <= 0.0 {
            return None;
        }
        let bent = (libm::log(above) - self.location) / self.scale;
        let angle = self.tail * libm::asinh(bent) - self.skewness;
        let slope = libm::cosh(angle) * self.tail / (self.scale * (1.0 + bent * bent).sqrt());
        Some((libm::sinh(angle), libm::log(slope / above)))
    }
}
