//! Attenuation by oxygen and water vapour (Recommendation ITU-R P.676-12): specific attenuation line by line (annex 1), on
//! a slant path by the approximations of annex 2.

use leobench_base::quantity::{Column, Frequency, Pressure, Temperature, VapourDensity};
use leobench_base::spec::Fault;

use super::Path;
use super::lines::{OXYGEN, WATER};
use crate::free_space::sin_deg;

/// Height in km over which the water vapour of the reference atmosphere falls by e (Recommendation ITU-R P.835-6,
/// equation 6).
const VAPOUR_SCALE_KM: f64 = 2.0;

/// Reference of the approximation of water vapour (P.676-12, annex 2, section 2.3): frequency in GHz, pressure in hPa.
const REFERENCE: (f64, f64) = (20.6, 845.0);

leobench_base::spec! {
    /// Oxygen and water vapour (ITU-R P.676-12). The defaults are the mean annual global reference atmosphere at sea level
    /// (ITU-R P.835-6).
    pub struct GasSpec : Default check = check {
        /// Air temperature at the ground.
        pub temperature: Temperature = Temperature::constant(288.15),
        /// Pressure of dry air at the ground.
        pub pressure: Pressure = Pressure::constant(1013.25),
        /// Density of water vapour at the ground.
        pub vapour: VapourDensity = VapourDensity::constant(7.5),
        /// Total column of water vapour; 2 km of the density at the ground if not given, as in the reference atmosphere.
        pub column: Option<Column>,
    }
}

impl GasSpec {
    fn column_kg_per_m2(&self) -> f64 {
        let reference = self.vapour.g_per_m3() * VAPOUR_SCALE_KM;
        self.column.map_or(reference, Column::kg_per_m2)
    }
}

/// The approximation takes the logarithm of the column.
fn check(spec: &GasSpec) -> Result<(), Fault> {
    if spec.column_kg_per_m2() > 0.0 {
        return Ok(());
    }
    let field = if spec.column.is_some() { "column" } else { "vapour" };
    Err(Fault::new(
        field,
        "is zero",
        "an amount of water vapour above zero, such as \"0.1 g/m3\" or \"0.2 kg/m2\"",
    ))
}

/// Air at one place: the pressure of its dry part in hPa, its temperature in K, its water vapour in g/m3.
#[derive(Clone, Copy, Debug)]
pub struct Air {
    /// Pressure of dry air in hPa.
    pub dry_hpa: f64,
    /// Temperature in K.
    pub kelvin: f64,
    /// Water vapour in g/m3.
    pub vapour: f64,
}

impl Air {
    fn theta(&self) -> f64 {
        300.0 / self.kelvin
    }

    /// Partial pressure of water vapour in hPa (annex 1, equation 4).
    fn vapour_hpa(&self) -> f64 {
        self.vapour * self.kelvin / 216.7
    }

    /// Specific attenuation of oxygen and dry air in dB/km at `ghz` (annex 1, equations 1, 2a, 3, 5 to 9).
    pub fn oxygen(&self, ghz: f64) -> f64 {
        let (p, e, theta) = (self.dry_hpa, self.vapour_hpa(), self.theta());
        let lines = OXYGEN.iter().map(|[line, a1, a2, a3, a4, a5, a6]| {
            let strength = a1 * 1e-7 * p * libm::pow(theta, 3.0) * libm::exp(a2 * (1.0 - theta));
            let width = a3 * 1e-4 * (p * libm::pow(theta, 0.8 - a4) + 1.1 * e * theta);
            let width = (width * width + 2.25e-6).sqrt();
            let overlap = (a5 + a6 * theta) * 1e-4 * (p + e) * libm::pow(theta, 0.8);
            strength * shape(ghz, *line, width, overlap)
        });
        0.1820 * ghz * (lines.sum::<f64>() + self.continuum(ghz))
    }

    /// The dry continuum (annex 1, equations 8 and 9).
    fn continuum(&self, ghz: f64) -> f64 {
        let (p, theta) = (self.dry_hpa, self.theta());
        let width = 5.6e-4 * (p + self.vapour_hpa()) * libm::pow(theta, 0.8);
        let relative = ghz / width;
        let debye = 6.14e-5 / (width * (1.0 + relative * relative));
        let nitrogen = 1.4e-12 * p * libm::pow(theta, 1.5) / (1.0 + 1.9e-5 * libm::pow(ghz, 1.5));
        ghz * p * theta * theta * (debye + nitrogen)
    }

    /// Specific attenuation of water vapour in dB/km at `ghz` (annex 1, equations 1, 2b, 3, 5 and 6).
    pub fn water(&self, ghz: f64) -> f64 {
        let (p, e, theta) = (self.dry_hpa, self.vapour_hpa(), self.theta());
        let lines = WATER.iter().map(|[line, b1, b2, b3, b4, b5, b6]| {
            let strength = b1 * 0.1 * e * libm::pow(theta, 3.5) * libm::exp(b2 * (1.0 - theta));
            let width = b3 * 1e-4 * (p * libm::pow(theta, *b4) + b5 * e * libm::pow(theta, *b6));
            let doppler = 2.1316e-12 * line * line / theta;
            let width = 0.535 * width + (0.217 * width * width + doppler).sqrt();
            strength * shape(ghz, *line, width, 0.0)
        });
        0.1820 * ghz * lines.sum::<f64>()
    }

