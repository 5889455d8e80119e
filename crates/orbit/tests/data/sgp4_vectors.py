"""Write sgp4-vectors.txt: the verification vectors of AIAA 2006-6753, as PyPI's `sgp4` ships them.

pip install sgp4==2.27 && python sgp4_vectors.py
"""

import itertools
from pathlib import Path

import sgp4
from sgp4.io import fix_checksum

HERE = Path(__file__).parent
EARTH_RADIUS = 6378.137
# A revolution in three centuries, to make SGP4 report an error: leobench refuses such elements.
NO_ORBIT = 33334


def main() -> None:
    """Join the element sets with the positions and velocities at minutes from their epochs."""
    package = Path(sgp4.__file__).parent
    lines = (package / "SGP4-VER.TLE").read_text().splitlines()
    sets = {}
    for first, second in itertools.pairwise(lines):
        if first.startswith("1 ") and second.startswith("2 "):
            sets.setdefault(int(first[2:7]), (fix_checksum(first[:68]), fix_checksum(second[:68])))
    out, rows = [], []
    satellite = NO_ORBIT
    for line in [*(package / "tcppver.out").read_text().splitlines(), "0 xx"]:
        if line.endswith("xx"):
            if rows and satellite != NO_ORBIT:
                out += [*sets[satellite], *rows]
            satellite, rows = int(line.split()[0]), []
            continue
        numbers = line.split()[:7]
        # Two objects of the report decay; below the ground leobench refuses them.
        if sum(float(x) ** 2 for x in numbers[1:4]) > EARTH_RADIUS**2:
            rows.append(",".join(numbers))
    (HERE / "sgp4-vectors.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
