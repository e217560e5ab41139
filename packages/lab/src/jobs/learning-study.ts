import { seededRandom } from '@muster/core/clock'
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { CROWD_FORMAT, type Crowd, type CrowdPlayer } from '../crowd/index.js'
import { runCrowd } from '../run/index.js'
import { meanAndDeviation, normal, rounded, spreadOf } from '../statistics/index.js'
import { createRatingBook, type RatingBook, type RatingOptions } from '../ratings/rating-book.js'

/** The players of a study, their number of matches, and the rules by which they are matched. */
export interface LearningStudy {
  readonly players: number
  /** Number of matches of each player. */
  readonly matches: number
  readonly seed: number
  /** The rules of the queue, which has two teams of five. */
  readonly rules: QueueDefinition['rules']
  /** Options of the ratings. Default: those of `createRatingBook`, except that 20 % of the players are new. */
  readonly ratings?: RatingOptions | undefined
}

/**
 * Root mean square error of mu against the true skill. It is 25/3 before anything is known. Undefined if there are no
 * such players.
 */
interface RatingErrors {
  /** Error of all players who started as new. */
  readonly newcomers: number | undefined
  /** Error of new players who are better than five of six players: new accounts of strong players. */
  readonly smurfs: number | undefined
  /** Error of players who had been rated before. */
  readonly settled: number | undefined
}

export interface LearningResult {
  /** The errors, by the number of matches after which they were measured. */
  readonly errors: Readonly<Record<number, RatingErrors>>
  /** Average true probability that the stronger team of a match wins. */
  readonly favourite: number
  /** The same average, only for matches of newcomers among their first ten. */
  readonly favouriteOfNewcomers: number
  /** Median and 90th percentile of the wait in seconds. */
  readonly waitS: readonly [half: number, most: number]
  readonly matches: number
}

const CHECKPOINTS = [10, 30, 100]
const PLAY_MS = 120_000
/** True skill from which newcomers count as smurfs, in standard deviations above the average. */
const STRONG = 1
const MU = 25
const SIGMA = 25 / 3

/**
 * Lets each player play the given number of matches by a queue's rules, and measures how well the ratings then
 * distinguish players.
 */
export async function studyLearning(study: LearningStudy): Promise<LearningResult> {
  const { seed, rules, ratings } = study
  const crowd = crowdOf(study)
  const options = { seed, newcomers: 0.2, ...ratings }
  const everybody = crowd.parties.flatMap((party) => party.players)
  const { mean, deviation } = meanAndDeviation(everybody.map(({ truth }) => truth as number))
  const notes = noting(createRatingBook(crowd, options), ({ truth = 0 }) => (truth - mean) / deviation)
  const queue = defineQueue({
    name: 'ranked',
    teams: [{ name: 'team', count: 2, size: 5 }],
    rules,
    expireAfterMs: 600_000,
    deploy: { application: 'game', version: '1' },
  })
  const outcome = await runCrowd(crowd, [queue], { seed, tickMs: 1000, ratings: notes.book })
  const waits = spreadOf(Float64Array.from(notes.waits), 0)
  const { experience } = notes.book.figures()
  const favouriteOf = (names: readonly string[]) => {
    const some = experience.filter(({ name }) => names.includes(name))
    const count = some.reduce((sum, one) => sum + one.players, 0)
    return rounded(some.reduce((sum, one) => sum + one.players * one.favourite.mean, 0) / count, 3)
  }
  return {
    errors: notes.errors(),
    favourite: favouriteOf(experience.map(({ name }) => name)),
    favouriteOfNewcomers: favouriteOf(['first 5', '5–9']),
    waitS: [rounded(waits.p50 / 1000, 1), rounded(waits.p90 / 1000, 1)],
    matches: outcome.matches.length,
  }
}

/** Creates single players who play one match after another. Their true skill is normally distributed. */
function crowdOf({ players, matches, seed }: LearningStudy): Crowd {
  const random = seededRandom(seed)
  return {
    header: { format: CROWD_FORMAT, startsAt: 0, durationMs: PLAY_MS },
    parties: Array.from({ length: players }, (_, nth) => ({
      id: `party-${nth}`,
      at: Math.floor((PLAY_MS * nth) / players),
      players: [{ id: `player-${nth}`, coordinates: { latitude: 50, longitude: 9 }, truth: normal(random) }],
      visits: Array.from({ length: matches }, () => ({
        patienceMs: 600_000,
        playMs: Math.round(PLAY_MS * (0.75 + 0.5 * random())),
        breakMs: 0,
      })),
    })),
  }
}

/**
 * Records how far ratings are from skill after certain numbers of matches. @param skillOf in standard deviations above
 * the average.
 */
function noting(book: RatingBook, skillOf: (player: CrowdPlayer) => number) {
  const played = new Map<string, number>()
  const isNew = new Map<string, boolean>()
  const waits: number[] = []
  const squares = CHECKPOINTS.map(() => ({
    newcomers: [] as number[],
    smurfs: [] as number[],
    settled: [] as number[],
  }))
  const note = (player: CrowdPlayer) => {
    const count = (played.get(player.id) ?? 0) + 1
    played.set(player.id, count)
    const sums = squares[CHECKPOINTS.indexOf(count)]
    if (sums === undefined) return
    const skill = skillOf(player)
    const square = ((book.queued([player])[0]?.mu ?? MU) - MU - SIGMA * skill) ** 2
    const isNewcomer = isNew.get(player.id) === true
    sums[isNewcomer ? 'newcomers' : 'settled'].push(square)
    if (isNewcomer && skill > STRONG) sums.smurfs.push(square)
  }
  const rootMean = (some: readonly number[]) =>
    some.length === 0 ? undefined : rounded(Math.sqrt(some.reduce((sum, square) => sum + square, 0) / some.length), 2)
  return {
    waits,
    book: {
      queued: (players) => {
        const known = book.queued(players)
        for (const [nth, { id }] of players.entries())
          if (!isNew.has(id)) isNew.set(id, (known[nth]?.sigma ?? 0) > SIGMA - 1)
        return known
      },
      played: (teams) => {
        const names = book.played(teams)
        for (const { players, waitMs } of teams.flatMap(({ tickets }) => tickets))
          for (const player of players) {
            waits.push(waitMs)
            note(player)
          }
        return names
      },
      figures: () => book.figures(),
    } satisfies RatingBook,
    errors: (): LearningResult['errors'] => {
      const reached = squares.filter(({ newcomers, settled }) => newcomers.length + settled.length > 0)
      return Object.fromEntries(
        reached.map(({ newcomers, smurfs, settled }, at) => [
          CHECKPOINTS[at] as number,
          { newcomers: rootMean(newcomers), smurfs: rootMean(smurfs), settled: rootMean(settled) },
        ]),
      )
    },
  }
}
