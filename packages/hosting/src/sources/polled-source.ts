import { type Coordinates, TimedOut, UnexpectedResponse } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { middleOf, within } from '@muster/core/internal'
import { type Assignment, assignmentAt, locationAt } from '../records/index.js'
import { createOutcome } from './create-failure.js'
import { createLogReader } from './log-reader.js'
import { PASSIVE } from './passive-source.js'
import { NO_ID, readAllocated } from './read-allocated.js'
import type { AllocatedServer, ServerAllocator, WantedServer } from './server-allocator.js'
import type { LostCreate, OpenSource, CreateServerRequest, ServerSource, SourceListener } from './source.js'
import { createStops } from './stops.js'

export interface PolledSourceOptions {
  readonly allocator: ServerAllocator
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds for which a poll may not show the effect of an `allocate`. */
  readonly lagMs: number
}

/** Milliseconds between two polls of a server: until it is ready, and afterwards. */
const POLL_MS = { starting: 1000, running: 5000 }
/** Maximum number of ids in one poll, and of concurrent polls. */
const MOST_IDS = 100
const MOST_POLLS = 4
const LONGEST_DETAIL = 200
const FORGOTTEN = 'the allocator does not know it, but its process has reported to Muster'
const TIMEOUT_MS = { allocate: 30_000, poll: 10_000, stop: 20_000 }
/** Milliseconds after its timeout at which a call that is not answered counts as failed (our choice). */
const OVERDUE_MS = 1000

/** A server that is polled. Times are epoch milliseconds. */
interface PolledServer {
  readonly id: string
  readonly since: number
  /** `lost`: the `allocate` was not answered, so the server may or may not exist. */
  phase: 'lost' | 'starting' | 'running'
  readonly lost: LostCreate | undefined
  seenAt: number
  /** When the next poll is due. Infinity while one is in flight. */
  nextAt: number
  /** Why the state is unclear, as last reported. Undefined while the state is clear. */
  unclear: string | undefined
}

/**
 * Creates the source for an allocator. Servers are followed by polling, and their handle is their id. The allocator
 * has no list of servers. If an `allocate` was not answered, a poll may find the server. Otherwise the id is stopped,
 * after which a late `allocate` has no effect.
 */
export const createPolledSource =
  (options: PolledSourceOptions): OpenSource =>
  (listener) =>
    openPolledSource(options, listener)

