/**
 * Measures the longest turn of the event loop while very many tickets arrive or wait, in a process of its own. Start it
 * by hand to profile it: `node --cpu-prof bench/dist/matchmaker/loop-delay-process.js arriving 200000`.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { seededRandom } from '@muster/core/clock'
import type { Matchmaker, QueueDefinition, TicketInput } from '@muster/matchmaker'
import { cpuMs } from './event-loop.js'
import { createServedMatchmaker, unansweringService } from './services.js'
import { createSampler, STEPS } from './workload.js'

export type SceneName = 'arriving' | 'standing'

export interface Delays {
  /** Milliseconds of the longest turn of the event loop. */
  readonly longestMs: number
  /** Milliseconds of the longest turn, without garbage collection. */
  readonly longestOwnMs: number
  readonly found: Readonly<Record<string, unknown>>
}

interface Turn {
  readonly at: number
  /** Milliseconds of CPU time, so that work of other processes on the machine is not included. */
  readonly ms: number
}

const [strictest] = STEPS
const distance = { kind: 'distance', maxKm: strictest.km } as const
const skill = { kind: 'difference', attribute: 'skill', max: strictest.skill } as const
/** A rule that keeps tickets apart: a ticket with a taste of its own matches no other, however long it waits. */
const taste = { kind: 'difference', attribute: 'taste', max: 0.5, missing: { value: 0 } } as const
const deploy = { application: 'game', version: '1' }
const queue: QueueDefinition = { name: 'duel', matchSize: 2, rules: [distance, skill, taste], deploy }
/** Maximum milliseconds of grouping in a tick, while the standing tickets are tried for the first time. */
const TICK_BUDGET_MS = 200

/** Number of tickets that are created in one turn of the event loop: a server reads about as many requests at once. */
const SLICE = 50
/** Turns of fewer milliseconds are not recorded. */
const SHORT_MS = 2

/** Records the longer turns of the event loop. Returns a function that ends the recording and returns the turns. */
function noteTurns(): () => Turn[] {
  const turns: Turn[] = []
  let [last, lastCpu, watching] = [performance.now(), cpuMs(), true]
  const turn = () => {
    const [now, cpu] = [performance.now(), cpuMs()]
    const ms = Math.min(now - last, cpu - lastCpu)
    if (ms >= SHORT_MS) turns.push({ at: last, ms })
    last = now
    lastCpu = cpu
    if (watching) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    watching = false
    return turns
  }
}

interface Collection extends Turn {
  readonly kind: number
}
interface CollectionEntry extends Omit<ReturnType<typeof performance.mark>, 'detail'> {
  readonly detail: { readonly kind: number }
}

const collections: Collection[] = []
const observer = new PerformanceObserver((list) => {
  for (const { startTime, duration, detail } of list.getEntries() as CollectionEntry[])
    collections.push({ at: startTime, ms: duration, kind: detail.kind })
})
observer.observe({ entryTypes: ['gc'] })

const turnOfLoop = () => new Promise<void>((resolve) => setImmediate(resolve))
const seconds = (many: number) => new Promise<void>((resolve) => setTimeout(resolve, many * 1000))

type TicketOf = (index: number) => TicketInput

/** Creates tickets as a server's requests would: some in each turn of the event loop, at most `perSecond`. */
async function feed(matchmaker: Matchmaker, count: number, perSecond: number, ticketOf: TicketOf) {
  const began = performance.now()
  for (let made = 0; made < count;) {
    const due = Math.min(count, ((performance.now() - began) / 1000) * perSecond)
    for (let slice = 0; slice < SLICE && made < due; slice += 1) matchmaker.createTicket(ticketOf(made++))
    await turnOfLoop()
  }
}

