import { InvalidInput, type Coordinates } from '@muster/core'
import { levelAt, type Slot } from '@muster/kernel'
import type { Allocation, AllocationPhase, Allocator } from '@muster/servers'
import type { Match, QueueRuntime, TicketRecord } from '../tickets/records.js'
import { createAreas } from './areas.js'
import type { FormingSurvey, QueueSurvey, ServerSurvey, Survey, Surveyed, SurveyOptions } from './surveyed.js'

export interface SurveyDeps {
  readonly runtimes: Iterable<QueueRuntime>
  /** Tickets that search and are in no pool. */
  readonly outside: Iterable<TicketRecord>
  readonly matches: Iterable<Match>
  readonly allocator: Pick<Allocator, 'matches' | 'find' | 'held'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** By longitude. */
type ServersAt = Map<number | undefined, Mutable<ServerSurvey>>

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** @throws {InvalidInput} naming the option */
export function createSurvey(deps: SurveyDeps, { areaDegrees = 3, mostForming = 50 }: SurveyOptions = {}): Survey {
  if (!(areaDegrees >= 0.5 && areaDegrees <= 30)) {
    throw new InvalidInput(`option areaDegrees: must be from 0.5 to 30, got ${areaDegrees}`, { field: 'areaDegrees' })
  }
  const areas = createAreas(areaDegrees)
  const queues = new Map(Array.from(deps.runtimes, (runtime) => [runtime, emptyQueue(runtime)]))
  const byArea = new Map<number, { players: number; oldest: number }>()
  const servers = new Map<AllocationPhase, Map<number | undefined, ServersAt>>()
  const forming: FormingSurvey[] = []
  let formingCount = 0
  let nowhere = 0

  /** @param slot of the ticket in the pool, if it is there. */
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
  const countServer = ({ phase, assignment, playerIds }: Allocation) => {
    const { city, latitude, longitude } = assignment?.location ?? {}
    const there = placesOf(phase, latitude)
    const seen = there.get(longitude)
    if (seen !== undefined) {
      seen.servers += 1
      seen.players += playerIds.length
      return
    }
    const place = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
    there.set(longitude, { phase, city, place, servers: 1, players: playerIds.length })
  }
  /** Servers of a phase at a latitude, by longitude: no text is made for each server. */
  const placesOf = (phase: AllocationPhase, latitude: number | undefined): ServersAt => {
    const byLatitude = servers.get(phase) ?? new Map<number | undefined, ServersAt>()
    if (byLatitude.size === 0) servers.set(phase, byLatitude)
    const known = byLatitude.get(latitude)
    if (known !== undefined) return known
    const there: ServersAt = new Map()
    byLatitude.set(latitude, there)
    return there
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
    for (const allocation of deps.allocator.matches()) {
      countServer(allocation)
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
      servers: [...servers.values()].flatMap((byLatitude) =>
        [...byLatitude.values()].flatMap((there) => Array.from(there.values(), (seen) => ({ ...seen }))),
      ),
      held: deps.allocator.held(),
    }),
  }
}

interface QueueSoFar extends Omit<Mutable<QueueSurvey>, 'relaxed'> {
  readonly levels: Float64Array
  /** Tickets at each level. */
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
