import type { Random } from '@muster/core/clock'
import type { CrowdParty, CrowdPlayer } from '../crowd.js'
import { normal } from '../generate/distributions.js'
import { hashOf } from '../generate/streams.js'

/** Longest id of a player or a party. */
const LONGEST_ID = 128

/** The id of a copy. A long one is shortened, and told apart by its hash. */
export function idWith(id: string, before: string, after: string): string {
  const whole = `${before}${id}${after}`
  if (whole.length <= LONGEST_ID) return whole
  return `${before}${id.slice(0, LONGEST_ID - 16 - before.length)}~${hashOf(id).toString(16)}${after}`
}

/** The party with ids of its own for itself and its players, also where players avoid one another. */
export function withIds(party: CrowdParty, rename: (id: string) => string): CrowdParty {
  const players = party.players.map((player) => ({
    ...player,
    id: rename(player.id),
    ...(player.avoid !== undefined && { avoid: player.avoid.map(rename) }),
  }))
  return { ...party, id: rename(party.id), players }
}

/** A number for the people of a party, so that all parties of the same people are treated alike. */
export const peopleOf = ({ players }: CrowdParty): number =>
  hashOf(players.reduce((least, { id }) => (id < least ? id : least), players[0]?.id ?? ''))

/** Deviation of a copy's home from that of its original, in degrees: about 10 km (our choice). */
const MOVED_DEGREES = 0.1
/** Deviation of a copy's latencies, in milliseconds (our choice: as two measurements differ). */
const MOVED_MS = 2

/** A player who lives near another one. */
export function near({ coordinates, latencies, ...player }: CrowdPlayer, random: Random): CrowdPlayer {
  const moved = (degrees: number, most: number) => {
    const to = Math.round((degrees + MOVED_DEGREES * normal(random)) * 100) / 100
    return Math.max(-most, Math.min(most, to))
  }
  return {
    ...player,
    ...(coordinates !== undefined && {
      coordinates: { latitude: moved(coordinates.latitude, 90), longitude: moved(coordinates.longitude, 180) },
    }),
    ...(latencies !== undefined && {
      latencies: Object.fromEntries(
        Object.entries(latencies).map(([beacon, ms]) => [
          beacon,
          Math.max(1, Math.round(ms + MOVED_MS * normal(random))),
        ]),
      ),
    }),
  }
}

/** Parties in the order in which they come. */
export const inOrder = (parties: readonly CrowdParty[]): CrowdParty[] =>
  parties.toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1))
