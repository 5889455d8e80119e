"""Write scipy-routes.csv: delays over +grids by scipy.sparse.csgraph, from positions computed here.

pip install numpy==2.4.6 scipy==1.17.1 && python scipy_routes.py
"""

from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

HERE = Path(__file__).parent
RADIUS = 6378.137
GRAVITY = 398600.4418
LIGHT = 299792.458
AIR = 80.0
# Name, altitude, inclination, planes, satellites per plane, phasing, degrees of nodes, longest link.
SHELLS = [
    ("starlink", 550.0, 53.0, 72, 22, 65, 360.0, 5016.0),
    ("kuiper", 630.0, 51.9, 34, 34, 7, 360.0, 1250.0),
    ("iridium", 780.0, 86.4, 6, 11, 3, 189.6, 4100.0),
]
SECONDS = (0.0, 1234.0, 4321.0)
# Satellites with a way down, and its delay in milliseconds.
EXITS = ((3, 2.5), (40, 4.0))


def positions(
    altitude: float, tilt: float, planes: int, each: int, phasing: int, around: float, now: float
) -> np.ndarray:
    """Return the positions of a shell in km, plane by plane."""
    radius = RADIUS + altitude
    plane, slot = (axis.ravel() for axis in np.meshgrid(np.arange(planes), np.arange(each), indexing="ij"))
    node = np.radians(around / planes * plane)
    u = 2 * np.pi * (slot / each + phasing * plane / (planes * each)) + np.sqrt(GRAVITY / radius**3) * now
    tilt = np.radians(tilt)
    return radius * np.stack(
        [
            np.cos(u) * np.cos(node) - np.sin(u) * np.cos(tilt) * np.sin(node),
            np.cos(u) * np.sin(node) + np.sin(u) * np.cos(tilt) * np.cos(node),
            np.sin(u) * np.sin(tilt),
        ],
        axis=1,
    )


def pairs(planes: int, each: int, phasing: int, around: float) -> set[tuple[int, int]]:
    """Return the links: to the next in the plane, and to the nearest in phase in the next plane."""
    found = set()
    for plane in range(planes):
        for slot in range(each):
            own = plane * each + slot
            found.add(tuple(sorted((own, plane * each + (slot + 1) % each))))
            if plane + 1 == planes and around != 360.0:
                continue
            beyond = (plane + 1) % planes
            turns = slot / each + phasing * plane / (planes * each)
            others = (np.arange(each) / each + phasing * beyond / (planes * each) - turns) % 1.0
            # Half a slot ahead and behind are equally near: the one behind counts.
            apart = np.where(others > 0.5, 1.0 - others, others + 1e-9)
            found.add(tuple(sorted((own, beyond * each + int(np.argmin(apart))))))
    return found


def main() -> None:
    """Write the delay from every 7th satellite to the exits' destination, or -1 without a way."""
    lines = []
    for name, altitude, tilt, planes, each, phasing, around, longest in SHELLS:
        for now in SECONDS:
            at = positions(altitude, tilt, planes, each, phasing, around, now)
            ends = np.array(sorted(pairs(planes, each, phasing, around)))
            from_, to = at[ends[:, 0]], at[ends[:, 1]]
            length = np.linalg.norm(to - from_, axis=1)
            closest = np.linalg.norm((from_ + to) / 2, axis=1)
            usable = (length <= longest) & (closest >= RADIUS + AIR)
            total = planes * each
            rows = [*ends[usable, 0], *(total for _ in EXITS)]
            columns = [*ends[usable, 1], *(exit_ for exit_, _ in EXITS)]
            delays = [*(length[usable] / LIGHT * 1e3), *(delay for _, delay in EXITS)]
            graph = coo_array((delays, (rows, columns)), shape=(total + 1, total + 1)).tocsr()
            found = dijkstra(graph, directed=False, indices=total)[:-1]
            found[np.isinf(found)] = -1.0
            lines += [f"{name},{now:.0f},{index},{found[index]:.9f}" for index in range(0, total, 7)]
    (HERE / "scipy-routes.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
