import type { Clock } from '@muster/core/clock'
import { createTicker } from '@muster/core/runtime'
import type { Hello } from '@muster/console/wire'
import type { ConsoleOptions, Operator } from '../options.js'
import { createActivity } from '../watching/activity.js'
import { createProblems } from '../watching/problems.js'
import { createSurveyor } from '../watching/surveyor.js'
import { createFeeds, type Feeds } from './feeds.js'
import { createHistory, STEP_MS, STEPS } from './history.js'
import { createBill } from './money.js'
import { nowText, serverCount, type NowDeps } from './now.js'

/** Watches the matchmaker, and tells those who listen. */
export interface Watch {
  readonly feeds: Feeds
  greeting(operator: Operator): string
  /** A ticket has arrived in these queues. */
  arrived(queues: readonly string[]): void
  close(): Promise<void>
}

/** Milliseconds between two frames. They are made while somebody listens. */
const FRAME_MS = 500

const READY = { is: true, why: [] }
const MOST_FEEDS = { inAll: 64, perCaller: 8 }

export interface WatchDeps {
  readonly clock: Clock
  /** What stories and recordings lack, in words. */
  readonly missing: () => readonly string[]
  readonly failed: (error: unknown) => void
}

export function createWatch(options: ConsoleOptions, { clock, missing, failed }: WatchDeps): Watch {
  const { matchmaker, name, version, store, letBotsIn, unseen, queues, spending, limits, ready } = options
  const startedAt = clock.now()
  const stopping = new AbortController()
  const queueNames = () => queues().map((queue) => queue.name)
  const activity = createActivity(matchmaker.on, clock.now, STEPS)
  const problems = createProblems(matchmaker.on, clock.now)
  const surveyor = createSurveyor(matchmaker, clock, ignoringEnd(failed, stopping.signal), stopping.signal)
  const bill = createBill(startedAt)
  const history = createHistory(activity, queueNames)
  const deps: NowDeps = {
    queueNames,
    seen: surveyor.latest,
    seesAll: surveyor.seesAll,
    activity,
    problems,
    bill,
    now: clock.now,
    spending,
    limits,
  }

  const look = async () => {
    await surveyor.look()
    const seen = surveyor.latest()
    if (seen !== undefined) bill.note(serverCount(seen), clock.now())
  }
  const frame = async () => {
    // With many tickets a look takes several frames: each shows what was seen last.
    const looking = look().catch(failed)
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
    await look()
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
      ...(passed < STEPS * STEP_MS ? [`The program has watched for ${minutes(passed)}.`] : []),
      ...(surveyor.seesAll() ? [] : ['Another process matches: who waits where is not seen here.']),
      ...(unseen?.() ?? []),
      ...missing(),
    ]
  }

  return {
    feeds,
    arrived: activity.arrived,
    greeting: ({ who, role }) => {
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

/** What was under way when the console closed is no failure. */
const ignoringEnd = (failed: (error: unknown) => void, signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) failed(error)
}
