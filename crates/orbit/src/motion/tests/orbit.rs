use leobench_base::SimDuration;

use crate::frame::{Angle, EQUATOR_RADIUS, Epoch, State, Vector};
use crate::motion::orbit::{GRAVITY, J2};
use crate::motion::{CircularElements, CircularOrbit};

fn elements(altitude: f64, inclination: f64) -> CircularElements {
    CircularElements {
        altitude_m: altitude * 1e3,
        inclination: Angle::from_degrees(inclination),
        node: Angle::from_degrees(40.0),
        argument: Angle::from_degrees(10.0),
    }
}

fn later(seconds: u64) -> Epoch {
    Epoch::J2000.after(SimDuration::from_secs(seconds))
}

/// Kepler's third law by hand: 550 km gives 95.65 minutes and 7.585 km/s.
#[test]
fn two_bodies_keep_the_third_law() {
    let orbit = CircularOrbit::new(&elements(550.0, 53.0), Epoch::J2000, false);
    assert!((orbit.period_s() / 60.0 - 95.65).abs() < 0.01, "{}", orbit.period_s());
    let state = orbit.state(later(1_000));
    assert!((state.velocity.norm() - 7_585.2).abs() < 1.0);
    assert!((state.position.norm() - 6_928_137.0).abs() < 1e-3);
    let difference = orbit.state(later(1_001)).position - orbit.state(later(999)).position;
    assert!((difference * 0.5 - state.velocity).norm() < 0.01);
}

/// An orbit that keeps its angle to the Sun turns once a year: at 560 km that needs 97.6 degrees (Starlink's polar shells).
#[test]
fn a_sun_synchronous_plane_turns_once_a_year() {
    let orbit = CircularOrbit::new(&elements(560.0, 97.6), Epoch::J2000, true);
    let per_day = orbit.node_rate.to_degrees() * 86_400.0;
    assert!((per_day - 360.0 / 365.2422).abs() < 0.01, "{per_day}");
}

/// The closed form against a numerical integration of the Earth's field with J2 (Runge-Kutta, 2 s), over one day: the
/// short-period terms that the mean rates leave out stay below 25 km along the orbit, where J2 in all moves the satellite by
/// more than 600 km.
#[test]
fn drift_follows_the_integrated_field() {
    let orbit = CircularOrbit::new(&elements(550.0, 53.0), Epoch::J2000, true);
    let without = CircularOrbit::new(&elements(550.0, 53.0), Epoch::J2000, false);
    let normal = |state: State| state.position.cross(state.velocity).unit();
    let mut state = orbit.state(Epoch::J2000);
    for _ in 0..43_200 {
        state = runge_kutta(state, 2.0);
    }
    let (closed, plain) = (orbit.state(later(86_400)), without.state(later(86_400)));
    let tilt = Angle::acos(normal(state).dot(normal(closed))).degrees();
    let tilt_plain = Angle::acos(normal(state).dot(normal(plain))).degrees();
    assert!(tilt < 0.03 && tilt_plain > 3.0, "{tilt} {tilt_plain}");
}

fn runge_kutta(state: State, step: f64) -> State {
    let slope = |state: State| (state.velocity, field(state.position));
    let moved = |(velocity, acceleration): (Vector, Vector), share: f64| State {
        position: state.position + velocity * (share * step),
        velocity: state.velocity + acceleration * (share * step),
    };
    let one = slope(state);
    let two = slope(moved(one, 0.5));
    let three = slope(moved(two, 0.5));
    let four = slope(moved(three, 1.0));
    let mean = |a: Vector, b: Vector, c: Vector, d: Vector| (a + (b + c) * 2.0 + d) * (1.0 / 6.0);
    moved((mean(one.0, two.0, three.0, four.0), mean(one.1, two.1, three.1, four.1)), 1.0)
}

/// The acceleration of a point mass with J2 (Vallado, equation 8-25).
fn field(position: Vector) -> Vector {
    let radius = position.norm();
    let pull = -GRAVITY / (radius * radius * radius);
    let factor = 1.5 * J2 * (EQUATOR_RADIUS / radius) * (EQUATOR_RADIUS / radius);
    let polar = 5.0 * position.z * position.z / (radius * radius);
    Vector::new(
        pull * position.x * (1.0 + factor * (1.0 - polar)),
        pull * position.y * (1.0 + factor * (1.0 - polar)),
        pull * position.z * (1.0 + factor * (3.0 - polar)),
    )
}