async function measure(scene: SceneName, count: number): Promise<Delays> {
  const matchmaker = createServedMatchmaker({
    deployments: unansweringService,
    queues: [queue],
    random: seededRandom(1),
    ...(scene === 'standing' ? { tickBudgetMs: TICK_BUDGET_MS } : {}),
  })
  let matched = 0
  matchmaker.on('matchFound', ({ tickets }) => void (matched += tickets.length))
  const ticketOf = (prefix: string, seed: number, tasteOf: (index: number) => number): TicketOf => {
    const sample = createSampler(seed)
    return (index) => {
      const { latitude, longitude, skill: rating } = sample()
      const attributes = { skill: rating, taste: tasteOf(index) }
      return { queue: 'duel', players: [{ id: `${prefix}${index}`, coordinates: { latitude, longitude }, attributes }] }
    }
  }
  const found: Record<string, unknown> = {}
  const watched = async (name: string, work: () => Promise<void>): Promise<Delays> => {
    const end = noteTurns()
    const [began, before] = [performance.now(), matched]
    await work()
    // The observer gets reports of garbage collections slightly later.
    await seconds(0.1)
    const turns = end()
    const held = delaysOf(turns, began)
    found[name] = { ...held.found, seconds: Math.round((performance.now() - began) / 1000), matched: matched - before }
    return held
  }

  matchmaker.start()
  // Warms up, so that compilation at the start of the process is not measured.
  await feed(
    matchmaker,
    20_000,
    20_000,
    ticketOf('warm', 3, () => 0),
  )
  await seconds(2)
  const nobodys = (index: number) => index + 1
  const coming =
    scene === 'arriving'
      ? () =>
          feed(
            matchmaker,
            count,
            Infinity,
            ticketOf('new', 7, () => 0),
          ).then(() => seconds(3))
      : () => feed(matchmaker, count, Infinity, ticketOf('standing', 7, nobodys)).then(() => seconds(3))
  const arrived = await watched('while they arrive', coming)
  if (scene === 'arriving') return { ...arrived, found }
  await seconds(25)
  const standing = await watched('while they stand', () =>
    feed(
      matchmaker,
      20_000,
      2000,
      ticketOf('new', 9, () => 0),
    ),
  )
  return { ...standing, found }
}

/** Returns the longest turns since a time, with and without garbage collection. */
function delaysOf(all: readonly Turn[], since: number): Delays {
  const turns = all
    .filter(({ at }) => at >= since)
    .map((turn) => {
      const inIt = collections.filter(({ at }) => at >= turn.at && at < turn.at + turn.ms + 1)
      const collecting = inIt.reduce((sum, { ms }) => sum + ms, 0)
      return { ...turn, own: Math.max(0, turn.ms - collecting) }
    })
  const longest = (values: readonly number[]) => values.reduce((most, ms) => Math.max(most, ms), 0)
  const topFive = (values: readonly number[]) =>
    values
      .toSorted((one, other) => other - one)
      .slice(0, 5)
      .map(rounded)
  const rounded = (ms: number) => Math.round(ms * 10) / 10
  const ofKinds = (...kinds: readonly number[]) =>
    rounded(longest(collections.filter(({ at, kind }) => at >= since && kinds.includes(kind)).map(({ ms }) => ms)))
  const [whole, own] = [turns.map(({ ms }) => ms), turns.map((turn) => turn.own)]
  const { NODE_PERFORMANCE_GC_MINOR, NODE_PERFORMANCE_GC_MAJOR, NODE_PERFORMANCE_GC_INCREMENTAL } = constants
  return {
    longestMs: longest(whole),
    longestOwnMs: longest(own),
    found: {
      'longest turns, ms': topFive(whole),
      'without garbage collection': topFive(own),
      'longest collection of young objects': ofKinds(NODE_PERFORMANCE_GC_MINOR),
      'longest collection of all objects': ofKinds(NODE_PERFORMANCE_GC_MAJOR, NODE_PERFORMANCE_GC_INCREMENTAL),
    },
  }
}

const [scene, count] = process.argv.slice(2)
const measured = await measure(scene as SceneName, Number(count))
if (process.send === undefined) console.log(JSON.stringify(measured, undefined, 2))
else process.send(measured)
process.exit(0)