function openPolledSource({ allocator, clock, random, lagMs }: PolledSourceOptions, on: SourceListener): ServerSource {
  const polled = new Map<string, PolledServer>()
  const closing = new AbortController()
  const { signal } = closing
  let polls = 0
  let hasAnswered = false
  let nextProbeAt = 0

  const logs = allocator.logs?.bind(allocator)

  /** Calls the allocator. Users write allocators, so a call may ignore its timeout. @throws {TimedOut} */
  const ask = async <Answer>(call: keyof typeof TIMEOUT_MS, answer: Promise<Answer>): Promise<Answer> => {
    const timeoutMs = TIMEOUT_MS[call]
    const answered = await within(
      answer.then((value) => ({ value })),
      timeoutMs + OVERDUE_MS,
      clock,
    )
    if (answered !== undefined) return answered.value
    throw new TimedOut(`${call}: the allocator did not answer`, { operation: call, sent: true, timeoutMs })
  }
  const pollAll = async (ids: readonly string[]) =>
    readAllocated(ids, await ask('poll', allocator.poll(ids, { timeoutMs: TIMEOUT_MS.poll, signal })))

  const stops = createStops({
    request: async (handle) => ask('stop', allocator.stop(handle, { timeoutMs: TIMEOUT_MS.stop })),
    clock,
    random,
    on,
  })

  /** Stops a server whose `allocate` was not answered. After the stop, the call can have no effect. */
  const giveUp = (one: PolledServer) => {
    polled.delete(one.id)
    stops.order({ handle: one.id, knownAt: one.since, by: polled, confirmed: () => on.absent(one.id) })
  }

  /** Reports that the state of a server is unclear, once for each reason in a row. */
  const unclear = (one: PolledServer, reason = 'no reason was given') => {
    const { id: handle } = one
    const detail = reason.slice(0, LONGEST_DETAIL)
    if (one.unclear === detail) return
    one.unclear = detail
    const message = `poll: server ${JSON.stringify(handle)} has an unclear state: ${detail}`
    on.problem('status', new UnexpectedResponse(message, { operation: 'poll' }), { handle })
  }

  /** Handles what a poll says about a server. @param askedAt when the poll was sent, in epoch milliseconds */
  const tell = (one: PolledServer, said: AllocatedServer | undefined, askedAt: number) => {
    const { id: handle, phase, since } = one
    const status = said?.status ?? 'unknown'
    one.nextAt = clock.now() + (phase === 'running' ? POLL_MS.running : POLL_MS.starting)
    if (status === 'unclear') return unclear(one, said?.detail)
    const isForgotten = status === 'unknown' && phase !== 'lost' && askedAt - since >= lagMs && on.isReporting(handle)
    // The allocator has lost its records, or its address leads to another one. The players play on.
    if (isForgotten) return unclear(one, FORGOTTEN)
    one.unclear = undefined
    if (phase === 'lost') {
      const isOurs = status !== 'unknown' && on.seen([handle], handle)
      // If Muster no longer knows the server, or no poll has found it in time, it is stopped.
      return !isOurs && (status !== 'unknown' || askedAt - since >= lagMs) ? giveUp(one) : undefined
    }
    if (status === 'failed') return on.changed({ kind: 'failed', handle, detail: said?.detail })
    if (status === 'ended') return on.changed({ kind: 'gone', handle })
    if (status === 'unknown') return askedAt - since < lagMs ? undefined : on.changed({ kind: 'gone', handle })
    if (status === 'starting') one.seenAt = askedAt
    if (status !== 'ready' || phase === 'running') return undefined
    const assignment = said && assignmentIn(said)
    if (assignment === undefined) return undefined
    on.changed({ kind: 'ready', handle, assignment, unseenMs: clock.now() - one.seenAt })
  }

  const poll = async (due: readonly PolledServer[]): Promise<void> => {
    const askedAt = clock.now()
    for (const one of due) one.nextAt = Infinity
    polls += 1
    try {
      const ids = due.map(({ id }) => id)
      const said = await pollAll(ids)
      hasAnswered = true
      on.answered()
      // The entry without a readable id may be about any server that is missing from the response.
      const other = said.get(NO_ID)
      for (const one of due) if (polled.get(one.id) === one) tell(one, said.get(one.id) ?? other, askedAt)
    } catch (error) {
      if (signal.aborted) return
      on.unanswered(error)
      for (const one of due) one.nextAt = clock.now() + POLL_MS.running
      const [first] = due
      on.problem(first?.lost === undefined ? 'status' : 'find', error, first?.lost ?? { handle: first?.id })
    } finally {
      polls -= 1
    }
  }

  const pollDue = (now: number) => {
    const due: PolledServer[] = []
    for (const one of polled.values()) if (one.nextAt <= now) due.push(one)
    const mayBegin = MOST_POLLS - polls
    for (let nth = 0; nth < mayBegin && nth * MOST_IDS < due.length; nth += 1)
      void poll(due.slice(nth * MOST_IDS, (nth + 1) * MOST_IDS))
    // Poll without ids: the circuit breaker allows only one server until the allocator has answered a poll.
    if (hasAnswered || now < nextProbeAt || polls > 0) return
    nextProbeAt = now + POLL_MS.running
    void poll([])
  }

  const add = (id: string, lost: LostCreate | undefined) => {
    const now = clock.now()
    const since = lost?.lostAt ?? now
    polled.set(id, {
      id,
      since,
      phase: lost === undefined ? 'starting' : 'lost',
      lost,
      seenAt: now,
      nextAt: now,
      unclear: undefined,
    })
  }

  return {
    ...PASSIVE,
    prepare: (order) => {
      const wanted = wantedServer(order)
      return async (mayWrite) => {
        const outcome = await createOutcome(async () => {
          await ask('allocate', allocator.allocate(wanted, { timeoutMs: TIMEOUT_MS.allocate, mayWrite }))
          return order.id
        })
        // The allocator knows the server only by its own id, even if an error names another one, e.g. of a deployment.
        return outcome.kind === 'no-capacity' && outcome.handle !== undefined
          ? { ...outcome, handle: order.id }
          : outcome
      }
    },
    stop: (order) => {
      polled.delete(order.handle)
      stops.order(order)
    },
    stopsPending: stops.pending,
    oldestStopMs: stops.oldestMs,
    find: (lost) => add(lost.id, lost),
    found: (id) => void polled.delete(id),
    follow: (handle) => add(handle, undefined),
    settle: (handle) => {
      const one = polled.get(handle)
      if (one !== undefined) one.phase = 'running'
    },
    hint: ({ id, handle = id }) => {
      const one = polled.get(handle ?? '')
      if (one !== undefined && one.nextAt < Infinity) one.nextAt = 0
    },
    inspect: async (handle) => {
      const said = (await pollAll([handle])).get(handle)
      if (said?.status !== 'starting' && said?.status !== 'ready') return undefined
      return { ageMs: undefined, location: assignmentIn(said)?.location }
    },
    logs: logs && createLogReader(async (id, call) => ({ head: '', text: await logs(id, call) }), clock),
    watch: pollDue,
    advance: (now) => {
      stops.advance(now)
      for (const { lost } of polled.values())
        if (lost?.isAwaited === true && now - lost.lostAt >= lagMs) on.late(lost.id)
    },
    close: () => closing.abort(),
  }
}

/** Returns the request for an allocator, with the players' common centre instead of their coordinates. */
function wantedServer({ id, deploy, environment, at, players }: CreateServerRequest): WantedServer {
  const middle = at ?? rounded(middleOf(players.flatMap(({ coordinates }) => coordinates ?? [])))
  return {
    id,
    application: deploy.application,
    version: deploy.version,
    places: middle === undefined ? [] : [middle],
    environment: Object.fromEntries(environment.map(({ key, value }) => [key, value])),
  }
}

const rounded = (place: Coordinates | undefined): Coordinates | undefined =>
  place && { latitude: Math.round(place.latitude * 10) / 10, longitude: Math.round(place.longitude * 10) / 10 }

/** Returns the address of a server. Undefined without a host. */
const assignmentIn = ({ host, ports = {}, location }: AllocatedServer): Assignment | undefined =>
  host === undefined || host === '' ? undefined : assignmentAt(host, ports, location && locationAt(location))
