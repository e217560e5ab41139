import type { Clock } from '@muster/core/clock'
import type { Inspection, ServerSurvey, Survey, Surveyed } from '@muster/matchmaker'
import type { AllocationView } from '@muster/matchmaker/internal'
import type { ConsoleMatchmaker } from './options.js'
import { guestsByServer } from './server-list.js'

const MOST_FORMING = 50

/** The survey from the leader's inspection: without locations of waiting players and without relaxation steps. */
function surveyedBy({ queues, matches, servers, pools, blockedBy }: Inspection, now: number): Surveyed {
  const forming = matches.filter(
    ({ phase, pool, stopReason }) => pool === undefined && phase !== 'running' && stopReason === undefined,
  )
  return {
    queues: queues.map(({ name, paused, searching, players, longestWaitMs }) => {
      const tickets = Object.values(searching).reduce((sum, count) => sum + count, 0)
      const oldest = tickets === 0 ? undefined : now - longestWaitMs
      return { name, paused, tickets, players, oldest, relaxed: [] }
    }),
    areas: [],
    nowhere: 0,
    forming: forming.slice(0, MOST_FORMING).map(({ matchId, queue, phase, playerIds, at }) => ({
      matchId,
      queue,
      phase,
      players: playerIds.length,
      foundAt: at,
      area: undefined,
    })),
    formingCount: forming.length,
    servers: serversIn(matches),
    gameServers: servers.map(({ pool, state, playersIn }) => ({ pool, state, servers: 1, players: playersIn })),
    pools,
    blockedBy,
  }
}

/** A match on a server of a pool has no deployment of its own: its players count there. */
function serversIn(matches: readonly AllocationView[]): ServerSurvey[] {
  const guests = guestsByServer(matches)
  return matches.flatMap((one) => (one.hosted === undefined ? serverOf(one, guests.get(one.matchId)) : []))
}

const serverOf = (server: AllocationView, guests: readonly AllocationView[] = []): ServerSurvey => {
  const { phase, assignment } = server
  const { city, latitude, longitude } = assignment?.location ?? {}
  const place = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
  const players = [server, ...guests].reduce((sum, { playerIds }) => sum + playerIds.length, 0)
  return { phase, city, place, servers: 1, players }
}

/** Number of tickets in a step: well under a millisecond of work. */
const STEP = 10_000
/** Milliseconds between two steps. */
const REST_MS = 50
/** A survey is followed by a rest this many times as long as its work, so that surveys take at most 1 % of a core. */
const REST_FACTOR = 100
/** Milliseconds between two queries to another process. */
const ASK_EVERY_MS = 5000

/** Surveys waiting players and servers regularly, at a low cost regardless of their number. */
export function createSurveyor(
  { survey, inspect }: Pick<ConsoleMatchmaker, 'survey' | 'inspect'>,
  clock: Clock,
  failed: (error: unknown) => void,
  signal: AbortSignal,
) {
  let latest: Surveyed | undefined
  let seesAll = survey !== undefined
  let underWay: Promise<void> | undefined
  let askedAt = Number.NEGATIVE_INFINITY

  /** Epoch milliseconds before which no survey starts. */
  let restsUntil = Number.NEGATIVE_INFINITY
  let workMs = 0
  /** Does a part of the work. Returns false once all is done. */
  const nextStep = (walk: Survey): boolean => {
    const begun = clock.now()
    const hasMore = walk.step(STEP)
    if (!hasMore) latest = walk.result()
    workMs += clock.now() - begun
    if (!hasMore) restsUntil = clock.now() + workMs * REST_FACTOR
    return hasMore
  }
  const rest = async (walk: Survey) => {
    do await clock.sleep(REST_MS, signal)
    while (nextStep(walk))
  }
  const ask = async () => {
    if (clock.now() - askedAt < ASK_EVERY_MS) return
    askedAt = clock.now()
    latest = surveyedBy(await inspect(), clock.now())
  }

  const begin = (): Promise<void> | undefined => {
    if (clock.now() < restsUntil) return undefined
    const walk = survey?.()
    seesAll = walk !== undefined
    if (walk === undefined) return ask()
    workMs = 0
    return nextStep(walk) ? rest(walk) : undefined
  }

  return {
    /** The last survey; undefined before the first. */
    latest: () => latest,
    /** True if locations and relaxation steps are known: only if the matchmaker is in this process. */
    seesAll: () => seesAll,
    /** Surveys again, unless a survey is running. Resolves once it is complete: immediately if few wait. */
    survey: async (): Promise<void> => {
      if (underWay !== undefined) return underWay
      try {
        underWay = begin()?.catch(failed)
        await underWay
      } catch (error) {
        failed(error)
      } finally {
        underWay = undefined
      }
    },
  }
}
