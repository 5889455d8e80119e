use proptest::prelude::*;

use crate::frame::{Epoch, Geodetic, LIGHT_SPEED, Site, State, Vector};

/// Vallado, Fundamentals of Astrodynamics and Applications (4th ed.), example 3-3: 34.352496 N, 46.4464 E, 5085.22 km.
#[test]
fn geodetic_coordinates_are_those_of_the_textbook() {
    let place = Geodetic::from_ecef(Vector::new(6_524_834.0, 6_862_875.0, 6_448_296.0));
    assert!((place.latitude.degrees() - 34.352_496).abs() < 1e-6);
    assert!((place.longitude.degrees() - 46.446_4).abs() < 1e-4);
    assert!((place.altitude_m - 5_085_220.0).abs() < 10.0);
}

/// Poles and equator follow from the ellipsoid's axes alone.
#[test]
fn the_axes_of_the_ellipsoid_are_met() {
    let pole = Geodetic::from_degrees(90.0, 0.0, 0.0).to_ecef();
    assert!((pole.z - 6_356_752.314_245).abs() < 1e-5 && pole.x.abs() < 1e-5);
    let equator = Geodetic::from_degrees(0.0, 90.0, 100.0).to_ecef();
    assert!((equator.y - 6_378_237.0).abs() < 1e-6);
    let back = Geodetic::from_ecef(Vector::new(0.0, 0.0, -6_356_752.314_245));
    assert!((back.latitude.degrees() + 90.0).abs() < 1e-9 && back.altitude_m.abs() < 1e-5);
}

#[test]
fn the_four_winds_and_the_zenith_are_where_they_belong() {
    let site = Site::new(&Geodetic::from_degrees(0.0, 0.0, 0.0), Vector::default());
    let at = |y, z, x| {
        let position = site.position() + Vector::new(x, y, z);
        site.look(&State { position, velocity: Vector::new(0.0, 7.0, 0.0) })
    };
    assert!((at(0.0, 1e3, 0.0).azimuth.degrees()).abs() < 1e-12);
    let east = at(1e3, 0.0, 0.0);
    assert!((east.azimuth.degrees() - 90.0).abs() < 1e-12);
    assert!((east.range_rate - 7.0).abs() < 1e-12);
    assert!((east.doppler(12e9) + 7.0 / LIGHT_SPEED * 12e9).abs() < 1e-6);
    assert!((at(-1e3, 0.0, 0.0).azimuth.degrees() - 270.0).abs() < 1e-12);
    assert!((at(0.0, 0.0, 1e3).elevation.degrees() - 90.0).abs() < 1e-12);
    assert!((at(0.0, 0.0, 299_792.458).delay_s() - 1e-3).abs() < 1e-15);
}

/// The velocity in the frame that turns is the derivative of the position in it.
#[test]
fn the_turn_of_the_earth_is_in_the_velocity() {
    let state =
        State { position: Vector::new(4e6, -5e6, 2e6), velocity: Vector::new(3e3, 5e3, -4e3) };
    let epoch = Epoch::parse("2024-07-15T06:00:00").unwrap();
    let at = |millis: u64, back: f64| {
        let moved = state.position + state.velocity * (millis as f64 * 1e-3 - back);
        let time = leobench_base::SimDuration::from_millis(millis);
        State { position: moved, ..state }.to_ecef(epoch.after(time))
    };
    let difference = (at(2_000, 1.0).position - at(0, 1.0).position) * 0.5;
    assert!((difference - at(1_000, 1.0).velocity).norm() < 1e-2);
    // A wrong sign of the turn is a difference of a kilometre per second.
    assert!((state.velocity.norm() - at(1_000, 1.0).velocity.norm()).abs() > 100.0);
}

proptest! {
    #[test]
    fn places_come_back(latitude in -90.0..90.0f64, longitude in -180.0..180.0f64, altitude in -1e3..4e7f64) {
        let place = Geodetic::from_degrees(latitude, longitude, altitude);
        let back = Geodetic::from_ecef(place.to_ecef());
        prop_assert!((back.latitude.degrees() - latitude).abs() < 1e-9);
        prop_assert!((back.altitude_m - altitude).abs() < 1e-4);
        prop_assert!((back.to_ecef() - place.to_ecef()).norm() < 1e-4);
    }

    #[test]
    fn states_come_back(x in -1e7..1e7f64, y in -1e7..1e7f64, vx in -1e4..1e4f64, days in 0..20_000i64) {
        let state = State { position: Vector::new(x, y, 7e6), velocity: Vector::new(vx, 1e3, -2e3) };
        let at = Epoch::from_unix_nanos(days * 86_400_000_000_000 + 12_345);
        let back = state.to_ecef(at).to_teme(at);
        prop_assert!((back.position - state.position).norm() < 1e-6);
        prop_assert!((back.velocity - state.velocity).norm() < 1e-9);
    }
}
