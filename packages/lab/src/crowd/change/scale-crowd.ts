import { InvalidInput } from '@muster/core'
import type { Crowd, CrowdParty } from '../crowd.js'
import { readSeed } from '../generate/parameters.js'
import { createStreams, type Streams } from '../generate/streams.js'
import { idWith, inOrder, near, peopleOf, withIds } from './copies.js'

/** Bounds of the factor. */
const LEAST = 0.1
const MOST = 10
/** Most milliseconds by which a copy comes earlier or later than its original (our choice: little in a day's curve). */
const MOVED_MS = 30 * 60_000

/**
 * Makes a crowd smaller or larger. Parties are left out by chance; or copies are added, with ids of their own, who live
 * near their originals (about 10 km) and come up to half an hour earlier or later (up to a quarter of the crowd's time,
 * if that is less), so that nobody is matched with the own copy. Copies have the attributes of their originals and do
 * what these do. Parties of the same people stay together.
 * @param factor 0.1 to 10.
 * @throws {InvalidInput} also if nobody would be left
 */
export function scaleCrowd(crowd: Crowd, factor: number, seed = 1): Crowd {
  if (!(factor >= LEAST && factor <= MOST)) {
    throw new InvalidInput(`scale: must be from ${LEAST} to ${MOST}, got ${factor}`, { field: 'scale' })
  }
  const streams = createStreams(readSeed(seed))
  const { durationMs } = crowd.header
  const parties = crowd.parties.flatMap((party) => {
    const chance = streams('copy', peopleOf(party))()
    const many = Math.floor(factor) + (chance < factor % 1 ? 1 : 0)
    return Array.from({ length: many }, (_, copy) => (copy === 0 ? party : copyOf(party, copy, durationMs, streams)))
  })
  if (parties.length === 0) {
    throw new InvalidInput(`scale: ${factor} leaves none of ${crowd.parties.length} parties`, { field: 'scale' })
  }
  const { made: _, ...header } = crowd.header
  return { header, parties: inOrder(parties) }
}

function copyOf(party: CrowdParty, copy: number, durationMs: number, streams: Streams): CrowdParty {
  const people = peopleOf(party) + copy
  const mostMs = Math.min(MOVED_MS, durationMs / 4)
  const at = mirrored(party.at + Math.round((2 * streams('arrival', people)() - 1) * mostMs), durationMs)
  const place = streams('place', people)
  const copied = withIds(party, (id) => idWith(id, '', `~${copy + 1}`))
  return { ...copied, at, players: copied.players.map((player) => near(player, place)) }
}

/** Who would come before the beginning or after the end comes as long after or before it. */
const mirrored = (at: number, durationMs: number): number =>
  Math.max(0, Math.min(durationMs - 1, at < 0 ? -at : at >= durationMs ? 2 * durationMs - 1 - at : at))
