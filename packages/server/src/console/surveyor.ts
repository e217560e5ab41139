import type { Clock } from '@muster/core/clock'
import type { Inspection, ServerSurvey, Survey, Surveyed } from '@muster/matchmaker'
import { type AllocationView, ENROLLED } from '@muster/matchmaker/internal'
import type { ConsoleMatchmaker } from './options.js'
import { guestsByServer } from './server-list.js'

const MOST_FORMING = 50

/** Derives a survey from the leader's inspection. It lacks the locations of waiting players, and relaxation steps. */
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

/**
 * Returns the servers with their players. A match on a server of a pool has no own deployment, so its players count on
 * that server.
 */
function serversIn(matches: readonly AllocationView[]): ServerSurvey[] {
  const guests = guestsByServer(matches)
  return matches.flatMap((one) => (one.hosted === undefined ? serverOf(one, guests.get(one.matchId)) : []))
}

const serverOf = (server: AllocationView, guests: readonly AllocationView[] = []): ServerSurvey => {
  const { phase, assignment, source } = server
  const { city, latitude, longitude } = assignment?.location ?? {}
  const place = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
  const players = [server, ...guests].reduce((sum, { playerIds }) => sum + playerIds.length, 0)
  return { phase, isEnrolled: source === ENROLLED, city, place, servers: 1, players }
}

/** Number of tickets that a survey reads in a step: well under a millisecond of work. */
const STEP = 10_000
/** Milliseconds between two steps. */
const REST_MS = 50
/** After a survey, none starts for this multiple of its work time, so that surveys take at most 1 % of a core. */
const REST_FACTOR = 100
/** Milliseconds between two queries to the process that leads. */
const ASK_EVERY_MS = 5000

/** Surveys waiting players and servers when asked. The cost is bounded regardless of their number. */
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

  /** The time before which no survey starts, in milliseconds of the clock. */
  let restsUntil = Number.NEGATIVE_INFINITY
  let workMs = 0
  /** Reads the next part of the tickets. Returns false once the survey is complete. */
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
    /** Returns the last complete survey; undefined before the first. */
    latest: () => latest,
    /** Returns true if locations and relaxation steps are known: only if the matchmaker runs in this process. */
    seesAll: () => seesAll,
    /** Starts a survey, unless one is running or the last one is too recent. Resolves once the survey is complete. */
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
