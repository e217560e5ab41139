// pure: how long a ping takes over a distance

/** Milliseconds spent in the access networks at both ends. */
const ACCESS_MS = 4
/**
 * Milliseconds of round trip per kilometre of great circle: light travels 200 km per millisecond in fibre, routes are
 * about 1.6 times the great circle (our choice), and the way counts twice.
 */
const MS_PER_KM = (2 * 1.6) / 200

/** The round-trip time in milliseconds: about 20 over 1000 km, about 100 across the Atlantic. */
export const roundTripMs = (km: number): number => ACCESS_MS + km * MS_PER_KM
