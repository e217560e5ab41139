import type { Hello, History, HistoryStep, QueueHistory } from '@muster/console/internal'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type Awaitable, type StreamEvent, createTicker } from '@muster/core/internal'
import type { Surveyed } from '@muster/matchmaker'
import type { ConsoleOptions, Operator } from '../options.js'
import { type ActivityCounts, createActivity } from '../activity.js'
import { createProblems } from '../problems.js'
import { createSurveyor } from '../surveyor.js'
import { createBill, type NowDeps, nowText, paidServers, serverCount } from './now.js'

interface FeedsOptions {
  /** Maximum number of open feeds, in total and per caller. */
  readonly inAll: number
  readonly perCaller: number
  /** Called when a listener arrives while there was none. */
  readonly begun: () => void
  readonly now: () => number
}

type FeedListener = ReturnType<typeof newListener>

const newListener = (caller: string, now: number) => ({
  caller,
  state: undefined as string | undefined,
  steps: [] as string[],
  /** True if the listener missed steps. It then gets the greeting again, which contains everything. */
  isBehind: false,
  /** Time at which the listener last read an event. */
  takenAt: now,
  wake: () => {},
  end: new AbortController(),
})

/** Maximum number of unread steps that are kept for a listener. */
const MOST_STEPS = 6
/** Milliseconds after which a listener that reads nothing may be dropped to make room for a new one. */
const STUCK_MS = 30_000
/** Milliseconds between two checks whether a listener may still listen. */
const CHECK_MS = 5000

/**
 * Sends events to listeners. All listeners get the same string. A slow reader misses some events, and costs no memory.
 */
export function createFeeds({ inAll, perCaller, begun, now }: FeedsOptions) {
  const listeners = new Set<FeedListener>()
  let isClosed = false

  const makePlace = (caller: string) => {
    const own = [...listeners].filter((listener) => listener.caller === caller)
    const crowd = own.length >= perCaller ? own : listeners.size >= inAll ? [...listeners] : undefined
    if (crowd === undefined) return
    const stuck = crowd.find(({ takenAt }) => now() - takenAt > STUCK_MS)
    if (stuck === undefined)
      throw new Problem(429, 'too-many-feeds', 'Too many console pages are open. Close one.', { retryAfterMs: 5000 })
    leave(stuck)
  }
  const leave = (listener: FeedListener) => {
    listeners.delete(listener)
    listener.end.abort()
    listener.wake()
  }
  const tell = (change: (listener: FeedListener) => void) => {
    for (const listener of listeners) {
      change(listener)
      listener.wake()
    }
  }

  async function* events(
    listener: FeedListener,
    greeting: () => string,
    mayStay: () => Awaitable<boolean>,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    let checkAt = now() + CHECK_MS
    try {
      yield { event: 'hello', json: greeting() }
      while (!signal.aborted && !listener.end.signal.aborted) {
        listener.takenAt = now()
        if (now() >= checkAt) {
          if (!(await mayStay())) break
          checkAt = now() + CHECK_MS
        }
        const event = nextOf(listener, greeting)
        if (event !== undefined) yield event
        else await new Promise<void>((resolve) => (listener.wake = resolve))
      }
      if (!signal.aborted) yield { event: 'bye', data: null }
    } finally {
      listeners.delete(listener)
    }
  }

  return {
    /**
     * Opens a feed. @param mayStay called from time to time: false ends the feed
     * @throws {Problem} 429 if there are too many listeners
     */
    listen: (
      caller: string,
      greeting: () => string,
      mayStay: () => Awaitable<boolean>,
    ): ((signal: AbortSignal) => AsyncGenerator<StreamEvent>) => {
      if (isClosed) throw new Problem(503, 'closed', 'The process is shutting down.', { retryAfterMs: 5000 })
      makePlace(caller)
      const listener = newListener(caller, now())
      listeners.add(listener)
      if (listeners.size === 1) begun()
      return (signal) => {
        // Leaves on abort, because the generator never runs if its stream is cancelled before the first read.
        signal.addEventListener('abort', () => leave(listener), { once: true })
        return events(listener, greeting, mayStay, signal)
      }
    },
    /** Sends a state. A listener that has not read an earlier state gets only the newest. */
    state: (json: string) =>
      tell((listener) => {
        listener.state = json
      }),
    /** Sends a step of the history. A listener gets each step, or the whole greeting again if it is too far behind. */
    step: (json: string) =>
      tell((listener) => {
        listener.steps.push(json)
        if (listener.steps.length <= MOST_STEPS) return
        listener.steps = []
        listener.isBehind = true
      }),
    count: () => listeners.size,
    close: () => {
      isClosed = true
      for (const listener of listeners) leave(listener)
    },
  }
}

function nextOf(listener: FeedListener, greeting: () => string): StreamEvent | undefined {
  if (listener.isBehind) {
    // Drops the waiting steps, because the greeting contains them.
    listener.isBehind = false
    listener.steps = []
    return { event: 'hello', json: greeting() }
  }
  const step = listener.steps.shift()
  if (step !== undefined) return { event: 'step', json: step }
  const { state } = listener
  listener.state = undefined
  return state === undefined ? undefined : { event: 'now', json: state }
}

const STEP_MS = 10_000
const STEPS = 3_600_000 / STEP_MS

type Sample = HistoryStep['queues'][number]

