// pure: how long a ping takes over a distance

/** Milliseconds in the access network at both ends. */
const ACCESS_MS = 4
/**
 * Light in fibre makes 200 km in a millisecond; routes are about 1.6 times the great circle (our choice); there and
 * back.
 */
const MS_PER_KM = (2 * 1.6) / 200

/** Milliseconds there and back: about 20 over 1000 km, about 100 across the Atlantic. */
export const roundTripMs = (km: number): number => ACCESS_MS + km * MS_PER_KM