    /// Equivalent height of oxygen in km (annex 2, equations 30 to 34).
    fn oxygen_height(&self, ghz: f64) -> f64 {
        let pressure = (self.dry_hpa + self.vapour_hpa()) / 1013.25;
        let distance = (ghz - 59.7) / (2.87 + 12.4 * libm::exp(-7.9 * pressure));
        let complex =
            5.1040 / (1.0 + 0.066 * libm::pow(pressure, -2.3)) * libm::exp(-distance * distance);
        let lines = HEIGHT_LINES.iter().map(|(weight, line)| {
            let square = (ghz - line) * (ghz - line);
            weight * libm::exp(2.12 * pressure) / (square + 0.025 * libm::exp(2.2 * pressure))
        });
        let (square, cube) = (ghz * ghz, ghz * ghz * ghz);
        let continuum = 0.0114 * ghz / (1.0 + 0.14 * libm::pow(pressure, -2.6))
            * (15.02 * square - 1353.0 * ghz + 5.333e4)
            / (cube - 151.3 * square + 9629.0 * ghz - 6803.0);
        let warmth = 0.7832 + 0.00709 * (self.kelvin - 273.15);
        let height = 6.1 * warmth / (1.0 + 0.17 * libm::pow(pressure, -1.1))
            * (1.0 + complex + lines.sum::<f64>() + continuum);
        if ghz < 70.0 { height.min(10.7 * libm::pow(pressure, 0.3)) } else { height }
    }
}

/// The lines in the equivalent height of oxygen: weight, and frequency in GHz (annex 2, Table 3).
const HEIGHT_LINES: [(f64, f64); 7] = [
    (0.1597, 118.750_334),
    (0.1066, 368.498_246),
    (0.1325, 424.763_020),
    (0.1242, 487.249_273),
    (0.0938, 715.392_902),
    (0.1448, 773.839_490),
    (0.1374, 834.145_546),
];

/// The shape of a line (annex 1, equation 5).
fn shape(ghz: f64, line: f64, width: f64, overlap: f64) -> f64 {
    let wing = |offset: f64| (width - overlap * offset) / (offset * offset + width * width);
    ghz / line * (wing(line - ghz) + wing(line + ghz))
}

/// Oxygen and water vapour at one frequency.
#[derive(Clone, Debug)]
pub struct Gas {
    ghz: f64,
    oxygen_db: f64,
    water_db: f64,
}

impl Gas {
    /// The gases that `spec` describes, at `frequency` (1 to 350 GHz).
    pub fn new(spec: &GasSpec, frequency: Frequency) -> Self {
        let ghz = frequency.ghz();
        let ground = Air {
            dry_hpa: spec.pressure.hpa(),
            kelvin: spec.temperature.kelvin(),
            vapour: spec.vapour.g_per_m3(),
        };
        Self {
            ghz,
            oxygen_db: ground.oxygen(ghz) * ground.oxygen_height(ghz),
            water_db: zenith_water(ghz, spec.column_kg_per_m2()),
        }
    }

    /// Attenuation in dB: that of the zenith over the sine of the elevation (annex 2, section 2.2), which
    /// overestimates below 5 degrees. Infinite at and below the horizon.
    pub fn attenuation_db(&self, path: &Path) -> f64 {
        if path.elevation_deg <= 0.0 {
            return f64::INFINITY;
        }
        let water = self.water_db * height_factor(self.ghz, path.altitude_km);
        (self.oxygen_db + water) / sin_deg(path.elevation_deg)
    }
}

/// Zenith attenuation in dB of a column of water vapour in kg/m2, at sea level (annex 2, section 2.3).
fn zenith_water(ghz: f64, column: f64) -> f64 {
    let (reference_ghz, reference_hpa) = REFERENCE;
    let density = column / 2.38;
    let celsius = 14.0 * libm::log(0.22 * column / 2.38) + 3.0;
    let air = Air { dry_hpa: reference_hpa, kelvin: celsius + 273.15, vapour: density };
    0.0176 * column * air.water(ghz) / air.water(reference_ghz)
}

/// Factor of a terminal's altitude, limited to 0 to 4 km, on the attenuation by water vapour.
fn height_factor(ghz: f64, altitude_km: f64) -> f64 {
    if ghz < 20.0 {
        return 1.0;
    }
    let bell = |centre: f64, width: f64| {
        let distance = (ghz - centre) / width;
        libm::exp(-distance * distance)
    };
    let a = 0.2048 * bell(22.43, 3.097) + 0.2326 * bell(183.5, 4.096) + 0.2073 * bell(325.0, 3.651)
        - 0.1113;
    let b = 8.741e4 * libm::exp(-0.587 * ghz) + 312.2 * libm::pow(ghz, -2.38) + 0.723;
    a * libm::pow(altitude_km.clamp(0.0, 4.0), b) + 1.0
}