/** Creates the history of the last hour in memory, in steps of ten seconds. */
function createHistory(activity: ActivityCounts, queueNames: () => readonly string[], seesAll: () => boolean) {
  const steps: HistoryStep[] = []

  const sampleOf = (name: string, seen: Surveyed | undefined): Sample => {
    const { arrivals, matches, waits } = activity.of(name).endStep()
    return {
      name,
      players: seen?.queues.find((queue) => queue.name === name)?.players ?? 0,
      arrivals: seesAll() ? arrivals : null,
      matches: seesAll() ? matches : null,
      waitP50: waits?.quantile(0.5) ?? null,
      waitP95: waits?.quantile(0.95) ?? null,
    }
  }
  const historyOf = (name: string): QueueHistory => {
    const samples = steps.map(({ queues }) => queues.find((queue) => queue.name === name))
    return {
      name,
      players: samples.map((sample) => sample?.players ?? 0),
      arrivals: samples.map((sample) => (sample === undefined ? 0 : sample.arrivals)),
      matches: samples.map((sample) => (sample === undefined ? 0 : sample.matches)),
      waitP50: samples.map((sample) => sample?.waitP50 ?? null),
      waitP95: samples.map((sample) => sample?.waitP95 ?? null),
    }
  }

  return {
    /** Ends a step, and returns it. */
    step: (seen: Surveyed | undefined, at: number): HistoryStep => {
      const names = queueNames()
      activity.keep(names)
      const step: HistoryStep = {
        at: Math.floor(at),
        servers: seen === undefined ? 0 : serverCount(seen),
        queues: names.map((name) => sampleOf(name, seen)),
      }
      steps.push(step)
      if (steps.length > STEPS) steps.shift()
      return step
    },
    history: (missing: readonly string[]): History => ({
      step: STEP_MS,
      from: steps[0]?.at ?? 0,
      length: steps.length,
      queues: queueNames().map(historyOf),
      servers: steps.map(({ servers }) => servers),
      missing,
    }),
  }
}

/** The part of the console that observes the matchmaker and informs the listeners. */
export type Watch = ReturnType<typeof createWatch>

/** Milliseconds between two frames. Frames are made only while there are listeners. */
const FRAME_MS = 500

const READY = { is: true, why: [] }
const MOST_FEEDS = { inAll: 64, perCaller: 8 }

interface WatchDeps {
  readonly clock: Clock
  /** Returns sentences about data that is missing from the objects' histories and from recordings. */
  readonly missing: () => readonly string[]
  readonly failed: (error: unknown) => void
}

export function createWatch(options: ConsoleOptions, { clock, missing, failed }: WatchDeps) {
  const { matchmaker, name, version, store, letBotsIn, unseen, queues, spending, limits, ready } = options
  const startedAt = clock.now()
  const stopping = new AbortController()
  const queueNames = () => queues().map((queue) => queue.name)
  const activity = createActivity(matchmaker.on, clock.now, STEPS)
  const problems = createProblems(matchmaker.on, clock.now)
  const surveyor = createSurveyor(matchmaker, clock, ignoringEnd(failed, stopping.signal), stopping.signal)
  const bill = createBill(startedAt)
  const history = createHistory(activity, queueNames, surveyor.seesAll)
  const deps: NowDeps = {
    queueNames,
    surveyed: surveyor.latest,
    seesAll: surveyor.seesAll,
    activity,
    problems,
    bill,
    now: clock.now,
    spending,
    limits,
  }

  const survey = async () => {
    await surveyor.survey()
    const seen = surveyor.latest()
    if (seen !== undefined) bill.note(paidServers(seen), clock.now())
  }
  const frame = async () => {
    // A survey, which counts players and servers, takes several frames if there are many tickets. Until it ends, frames
    // show the previous result.
    const looking = survey().catch(failed)
    if (surveyor.latest() === undefined) await looking
    feeds.state(nowText(deps, (await ready?.()) ?? READY))
  }
  const frames = createTicker({
    clock,
    everyMs: FRAME_MS,
    tick: () => frame().catch(failed),
    atOnce: true,
    isNeeded: () => feeds.count() > 0,
  })
  const feeds = createFeeds({ ...MOST_FEEDS, begun: frames.wake, now: clock.now })

  const step = async () => {
    await survey()
    feeds.step(JSON.stringify(history.step(surveyor.latest(), clock.now())))
  }
  const steps = createTicker({
    clock,
    everyMs: STEP_MS,
    tick: () => step().catch(failed),
    isNeeded: () => !stopping.signal.aborted,
  })
  steps.wake()

  const gaps = (): readonly string[] => {
    const passed = clock.now() - startedAt
    return [
      ...(passed < STEPS * STEP_MS ? [`The program has collected figures for only ${minutes(passed)}.`] : []),
      ...(surveyor.seesAll()
        ? []
        : ['Another process makes the matches, so waiting players, arrivals and matches are not shown here.']),
      ...(unseen?.() ?? []),
      ...missing(),
    ]
  }

  return {
    feeds,
    /** Counts the arrival of a ticket, by the names of its queues. */
    arrived: activity.arrived,
    greeting: ({ who, role }: Operator) => {
      const hello: Hello = {
        name,
        version,
        startedAt: Math.floor(startedAt),
        at: Math.floor(clock.now()),
        who,
        role,
        bots: letBotsIn !== undefined,
        store,
        history: history.history(gaps()),
      }
      return JSON.stringify(hello)
    },
    close: async () => {
      stopping.abort()
      feeds.close()
      activity.close()
      problems.close()
      await Promise.all([frames.stop(), steps.stop()])
    },
  }
}

const minutes = (ms: number) =>
  ms < 60_000 ? 'less than a minute' : ms < 120_000 ? 'a minute' : `${Math.floor(ms / 60_000)} minutes`

/** Returns an error handler that ignores errors of work which was still running when the console closed. */
const ignoringEnd = (failed: (error: unknown) => void, signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) failed(error)
}
