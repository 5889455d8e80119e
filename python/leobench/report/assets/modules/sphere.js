// Places over time on the sphere: kilometres in the frame of the Earth, and degrees.

const RADIUS_KM = 6371;

/** A position between two points of a way, in kilometres. */
export function positionAt({ points }, now) {
  const next = points.findIndex((point) => point[0] > now);
  if (next <= 0) return points[next === 0 ? 0 : points.length - 1].slice(1);
  const [one, two] = [points[next - 1], points[next]];
  const share = (now - one[0]) / (two[0] - one[0] || 1);
  const mixed = [1, 2, 3].map((axis) => one[axis] + share * (two[axis] - one[axis]));
  // A chord cuts below the orbit: the distance from the centre is interpolated instead.
  const size = Math.hypot(...mixed);
  const height = Math.hypot(...one.slice(1)) * (1 - share) + Math.hypot(...two.slice(1)) * share;
  return mixed.map((value) => (value * height) / size);
}

/** Latitude and longitude in degrees, and the height in radii. */
export function onEarth([x, y, z]) {
  const size = Math.hypot(x, y, z);
  return { lat: (Math.asin(z / size) * 180) / Math.PI, lng: (Math.atan2(y, x) * 180) / Math.PI, altitude: Math.max(0, size / RADIUS_KM - 1) };
}
