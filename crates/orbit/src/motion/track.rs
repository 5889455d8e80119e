//! Positions of terminals: one place, or a track of points in time (CSV or GPX).

use leobench_base::spec::quoted;
use leobench_base::{SimDuration, SimTime};
use roxmltree::Document;

use super::table::Table;
use crate::error::FileError;
use crate::frame::{Angle, Epoch, Geodetic, Site, Vector, separation};

/// Nothing with a terminal on it is faster: an orbit's speed, in metres per second.
const FASTEST: f64 = 8_000.0;

/// The radius of the ellipsoid's curvature at the poles, in metres: nowhere is it larger.
const LARGEST_CURVATURE: f64 = 6_399_594.0;

/// A point of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    at: SimTime,
    up: Vector,
    altitude: f64,
}

/// The place of something on or above the ground, at any time of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    points: Vec<Point>,
    /// In metres per second.
    fastest: f64,
}

impl Track {
    /// A place that does not move.
    ///
    /// # Errors
    /// If the ellipsoid has no such place, or it lies below the ground.
    pub fn fixed(place: &Geodetic) -> Result<Self, String> {
        place.check()?;
        Ok(Self { points: vec![point(SimTime::ZERO, place)], fastest: 0.0 })
    }

    /// Places at times, in order; before the first and after the last, the place stays. Between two of them, the way is a
    /// great circle at constant speed.
    ///
    /// # Errors
    /// Of the first wrong place: its number, counted from 0, and what is wrong with it.
    pub fn along(places: &[(SimTime, Geodetic)]) -> Result<Self, (usize, String)> {
        let mut track = Self { points: Vec::with_capacity(places.len()), fastest: 0.0 };
        if places.is_empty() {
            return Err((0, "a track has at least one point".to_owned()));
        }
        for (index, (at, place)) in places.iter().enumerate() {
            place.check().map_err(|problem| (index, problem))?;
            let next = point(*at, place);
            if let Some(last) = track.points.last() {
                if last.at >= next.at {
                    return Err((
                        index,
                        format!("time {at} is not after the time of the previous point"),
                    ));
                }
                let speed = last.way_to(&next) / (next.at - last.at).as_secs_f64();
                if speed > FASTEST {
                    let speed = speed / 1e3;
                    return Err((
                        index,
                        format!("{speed:.0} km/s from the previous point; at most 8"),
                    ));
                }
                track.fastest = track.fastest.max(speed);
            }
            track.points.push(next);
        }
        Ok(track)
    }

    /// Reads a track: GPX if it is XML, or CSV with the columns `time` (seconds of the run, or UTC), `latitude`, `longitude`
    /// (degrees) and, on request, `altitude` (metres).
    ///
    /// # Errors
    /// The first line that is wrong, and what would be right.
    pub fn read(file: &str, text: &str, start: Epoch) -> Result<Self, FileError> {
        let (lines, places) = if text.trim_start().starts_with('<') {
            read_gpx(file, text, start)?
        } else {
            read_csv(file, text, start)?
        };
        Self::along(&places).map_err(|(index, problem)| match lines.get(index) {
            Some(&line) => FileError::line(file, line, problem),
            None => FileError::whole(file, problem),
        })
    }

    /// Whether it ever moves.
    pub fn moves(&self) -> bool {
        self.points.len() > 1
    }

    /// The highest speed, in metres per second.
    pub fn fastest(&self) -> f64 {
        self.fastest
    }

    /// The place at a time.
    pub fn place(&self, now: SimTime) -> Geodetic {
        self.between(now).place()
    }

    /// The place with the axes of its sky and its velocity, at a time.
    pub fn site(&self, now: SimTime) -> Site {
        let index = self.points.partition_point(|point| point.at <= now);
        let velocity = match (index.checked_sub(1).map(|i| &self.points[i]), self.points.get(index))
        {
            (Some(_), Some(next)) => {
                let later = (now + SimDuration::from_secs(1)).min(next.at);
                let seconds = (later - now).as_secs_f64();
                (self.between(later).ecef() - self.between(now).ecef()) * (1.0 / seconds)
            }
            _ => Vector::default(),
        };
        Site::new(&self.place(now), velocity)
    }

