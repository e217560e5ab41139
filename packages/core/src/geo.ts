// pure: locations and distances on the earth

/** A location on the earth, in degrees. */
export interface Coordinates {
  /** −90 (south pole) to 90. */
  readonly latitude: number
  /** −180 to 180, positive east of Greenwich. */
  readonly longitude: number
}

/** The earth as a sphere of its mean radius, in kilometres. The error against the true ellipsoid stays under 0.6 %. */
export const EARTH_RADIUS_KM = 6371

const toRadians = (degrees: number) => (degrees * Math.PI) / 180

/** Returns the kilometres along the surface between two locations (haversine): 0 to 20,015. */
export function greatCircleKm(a: Coordinates, b: Coordinates): number {
  const latitudes = Math.sin(toRadians(b.latitude - a.latitude) / 2) ** 2
  const longitudes = Math.sin(toRadians(b.longitude - a.longitude) / 2) ** 2
  const haversine = latitudes + Math.cos(toRadians(a.latitude)) * Math.cos(toRadians(b.latitude)) * longitudes
  // Rounding can make the value of opposite points slightly more than 1, for which asin is NaN.
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.sqrt(Math.min(1, haversine)))
}

/** True for a latitude: a number of degrees from −90 to 90. */
export const isLatitude = (value: unknown): value is number => typeof value === 'number' && value >= -90 && value <= 90

/** True for a longitude: a number of degrees from −180 to 180. */
export const isLongitude = (value: unknown): value is number =>
  typeof value === 'number' && value >= -180 && value <= 180

/**
 * Returns the squared chord, on a sphere of radius 1, of two locations `km` apart. Returns Infinity for half the
 * circumference and more.
 */
export const chordSquared = (km: number): number =>
  km >= Math.PI * EARTH_RADIUS_KM ? Infinity : (2 * Math.sin(km / EARTH_RADIUS_KM / 2)) ** 2

/** Returns the kilometres along the surface for a squared chord: the inverse of `chordSquared`. */
export const kmOf = (squared: number): number => 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(squared) / 2))

export function pointOf({ latitude, longitude }: Coordinates): readonly [x: number, y: number, z: number] {
  const up = (latitude * Math.PI) / 180
  const around = (longitude * Math.PI) / 180
  const flat = Math.cos(up)
  return [flat * Math.cos(around), flat * Math.sin(around), Math.sin(up)]
}

const toDegrees = (radians: number) => (radians * 180) / Math.PI

/**
 * Returns the middle of several locations on the sphere. If there is no middle, such as for the two poles, returns the
 * first location. Returns undefined for an empty list. A party's location is the middle of its players' locations.
 */
export function middleOf(places: readonly Coordinates[]): Coordinates | undefined {
  if (places.length < 2) return places[0]
  let [x, y, z] = [0, 0, 0]
  for (const place of places) {
    const point = pointOf(place)
    x += point[0]
    y += point[1]
    z += point[2]
  }
  const flat = x * x + y * y
  if (flat + z * z < 1e-18) return places[0]
  return { latitude: toDegrees(Math.atan2(z, Math.sqrt(flat))), longitude: toDegrees(Math.atan2(y, x)) }
}
