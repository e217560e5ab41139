// pure: places and distances on the earth

/** A place on the earth, in degrees. */
export interface Coordinates {
  /** −90 (south pole) to 90. */
  readonly latitude: number
  /** −180 to 180, positive east of Greenwich. */
  readonly longitude: number
}

/** The earth as a sphere of its mean radius, in kilometres. The error against the true ellipsoid stays under 0.6 %. */
export const EARTH_RADIUS_KM = 6371

const toRadians = (degrees: number) => (degrees * Math.PI) / 180

/** Kilometres along the surface between two places (haversine): 0 to 20,015. */
export function greatCircleKm(a: Coordinates, b: Coordinates): number {
  const latitudes = Math.sin(toRadians(b.latitude - a.latitude) / 2) ** 2
  const longitudes = Math.sin(toRadians(b.longitude - a.longitude) / 2) ** 2
  const haversine = latitudes + Math.cos(toRadians(a.latitude)) * Math.cos(toRadians(b.latitude)) * longitudes
  // Rounding can make the value of opposite points slightly more than 1, for which asin is NaN.
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.sqrt(Math.min(1, haversine)))
}

/** Whether a value is a latitude: a number of degrees from −90 to 90. */
export const isLatitude = (value: unknown): value is number => typeof value === 'number' && value >= -90 && value <= 90

/** Whether a value is a longitude: a number of degrees from −180 to 180. */
export const isLongitude = (value: unknown): value is number =>
  typeof value === 'number' && value >= -180 && value <= 180
