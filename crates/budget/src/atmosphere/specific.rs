//! Specific attenuation of rain (Recommendation ITU-R P.838-3).

use crate::free_space::cos_deg;

leobench_base::words! {
    /// The polarisation of a wave.
    pub enum Polarisation {
        /// Linear and horizontal at the earth station.
        Horizontal = "horizontal",
        /// Linear and vertical at the earth station.
        Vertical = "vertical",
        /// Circular.
        Circular = "circular",
    }
}

impl Polarisation {
    /// The tilt from the horizontal in degrees; 45 for circular polarisation (P.838-3, below equation 5).
    pub const fn tilt_deg(self) -> f64 {
        match self {
            Self::Horizontal => 0.0,
            Self::Vertical => 90.0,
            Self::Circular => 45.0,
        }
    }
}

/// A sum of Gaussian terms (a, b, c) and a line (m, c) over log10 f.
struct Fit<const N: usize> {
    terms: [[f64; 3]; N],
    slope: f64,
    offset: f64,
}

impl<const N: usize> Fit<N> {
    /// The sum in equations 2 and 3.
    fn at(&self, log_ghz: f64) -> f64 {
        let terms = self.terms.iter().map(|[a, b, c]| {
            let distance = (log_ghz - b) / c;
            a * libm::exp(-distance * distance)
        });
        terms.sum::<f64>() + self.slope * log_ghz + self.offset
    }
}

/// Table 1: log10 of kH.
const K_H: Fit<4> = Fit {
    terms: [
        [-5.33980, -0.10008, 1.13098],
        [-0.35351, 1.26970, 0.45400],
        [-0.23789, 0.86036, 0.15354],
        [-0.94158, 0.64552, 0.16817],
    ],
    slope: -0.18961,
    offset: 0.71147,
};

/// Table 2: log10 of kV.
const K_V: Fit<4> = Fit {
    terms: [
        [-3.80595, 0.56934, 0.81061],
        [-3.44965, -0.22911, 0.51059],
        [-0.39902, 0.73042, 0.11899],
        [0.50167, 1.07319, 0.27195],
    ],
    slope: -0.16398,
    offset: 0.63297,
};

/// Table 3: αH.
const ALPHA_H: Fit<5> = Fit {
    terms: [
        [-0.14318, 1.82442, -0.55187],
        [0.29591, 0.77564, 0.19822],
        [0.32177, 0.63773, 0.13164],
        [-5.37610, -0.96230, 1.47828],
        [16.1721, -3.29980, 3.43990],
    ],
    slope: 0.67849,
    offset: -1.95537,
};

/// Table 4: αV.
const ALPHA_V: Fit<5> = Fit {
    terms: [
        [-0.07771, 2.33840, -0.76284],
        [0.56727, 0.95545, 0.54039],
        [-0.20238, 1.14520, 0.26809],
        [-48.2991, 0.791_669, 0.116_226],
        [48.5833, 0.791_459, 0.116_479],
    ],
    slope: -0.053_739,
    offset: 0.83433,
};

/// The coefficients of both linear polarisations at one frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// k for horizontal polarisation (equation 2).
    pub k_h: f64,
    /// k for vertical polarisation (equation 2).
    pub k_v: f64,
    /// α for horizontal polarisation (equation 3).
    pub alpha_h: f64,
    /// α for vertical polarisation (equation 3).
    pub alpha_v: f64,
}

impl Coefficients {
    /// The coefficients at `frequency_ghz`, from 1 to 1000 GHz.
    pub fn at(frequency_ghz: f64) -> Self {
        let log = libm::log10(frequency_ghz);
        Self {
            k_h: libm::pow(10.0, K_H.at(log)),
            k_v: libm::pow(10.0, K_V.at(log)),
            alpha_h: ALPHA_H.at(log),
            alpha_v: ALPHA_V.at(log),
        }
    }

    /// k and α of a path at `elevation_deg` and a polarisation tilted by `tilt_deg` (equations 4 and 5).
    pub fn on_path(&self, elevation_deg: f64, tilt_deg: f64) -> (f64, f64) {
        let cos = cos_deg(elevation_deg);
        let weight = cos * cos * cos_deg(2.0 * tilt_deg);
        let (high, low) = (self.k_h * self.alpha_h, self.k_v * self.alpha_v);
        let k = (self.k_h + self.k_v + (self.k_h - self.k_v) * weight) / 2.0;
        (k, (high + low + (high - low) * weight) / (2.0 * k))
    }
}

/// Specific attenuation in dB/km of rain at `rate_mm_per_h`: k R^α (equation 1).
pub fn specific_attenuation(k: f64, alpha: f64, rate_mm_per_h: f64) -> f64 {
    k * libm::pow(rate_mm_per_h, alpha)
}
