use proptest::prelude::*;

use crate::frame::{Angle, Geodetic, Topocentric, Vector, separation};
use crate::visibility::{Dish, GeostationaryArc, Obstructions, View};

fn look(azimuth: f64, elevation: f64) -> Topocentric {
    Topocentric {
        azimuth: Angle::from_degrees(azimuth),
        elevation: Angle::from_degrees(elevation),
        range_m: 1e6,
        range_rate: 0.0,
    }
}

#[test]
fn obstructions_hide_what_is_behind_them() {
    let walls = Obstructions::new(&[50.0, 0.0, 0.0, 10.0]).unwrap();
    assert!(!walls.admits(&look(45.0, 49.0)) && walls.admits(&look(45.0, 51.0)));
    assert!(walls.admits(&look(91.0, 1.0)));
    assert!(!walls.admits(&look(359.999, 9.0)));
    assert!(Obstructions::default().admits(&look(10.0, 0.1)));
    assert!(Obstructions::new(&[91.0]).unwrap_err().contains("from 0 to 90"));
}

#[test]
fn a_tilted_dish_reaches_further_where_it_leans() {
    let view = View {
        dish: Some(Dish {
            azimuth: Angle::from_degrees(0.0),
            elevation: Angle::from_degrees(65.0),
            half_angle: Angle::from_degrees(55.0),
        }),
        ..View::above(Angle::from_degrees(25.0))
    };
    assert!(view.admits(&look(0.0, 25.0)));
    // Over the zenith to the south: 180 - 65 - 55 = 60 degrees.
    assert!(view.admits(&look(180.0, 60.1)) && !view.admits(&look(180.0, 59.9)));
}

/// Seen from the equator, the arc stands upright from east to west. From 45 degrees north, its top is at azimuth 180 and, by
/// plane trigonometry with the place 4517.6 km from the axis and 4487.3 km above the equator, 38.20 degrees high.
#[test]
fn the_arc_is_where_antennas_are_pointed() {
    let equator = GeostationaryArc::new(&Geodetic::from_degrees(0.0, 77.0, 0.0));
    assert!(equator.separation(&look(90.0, 33.3)).degrees() < 0.01);
    assert!((equator.separation(&look(0.0, 60.0)).degrees() - 30.0).abs() < 0.01);
    let north = GeostationaryArc::new(&Geodetic::from_degrees(45.0, 0.0, 0.0));
    assert!(north.separation(&look(180.0, 38.2)).degrees() < 0.01);
    assert!((north.separation(&look(180.0, 60.0)).degrees() - 21.8).abs() < 0.01);
    let pole = GeostationaryArc::new(&Geodetic::from_degrees(89.0, 0.0, 0.0));
    assert!((pole.separation(&look(0.0, 90.0)).degrees() - 180.0).abs() < 1e-9);
}

proptest! {
    /// Against a search over points a hundredth of a degree apart.
    #[test]
    fn separation_is_what_a_fine_search_finds(latitude in -75.0..75.0f64, azimuth in 0.0..360.0f64, elevation in 0.0..90.0f64) {
        let place = Geodetic::from_degrees(latitude, 0.0, 0.0);
        let site = crate::frame::Site::new(&place, Vector::default());
        let direction = look(azimuth, elevation).direction();
        let mut least = 180.0f64;
        for step in -8_200..=8_200 {
            let longitude = f64::from(step) * 0.01f64.to_radians();
            let position = Vector::new(libm::cos(longitude), libm::sin(longitude), 0.0) * 42_164_172.0;
            let seen = site.look(&crate::frame::State { position, velocity: Vector::default() });
            if seen.elevation >= Angle::ZERO {
                least = least.min(separation(direction, seen.direction()).degrees());
            }
        }
        let found = GeostationaryArc::new(&place).separation(&look(azimuth, elevation)).degrees();
        prop_assert!((found - least).abs() < 0.02, "{found} {least}");
    }
}
