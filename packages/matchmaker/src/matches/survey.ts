import { type Coordinates, InvalidInput } from '@muster/core'
import { levelAt, type Slot } from '@muster/kernel'
import {
  ENROLLED,
  type Allocator,
  type PoolPlaceView,
  type Server,
  type ServerPhase,
  type ServerState,
  type ServerView,
} from '@muster/hosting/internal'
import type { Match, QueueRuntime, TicketRecord } from '../tickets/index.js'
import type { Inspection } from './inspection.js'

/** Divides the earth into numbered areas, each `degrees` high and wide. */
function createAreas(degrees: number) {
  const rows = Math.ceil(180 / degrees)
  const columns = Math.ceil(360 / degrees)
  const within = (index: number, count: number) => Math.min(count - 1, Math.max(0, Math.floor(index)))
  /** Returns the middle of a row or column. The last row and column may be narrower. */
  const middle = (index: number, all: number) => (index * degrees + Math.min(all, (index + 1) * degrees)) / 2
  return {
    of: ({ latitude, longitude }: Coordinates) =>
      within((latitude + 90) / degrees, rows) * columns + within((longitude + 180) / degrees, columns),
    middleOf: (area: number) => ({
      latitude: middle(Math.floor(area / columns), 180) - 90,
      longitude: middle(area % columns, 360) - 180,
    }),
  }
}

