// pure: a part of a crowd that is like the whole
import type { Crowd } from '../crowd/crowd.js'

/** Shortest stretch that is cut out: in less, hardly anybody finds a match before it ends. */
const SHORTEST_MS = 10 * 60_000
/** Most stretches: one for each hour of a day. */
const MOST = 24
/** A part with fewer parties would tell nothing. */
const FEWEST = 200

/**
 * A crowd of a share of the time, with as many coming a minute: stretches from all over the crowd, one after another,
 * so that nights and evenings have their parts. A crowd that is too small for that stays whole. The result does not say
 * of itself how it was made: it cannot be made again by another seed.
 */
export function shortCrowd(crowd: Crowd, share: number): Crowd {
  const { durationMs } = crowd.header
  const count = Math.min(MOST, Math.max(1, Math.floor((durationMs * share) / SHORTEST_MS)))
  const every = durationMs / count
  const length = Math.floor(every * share)
  const parties = crowd.parties.flatMap((party) => {
    const stretch = Math.min(count - 1, Math.floor(party.at / every))
    // From the middle of each: its beginning is emptier than the rest where ever more come.
    const into = party.at - Math.floor(stretch * every + (every - length) / 2)
    return into >= 0 && into < length ? [{ ...party, at: stretch * length + into }] : []
  })
  const { made: _, ...header } = crowd.header
  if (share >= 1 || parties.length < FEWEST) return { header, parties: crowd.parties }
  return { header: { ...header, durationMs: count * length }, parties }
}