    fn between(&self, now: SimTime) -> Point {
        let index = self.points.partition_point(|point| point.at <= now);
        let Some(from) = index.checked_sub(1).map(|index| self.points[index]) else {
            return self.points[0];
        };
        let Some(to) = self.points.get(index) else {
            return from;
        };
        let share = (now - from.at).as_secs_f64() / (to.at - from.at).as_secs_f64();
        let arc = separation(from.up, to.up).radians();
        let up = if arc < 1e-9 {
            from.up
        } else {
            let (near, far) = (libm::sin((1.0 - share) * arc), libm::sin(share * arc));
            (from.up * near + to.up * far).unit()
        };
        Point { at: now, up, altitude: from.altitude + share * (to.altitude - from.altitude) }
    }
}

impl Point {
    fn place(&self) -> Geodetic {
        Geodetic {
            latitude: Angle::asin(self.up.z),
            longitude: Angle::atan2(self.up.y, self.up.x),
            altitude_m: self.altitude,
        }
    }

    /// At least the length of the way between two points, in metres.
    fn way_to(&self, to: &Self) -> f64 {
        let height = self.altitude.max(to.altitude).max(0.0);
        separation(self.up, to.up).radians() * (LARGEST_CURVATURE + height)
            + (to.altitude - self.altitude).abs()
    }

    fn ecef(&self) -> Vector {
        self.place().to_ecef()
    }
}

fn point(at: SimTime, place: &Geodetic) -> Point {
    Point { at, up: place.up(), altitude: place.altitude_m }
}

type Places = (Vec<u64>, Vec<(SimTime, Geodetic)>);

fn read_csv(file: &str, text: &str, start: Epoch) -> Result<Places, FileError> {
    let mut table = Table::open(file, text)?;
    let required = |name| table.required(name, "a track has time, latitude, longitude, altitude");
    let (time, latitude, longitude) =
        (required("time")?, required("latitude")?, required("longitude")?);
    let altitude = table.column("altitude");
    let (mut lines, mut places) = (Vec::new(), Vec::new());
    for row in table.rows() {
        let row = row?;
        let altitude = altitude.map_or(Ok(0.0), |column| row.number(column))?;
        let place = Geodetic::from_degrees(row.number(latitude)?, row.number(longitude)?, altitude);
        let at = time_of(row.text(time), start).map_err(|problem| row.error(problem))?;
        lines.push(row.line());
        places.push((at, place));
    }
    Ok((lines, places))
}

fn read_gpx(file: &str, text: &str, start: Epoch) -> Result<Places, FileError> {
    let document = Document::parse(text).map_err(|error| {
        FileError::line(file, u64::from(error.pos().row), format!("not GPX: {error}"))
    })?;
    let (mut lines, mut places) = (Vec::new(), Vec::new());
    for node in document.descendants().filter(|node| node.tag_name().name() == "trkpt") {
        let line = u64::from(document.text_pos_at(node.range().start).row);
        let child = |name: &str| {
            node.children()
                .find(|child| child.tag_name().name() == name)
                .and_then(|child| child.text())
        };
        let number = |name: &str, text: Option<&str>| {
            text.and_then(|text| text.trim().parse::<f64>().ok()).ok_or_else(|| {
                FileError::line(file, line, format!("a track point needs {name} as a number"))
            })
        };
        let altitude = child("ele").map_or(Ok(0.0), |text| number("ele", Some(text)))?;
        let latitude = number("lat", node.attribute("lat"))?;
        let longitude = number("lon", node.attribute("lon"))?;
        let at = child("time").ok_or_else(|| {
            FileError::line(file, line, "a track point needs a time, such as 2026-03-20T10:39:26Z")
        })?;
        let at = time_of(at, start).map_err(|problem| FileError::line(file, line, problem))?;
        lines.push(line);
        places.push((at, Geodetic::from_degrees(latitude, longitude, altitude)));
    }
    Ok((lines, places))
}

/// Seconds of the run, or an instant that is not before its start.
fn time_of(text: &str, start: Epoch) -> Result<SimTime, String> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return if (0.0..1e9).contains(&seconds) {
            Ok(SimTime::ZERO + SimDuration::from_secs_f64(seconds))
        } else {
            Err(format!("time {text} should be seconds from the start of the run, 0 or more"))
        };
    }
    let at = Epoch::parse(text).ok_or_else(|| {
        format!(
            "time should be in seconds, or a date such as 2026-03-20T10:39:26Z, found {}",
            quoted(text)
        )
    })?;
    let nanos = u64::try_from(at.unix_nanos() - start.unix_nanos())
        .map_err(|_| format!("{at} is before the run, which starts at {start}"))?;
    Ok(SimTime::from_nanos(nanos))
}
