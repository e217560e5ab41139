import { seededRandom, type Random } from '@muster/core/clock'

/** What random numbers are drawn for. Each party has a stream of its own for each purpose. */
export type Purpose =
  | 'size'
  | 'arrival'
  | 'city'
  | 'place'
  | 'access'
  | 'jitter'
  | 'skill'
  | 'seen'
  | 'role'
  | 'platform'
  | 'queue'
  | 'patience'
  | 'accept'
  | 'play'
  | 'leave'
  | 'return'
  | 'break'
  | 'copy'
  | 'sample'

/**
 * The random numbers of one purpose and one party, e.g. the patience of party 17. They depend on nothing else, so
 * another mix of parties or other latencies leave everybody's patience as it was.
 */
export type Streams = (purpose: Purpose, party: number) => Random

/** @param seed whole number from 0 to 2³² − 1. */
export function createStreams(seed: number): Streams {
  const root = mixed(seed ^ 0x9e3779b9)
  const roots = new Map<Purpose, number>()
  const rootOf = (purpose: Purpose) => {
    const known = roots.get(purpose) ?? mixed(root + hashOf(purpose))
    roots.set(purpose, known)
    return known
  }
  return (purpose, party) => seededRandom(mixed(rootOf(purpose) ^ Math.imul(party + 1, 0x85ebca6b)))
}

/** Mixes 32 bits so that each bit depends on all of them (the end of MurmurHash3, public domain). */
function mixed(bits: number): number {
  let hash = bits | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A number from 0 to 2³² − 1 for a text (FNV-1a). */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
