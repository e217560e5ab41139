import { InvalidInput } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { groupBy } from '@muster/core/internal'
import type { Crowd, CrowdParty, CrowdPlayer } from './crowd.js'
import {
  createStreams,
  hashOf,
  normal,
  type Streams,
  generateCrowd,
  type CrowdParameters,
  readSeed,
} from './generate/index.js'

/** Maximum number of characters in the id of a player or a party. */
const LONGEST_ID = 128

/** Returns the id of a copy, with a prefix and a suffix. A long id is shortened, and a hash keeps it unique. */
function idWith(id: string, before: string, after: string): string {
  const whole = `${before}${id}${after}`
  if (whole.length <= LONGEST_ID) return whole
  return `${before}${id.slice(0, LONGEST_ID - 16 - before.length)}~${hashOf(id).toString(16)}${after}`
}

/** Returns a party with new ids for itself and its players. Avoid lists get the new ids too. */
function withIds(party: CrowdParty, rename: (id: string) => string): CrowdParty {
  const players = party.players.map((player) => ({
    ...player,
    id: rename(player.id),
    ...(player.avoid !== undefined && { avoid: player.avoid.map(rename) }),
  }))
  return { ...party, id: rename(party.id), players }
}

/**
 * Returns a number that depends only on the players of a party, so that all parties of the same players are treated
 * alike.
 */
const peopleOf = ({ players }: CrowdParty): number =>
  hashOf(players.reduce((least, { id }) => (id < least ? id : least), players[0]?.id ?? ''))

/** Standard deviation of a copy's home from the original's, in degrees: about 10 km (our choice). */
const MOVED_DEGREES = 0.1
/** Standard deviation of a copy's latencies, in milliseconds (our choice): like two measurements of the same player. */
const MOVED_LATENCY_MS = 2

/** Returns a copy of a player who lives near the original. */
function near({ coordinates, latencies, ...player }: CrowdPlayer, random: Random): CrowdPlayer {
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
          Math.max(1, Math.round(ms + MOVED_LATENCY_MS * normal(random))),
        ]),
      ),
    }),
  }
}

/** Sorts parties by arrival. */
const inOrder = (parties: readonly CrowdParty[]): CrowdParty[] =>
  parties.toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1))

/**
 * Cuts a time span out of a crowd. A party that first comes before the span keeps the visits that would begin within it
 * if nobody ever waited. Visits after the span are omitted.
 * @param fromMs and `toMs`: milliseconds from the crowd's start.
 * @throws {InvalidInput} also if nobody comes in the span
 */
export function cutCrowd({ header, parties }: Crowd, fromMs: number, toMs: number): Crowd {
  const { startsAt, durationMs } = header
  const refuse = (words: string) => new InvalidInput(`cut: ${words}`, { field: 'cut' })
  if (!Number.isInteger(fromMs) || !Number.isInteger(toMs) || fromMs < 0 || fromMs >= toMs)
    throw refuse(`fromMs and toMs must be whole numbers from 0 on, with fromMs < toMs, got ${fromMs} to ${toMs}`)
  if (toMs > durationMs) throw refuse(`must end with the crowd at ${durationMs} ms, got ${toMs}`)
  const cut = parties.flatMap((party) => partOf(party, fromMs, toMs))
  if (cut.length === 0) throw refuse(`nobody comes from ${fromMs} to ${toMs} ms`)
  return {
    header: { format: header.format, startsAt: startsAt + fromMs, durationMs: toMs - fromMs },
    parties: inOrder(cut),
  }
}

function partOf(party: CrowdParty, fromMs: number, toMs: number): CrowdParty[] {
  if (party.at >= toMs) return []
  let begin = party.at
  const inside: { readonly begin: number; readonly visit: CrowdParty['visits'][number] }[] = []
  for (const visit of party.visits) {
    if (begin >= fromMs && begin < toMs) inside.push({ begin, visit })
    begin += visit.playMs + (visit.breakMs ?? 0)
  }
  const [first, last] = [inside[0], inside.at(-1)]
  if (first === undefined || last === undefined) return []
  const { breakMs: _, ...ending } = last.visit
  const visits = [...inside.slice(0, -1).map(({ visit }) => visit), ending]
  return [{ ...party, at: first.begin - fromMs, visits }]
}

/**
 * Merges several crowds into one. Each is shifted to the start of the first. Players of different crowds are different:
 * their ids begin with the crowd's number, as in `2.player-7`.
 * @throws {InvalidInput} if no crowd is given
 */