interface SurveyDeps {
  readonly runtimes: Iterable<QueueRuntime>
  /** Searching tickets that are in no pool. */
  readonly outside: Iterable<TicketRecord>
  readonly matches: Iterable<Match>
  readonly allocator: Pick<Allocator, 'servers' | 'find' | 'blockedBy' | 'gameServers' | 'pools'>
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Creates a survey, which counts waiting players, matches and servers. @throws {InvalidInput} naming the option */
export function createSurvey(deps: SurveyDeps, { areaDegrees = 3, mostForming = 50 }: SurveyOptions = {}): Survey {
  if (!(areaDegrees >= 0.5 && areaDegrees <= 30)) {
    throw new InvalidInput(`option areaDegrees: must be from 0.5 to 30, got ${areaDegrees}`, { field: 'areaDegrees' })
  }
  const areas = createAreas(areaDegrees)
  const queues = new Map(Array.from(deps.runtimes, (runtime) => [runtime, emptyQueue(runtime)]))
  const byArea = new Map<number, { players: number; oldest: number }>()
  /** Counts by phase and place. */
  const servers = new Map<string, Mutable<ServerSurvey>>()
  /** Counts by pool and state. */
  const gameServers = new Map<string, Mutable<GameServerSurvey>>()
  const forming: FormingSurvey[] = []
  let formingCount = 0
  let nowhere = 0

  /**
   * Counts a searching ticket in a queue.
   * @param slot the ticket's slot in the queue's pool; undefined if the ticket is not in the pool.
   */
  const countIn = (runtime: QueueRuntime, { createdAt, players }: TicketRecord, slot?: Slot) => {
    const seen = queues.get(runtime)
    if (seen === undefined) return
    seen.tickets += 1
    seen.players += players.length
    seen.oldest = Math.min(seen.oldest ?? createdAt, createdAt)
    const level =
      slot === undefined
        ? levelAt(runtime.compiled.model.levels, deps.now() - createdAt)
        : runtime.pool.levelOf(slot, deps.now())
    seen.byLevel[level] = (seen.byLevel[level] as number) + 1
  }
  const countPlace = ({ place, players, createdAt }: TicketRecord) => {
    if (place === undefined) {
      nowhere += players.length
      return
    }
    const area = areas.of(place)
    const seen = byArea.get(area)
    if (seen === undefined) {
      byArea.set(area, { players: players.length, oldest: createdAt })
      return
    }
    seen.players += players.length
    if (createdAt < seen.oldest) seen.oldest = createdAt
  }

  const countForming = (match: Match) => {
    if (match.phase === 'running' || match.phase === 'over') return
    formingCount += 1
    if (forming.length >= mostForming) return
    const { matchId, queue, seated, phase, foundAt } = match
    forming.push({
      matchId,
      queue: queue.name,
      phase: phase === 'deploying' ? (deps.allocator.find(matchId)?.phase ?? 'creating') : phase,
      players: seated.reduce((sum, { players }) => sum + players.length, 0),
      foundAt,
      area: areaOf(seated),
    })
  }
  const areaOf = (seated: readonly TicketRecord[]): Coordinates | undefined => {
    const counts = new Map<number, number>()
    for (const { place, players } of seated) {
      if (place !== undefined) counts.set(areas.of(place), (counts.get(areas.of(place)) ?? 0) + players.length)
    }
    const [most] = [...counts].toSorted(([, one], [, other]) => other - one)
    return most && areas.middleOf(most[0])
  }
  const countGameServer = ({ pool, state, playersIn }: ServerView) => {
    const key = `${state} ${pool ?? ''}`
    const seen = gameServers.get(key) ?? { pool, state, servers: 0, players: 0 }
    seen.servers += 1
    seen.players += playersIn
    gameServers.set(key, seen)
  }
  const countServer = ({ phase, assignment, guests, source }: Server) => {
    const isEnrolled = source === ENROLLED
    const playerIds = [...guests].flatMap((match) => match.playerIds)
    const { city, latitude, longitude } = assignment?.location ?? {}
    const key = `${phase} ${isEnrolled} ${latitude} ${longitude}`
    const place = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
    const seen = servers.get(key) ?? { phase, isEnrolled, city, place, servers: 0, players: 0 }
    seen.servers += 1
    seen.players += playerIds.length
    servers.set(key, seen)
  }

  function* walk(): Generator<undefined> {
    for (const runtime of queues.keys()) {
      for (let slot = 0; slot < runtime.records.length; slot += 1) {
        const record = runtime.records[slot]
        if (record?.status === 'SEARCHING') {
          countIn(runtime, record, slot)
          if (record.runtimes[0] === runtime) countPlace(record)
        }
        yield
      }
    }
    for (const record of deps.outside) {
      for (const runtime of record.runtimes) countIn(runtime, record)
      countPlace(record)
      yield
    }
    for (const match of deps.matches) {
      countForming(match)
      yield
    }
    for (const server of deps.allocator.servers()) {
      countServer(server)
      yield
    }
    for (const server of deps.allocator.gameServers()) {
      countGameServer(server)
      yield
    }
  }
  const walking = walk()

  return {
    step: (most) => {
      for (let count = 0; count < most; count += 1) if (walking.next().done === true) return false
      return true
    },
    result: (): Surveyed => ({
      queues: Array.from(queues.values(), queueSurvey),
      areas: Array.from(byArea, ([area, seen]) => ({ ...areas.middleOf(area), ...seen })),
      nowhere,
      forming: [...forming],
      formingCount,
      servers: Array.from(servers.values(), (seen) => ({ ...seen })),
      gameServers: Array.from(gameServers.values(), (seen) => ({ ...seen })),
      pools: deps.allocator.pools.views(deps.now()),
      blockedBy: deps.allocator.blockedBy(),
    }),
  }
}

interface QueueSoFar extends Omit<Mutable<QueueSurvey>, 'relaxed'> {
  readonly levels: Float64Array
  /** Number of tickets at each relaxation level. */
  readonly byLevel: Float64Array
}

const emptyQueue = ({ queue, compiled, isPaused }: QueueRuntime): QueueSoFar => ({
  name: queue.name,
  paused: isPaused,
  tickets: 0,
  players: 0,
  oldest: undefined,
  levels: compiled.model.levels,
  byLevel: new Float64Array(compiled.model.levels.length),
})

const queueSurvey = ({ levels, byLevel, ...queue }: QueueSoFar): QueueSurvey => ({
  ...queue,
  relaxed: Array.from(levels, (afterMs, level) => ({ afterMs, tickets: byLevel[level] as number })),
})

export interface SurveyOptions {
  /**
   * Height and width of an area in degrees, 0.5 to 30. Locations are reported only as areas, so that no player can be
   * located. Default 3 (our choice).
   */
  readonly areaDegrees?: number | undefined
  /** Maximum number of matches in `forming`. Default 50. */
  readonly mostForming?: number | undefined
}

/**
 * Counts everything that waits or plays, a few tickets at a time, so that it never blocks the event loop. Changes
 * during the survey may or may not be counted.
 */
export interface Survey {
  /** Continues with at most `most` tickets and matches. Returns false once all were counted. */
  step(most: number): boolean
  /** Returns the counts so far. */
  result(): Surveyed
}

/** The counts of a survey. Times are epoch milliseconds. All locations are areas, except those of servers. */
export interface Surveyed {
  /** The queues, in the order of their definition. A ticket that waits in several queues is counted in each. */
  readonly queues: readonly QueueSurvey[]
  /** Searching players by area. Players of unknown location count in `nowhere`. */
  readonly areas: readonly AreaSurvey[]
  readonly nowhere: number
  /** Matches whose players do not have an address yet: the oldest, and the number of all. */
  readonly forming: readonly FormingSurvey[]
  readonly formingCount: number
  /** Servers that exist or may exist, by phase and place. */
  readonly servers: readonly ServerSurvey[]
  /** Game servers that have registered, by pool and state. */
  readonly gameServers: readonly GameServerSurvey[]
  /** The pools of game servers, by place. */
  readonly pools: readonly PoolPlaceView[]
  /** Why no servers are deployed now, as in `inspect`; undefined if they are deployed. */
  readonly blockedBy: Inspection['blockedBy']
}

export interface QueueSurvey {
  readonly name: string
  /** True if `pauseQueue` paused the queue. */
  readonly paused: boolean
  readonly tickets: number
  readonly players: number
  /** Epoch milliseconds at which the wait of the oldest ticket began. */
  readonly oldest: number | undefined
  /**
   * Tickets by relaxation step. `afterMs` is the wait after which the step begins, ascending from 0. In a queue with
   * `targetWaitMs`, it is the wait of a ticket without a head start.
   */
  readonly relaxed: readonly { readonly afterMs: number; readonly tickets: number }[]
}

/** The middle of an area, and the players there. */
export interface AreaSurvey extends Coordinates {
  readonly players: number
  /** Epoch milliseconds at which the longest wait in the area began. */
  readonly oldest: number
}

export interface FormingSurvey {
  readonly matchId: string
  readonly queue: string
  /** `asking`: the match awaits acceptance; `due`: no server was requested yet. */
  readonly phase: 'asking' | 'due' | ServerPhase
  readonly players: number
  readonly foundAt: number
  /** The middle of the area with most of its players; undefined if their locations are unknown. */
  readonly area: Coordinates | undefined
}

export interface ServerSurvey {
  readonly phase: ServerPhase
  /** True for servers that enrolled: they count neither for `maxServers` nor for the cost. */
  readonly isEnrolled: boolean
  readonly city: string | undefined
  readonly place: Coordinates | undefined
  readonly servers: number
  readonly players: number
}

interface GameServerSurvey {
  /** Name of the servers' pool; undefined for servers of one match. */
  readonly pool: string | undefined
  readonly state: ServerState
  readonly servers: number
  /** Number of players on the servers, by the servers' last reports. */
  readonly players: number
}
