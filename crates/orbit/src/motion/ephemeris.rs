//! The positions of all satellites along a run, in the frame of the Earth.
//!
//! Orbits are evaluated at knots of equal spacing; between two knots, a cubic polynomial has the positions and velocities of
//! both ends (Hermite). Its error is at most h⁴/384 times the fourth derivative, which on an orbit of radius r and angular
//! speed w is about r w⁴: 0.4 m at 550 km with knots a minute apart.

use leobench_base::{SatelliteId, SimDuration, SimTime};

use super::constellation::Constellation;
use super::orbit::OrbitError;
use crate::frame::{Epoch, State, Vector};

/// Between two knots, unless something else is asked for.
pub const SPACING: SimDuration = SimDuration::from_secs(60);

/// All satellites along a run.
///
/// Call [`advance`](Self::advance) first; then [`position`](Self::position) and [`state`](Self::state) are those of that time.
/// Time may also go back; going on is cheaper.
#[derive(Clone, Debug)]
pub struct Ephemeris {
    constellation: Constellation,
    start: Epoch,
    spacing: SimDuration,
    window: u64,
    now: SimTime,
    basis: Basis,
    /// Per satellite, the states at both ends of the window.
    knots: Vec<[State; 2]>,
}

impl Ephemeris {
    /// The satellites of a constellation in a run that starts at an instant.
    ///
    /// # Errors
    /// If a satellite has no orbit then.
    ///
    /// # Panics
    /// With a spacing of zero.
    pub fn new(
        constellation: Constellation,
        start: Epoch,
        spacing: SimDuration,
    ) -> Result<Self, OrbitError> {
        assert!(!spacing.is_zero(), "knots lie apart");
        let count = constellation.satellites().len();
        let mut ephemeris = Self {
            constellation,
            start,
            spacing,
            window: 0,
            now: SimTime::ZERO,
            basis: Basis::default(),
            knots: vec![<[State; 2]>::default(); count],
        };
        ephemeris.evaluate(0)?;
        ephemeris.advance(SimTime::ZERO)?;
        Ok(ephemeris)
    }

    /// The satellites.
    pub fn constellation(&self) -> &Constellation {
        &self.constellation
    }

    /// Number of satellites.
    pub fn len(&self) -> usize {
        self.knots.len()
    }

    /// Whether there are no satellites.
    pub fn is_empty(&self) -> bool {
        self.knots.is_empty()
    }

    /// When the run starts.
    pub fn start(&self) -> Epoch {
        self.start
    }

    /// The time of the last [`advance`](Self::advance).
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The number of the window between knots that the present time is in.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Between two knots.
    pub fn spacing(&self) -> SimDuration {
        self.spacing
    }

    /// Moves to a time.
    ///
    /// # Errors
    /// If a satellite has no orbit at the knots around it.
    pub fn advance(&mut self, now: SimTime) -> Result<(), OrbitError> {
        let window = now.as_nanos() / self.spacing.as_nanos();
        if window != self.window {
            self.evaluate(window)?;
        }
        self.now = now;
        let into = now.as_nanos() % self.spacing.as_nanos();
        let share = into as f64 / self.spacing.as_nanos() as f64;
        self.basis = Basis::new(share, self.spacing.as_secs_f64());
        Ok(())
    }

    /// The position of a satellite now, in metres.
    pub fn position(&self, satellite: SatelliteId) -> Vector {
        let [from, to] = &self.knots[satellite.index()];
        let [a, b, c, d] = self.basis.position;
        from.position * a + from.velocity * b + to.position * c + to.velocity * d
    }

    /// The state of a satellite now.
    pub fn state(&self, satellite: SatelliteId) -> State {
        let [from, to] = &self.knots[satellite.index()];
        let [a, b, c, d] = self.basis.velocity;
        State {
            position: self.position(satellite),
            velocity: from.position * a + from.velocity * b + to.position * c + to.velocity * d,
        }
    }

    /// The state of a satellite at any time, from its orbit itself.
    ///
    /// # Errors
    /// If it has no orbit then.
    pub fn exact(&self, satellite: SatelliteId, at: SimTime) -> Result<State, OrbitError> {
        self.constellation.state(satellite, self.start.at(at))
    }

    /// The position of a satellite in the middle of the present window, in metres.
    pub(crate) fn middle(&self, satellite: SatelliteId) -> Vector {
        let [from, to] = &self.knots[satellite.index()];
        let eighth = self.spacing.as_secs_f64() / 8.0;
        (from.position + to.position) * 0.5 + (from.velocity - to.velocity) * eighth
    }

    /// The states of a satellite at both ends of the present window.
    pub(crate) fn ends(&self, satellite: SatelliteId) -> &[State; 2] {
        &self.knots[satellite.index()]
    }

    fn evaluate(&mut self, window: u64) -> Result<(), OrbitError> {
        let at = |knot: u64| self.start.at(SimTime::ZERO + self.spacing * knot);
        let (from, to) = (at(window), at(window + 1));
        let follows = window == self.window + 1;
        for (index, knots) in self.knots.iter_mut().enumerate() {
            let satellite = SatelliteId::from(index);
            let first =
                if follows { knots[1] } else { self.constellation.state(satellite, from)? };
            *knots = [first, self.constellation.state(satellite, to)?];
        }
        self.window = window;
        Ok(())
    }
}

/// Weights of the four values at the ends of a window: position, velocity, position, velocity.
#[derive(Clone, Copy, Debug, Default)]
struct Basis {
    position: [f64; 4],
    velocity: [f64; 4],
}

impl Basis {
    /// At a share of a window that takes some seconds.
    fn new(share: f64, seconds: f64) -> Self {
        let (u, v) = (share, 1.0 - share);
        Self {
            position: [
                (1.0 + 2.0 * u) * v * v,
                u * v * v * seconds,
                u * u * (3.0 - 2.0 * u),
                -u * u * v * seconds,
            ],
            velocity: [
                -6.0 * u * v / seconds,
                v * (1.0 - 3.0 * u),
                6.0 * u * v / seconds,
                u * (3.0 * u - 2.0),
            ],
        }
    }
}