export function mixCrowds(...crowds: readonly Crowd[]): Crowd {
  const [first] = crowds
  if (first === undefined) throw new InvalidInput('crowds: must hold at least one crowd', { field: 'crowds' })
  if (crowds.length === 1) return first
  const parties = crowds.flatMap((crowd, index) =>
    crowd.parties.map((party) => withIds(party, (id) => idWith(id, `${index + 1}.`, ''))),
  )
  const durationMs = Math.max(...crowds.map(({ header }) => header.durationMs))
  return {
    header: { format: first.header.format, startsAt: first.header.startsAt, durationMs },
    parties: inOrder(parties),
  }
}

/**
 * Length of a block in milliseconds (our choice): short compared with the daily curve, and long compared with a wait.
 */
const BLOCK_MS = 10 * 60_000

/**
 * Draws another crowd that was equally likely (bootstrap). The parties of each ten minutes are replaced by as many
 * draws from the same parties, with replacement. A party that is drawn again gets new ids, and comes at another time of
 * the ten minutes.
 * @throws {InvalidInput} for an invalid seed
 */
export function resampleCrowd({ header, parties }: Crowd, seed: number): Crowd {
  const streams = createStreams(readSeed(seed))
  const { made: _, ...rest } = header
  const blocks = groupBy(parties, ({ at }) => Math.floor(at / BLOCK_MS))
  const drawn: CrowdParty[] = []
  for (const [block, choices] of blocks) {
    const [choosing, moving] = [streams('sample', block), streams('arrival', block)]
    const fromMs = block * BLOCK_MS
    const lengthMs = Math.min(BLOCK_MS, header.durationMs - fromMs)
    const copies = new Map<CrowdParty, number>()
    for (let left = choices.length; left > 0; left -= 1) {
      const party = choices[Math.floor(choosing() * choices.length)] as CrowdParty
      const copy = (copies.get(party) ?? 0) + 1
      copies.set(party, copy)
      const at = fromMs + Math.floor(moving() * lengthMs)
      drawn.push(copy === 1 ? party : { ...withIds(party, (id) => idWith(id, '', `~${copy}`)), at })
    }
  }
  return { header: rest, parties: inOrder(drawn) }
}

/** Bounds of the factor of `scaleCrowd`. */
const LEAST = 0.1
const MOST_FACTOR = 10
/**
 * Maximum milliseconds by which a copy comes earlier or later than its original (our choice): short compared with the
 * daily curve.
 */
const MOST_SHIFT_MS = 30 * 60_000

/**
 * Makes a crowd smaller by omitting parties at random, or larger by adding copies with new ids. A copy lives about 10
 * km from its original. It comes up to half an hour earlier or later, so that players are not matched with their own
 * copies. The shift is at most a quarter of the crowd's duration. It has the attributes and the behaviour of its
 * original. Parties of the same players are copied or omitted together.
 * @param factor 0.1 to 10.
 * @throws {InvalidInput} also if the result would be empty
 */
export function scaleCrowd(crowd: Crowd, factor: number, seed = 1): Crowd {
  if (!(factor >= LEAST && factor <= MOST_FACTOR)) {
    throw new InvalidInput(`scale: must be from ${LEAST} to ${MOST_FACTOR}, got ${factor}`, { field: 'scale' })
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
  const mostMs = Math.min(MOST_SHIFT_MS, durationMs / 4)
  const at = mirrored(party.at + Math.round((2 * streams('arrival', people)() - 1) * mostMs), durationMs)
  const place = streams('place', people)
  const copied = withIds(party, (id) => idWith(id, '', `~${copy + 1}`))
  return { ...copied, at, players: copied.players.map((player) => near(player, place)) }
}

/** Mirrors a time before the beginning or after the end of the crowd into its duration. */
const mirrored = (at: number, durationMs: number): number =>
  Math.max(0, Math.min(durationMs - 1, at < 0 ? -at : at >= durationMs ? 2 * durationMs - 1 - at : at))

/**
 * Returns the crowd for another seed. A synthetic crowd is generated again, any other one is resampled. A synthetic
 * crowd with its own seed, and any other one with seed 0, is returned unchanged.
 * @throws {InvalidInput} if the crowd states invalid parameters of its generation
 */
export function crowdFor(source: Crowd, seed: number): Crowd {
  const { made } = source.header
  if (made === undefined) return seed === 0 ? source : resampleCrowd(source, seed)
  return seed === made.seed ? source : generateCrowd(made.parameters as CrowdParameters, seed)
}
