"""Write skyfield-looks.csv: where skyfield sees satellites from three places over a day.

pip install skyfield==1.55 && python skyfield_looks.py
"""

from pathlib import Path

from sgp4.io import fix_checksum
from skyfield.api import EarthSatellite, load, wgs84

HERE = Path(__file__).parent
SETS = {
    "low": (
        "1 44713U 19074A   24197.00000000  .00001000  00000-0  80000-4 0  999",
        "2 44713  53.0541 120.1234 0001400  85.0000 275.1000 15.0639000025000",
    ),
    "polar": (
        "1 44057U 19010A   24196.50000000  .00000100  00000-0  20000-4 0  999",
        "2 44057  87.9100  33.5000 0002000  90.0000 270.2000 13.1600000025000",
    ),
    "eccentric": (
        "1 25544U 98067A   24197.25000000  .00012000  00000-0  22000-3 0  999",
        "2 25544  51.6400 210.0000 0200000 120.0000  45.0000 15.3000000045000",
    ),
}
PLACES = {
    "louvain": (50.67, 4.61, 150.0),
    "kanazawa": (36.56, 136.66, 60.0),
    "brisbane": (-27.47, 153.02, 30.0),
}


def main() -> None:
    """Look every 20 minutes of 15 July 2024."""
    timescale = load.timescale(builtin=True)
    lines = []
    for name, pair in SETS.items():
        first, second = (fix_checksum(line) for line in pair)
        lines += [f"# {first}", f"# {second}"]
        satellite = EarthSatellite(first, second, name, timescale)
        for place, (latitude, longitude, altitude) in PLACES.items():
            ground = wgs84.latlon(latitude, longitude, altitude)
            for minute in range(0, 1440, 20):
                at = timescale.utc(2024, 7, 15, 0, minute)
                sight = (satellite - ground).at(at)
                elevation, azimuth, distance, _, _, rate = sight.frame_latlon_and_rates(ground)
                numbers = [azimuth.degrees, elevation.degrees, distance.km, rate.km_per_s]
                lines.append(",".join([place, str(minute), *(f"{number:.7f}" for number in numbers)]))
    (HERE / "skyfield-looks.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
