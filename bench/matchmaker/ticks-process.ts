/**
 * Runs one scene of ticks, in a process of its own so that its first ticks are cold, as after a start. Start it by hand
 * to profile it: `node --cpu-prof bench/dist/matchmaker/ticks-process.js standing`.
 */
import { createManualClock, seededRandom } from '@muster/core/clock'
import type { QueueDefinition, RuleDefinition, TicketInput } from '@muster/matchmaker'
import { cpuMs, watchLoop } from './event-loop.js'
import { createServedMatchmaker } from './services.js'

const TICK_MS = 250

/** The cost of a scene's ticks. */
export interface Ticks {
  /** Milliseconds of the longest turn of the event loop. */
  readonly heldMs: number
  /** 95th percentile of a tick's milliseconds. */
  readonly p95Ms: number
  readonly found: Readonly<Record<string, unknown>>
}

interface TicksScene {
  readonly rules: readonly RuleDefinition[]
  /** Number of tickets that wait before the first tick, and of those that come with each tick. */
  readonly waiting: number
  readonly perTick: number
  readonly ticks: number
}

export type SceneName = keyof typeof scenes

const distance = { kind: 'distance', maxKm: { from: 500, to: 5000, overMs: 20_000 } } as const
const skill = { kind: 'difference', attribute: 'skill', max: { from: 100, to: 400, overMs: 30_000 } } as const
const roles = { kind: 'roles', roles: { tank: 1, healer: 1 } } as const
const balance = { kind: 'balance', attribute: 'skill', max: 50 } as const
/** A rule that rejects nearly all matches, but only once they are complete. */
const picky: RuleDefinition = {
  kind: 'custom',
  name: 'picky',
  test: ({ teams }) =>
    teams.flatMap(({ tickets }) => tickets).every(({ players }) => Number(players[0]?.attributes['skill']) % 2 < 1.6),
}
const never: RuleDefinition = { kind: 'custom', name: 'never', test: () => false }
const slow: RuleDefinition = { kind: 'custom', name: 'slow', test: () => (busyFor(0.2), false) }
const taste: RuleDefinition = { kind: 'overlap', attribute: 'modes' }

const scenes = {
  /** The README's queue with four players per second. One in eight is a tank, and one in eight a healer. */
  rare: { rules: [distance, skill, roles, balance], waiting: 0, perTick: 1, ticks: 1200 },
  /** Five against five, with a rule that rejects every match. */
  few: { rules: [balance, never], waiting: 25, perTick: 0, ticks: 80 },
  some: { rules: [balance, never], waiting: 200, perTick: 0, ticks: 80 },
  standing: { rules: [distance, skill, roles, balance, picky], waiting: 10_000, perTick: 10, ticks: 80 },
  /** All players want to play something else, so none fit together. */
  apart: { rules: [skill, taste, balance], waiting: 10_000, perTick: 10, ticks: 80 },
  /** A check that takes 0.2 ms and accepts no match. */
  slow: { rules: [balance, slow], waiting: 200, perTick: 1, ticks: 80 },
} satisfies Record<string, TicksScene>

function busyFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

async function measure(name: SceneName): Promise<Ticks> {
  const { rules, waiting, perTick, ticks } = scenes[name]
  const queue: QueueDefinition = {
    name: 'ranked',
    teams: [{ name: 'team', count: 2, size: 5 }],
    rules,
    deploy: { application: 'game', version: '1' },
  }
  const clock = createManualClock()
  const random = seededRandom(1)
  const matchmaker = createServedMatchmaker({
    queues: [queue],
    clock,
    stopwatch: () => performance.now(),
    random: seededRandom(2),
    tickMs: TICK_MS,
  })
  const durations: number[] = []
  let matches = 0
  matchmaker.on('tickCompleted', ({ matches: made }) => void (matches += made))
  let players = 0
  const ticketOf = (): TicketInput => {
    players += 1
    const role = random()
    const player = {
      id: `p${players}`,
      coordinates: { latitude: 45 + 10 * random(), longitude: 20 * random() },
      attributes: { skill: 1500 + 300 * (random() + random() - 1), modes: [`mode ${players % 997}`] },
      roles: [role < 0.12 ? 'tank' : role < 0.24 ? 'healer' : 'damage'],
    }
    return { queue: 'ranked', players: [player] }
  }
  for (let each = 0; each < waiting; each++) matchmaker.createTicket(ticketOf())
  let heldMs = 0
  for (let tick = 0; tick < ticks; tick++) {
    for (let each = 0; each < perTick; each++) matchmaker.createTicket(ticketOf())
    const end = watchLoop()
    const [began, beganCpu] = [performance.now(), cpuMs()]
    await matchmaker.tick()
    durations.push(Math.min(performance.now() - began, cpuMs() - beganCpu))
    heldMs = Math.max(heldMs, end())
    await clock.advance(TICK_MS)
  }
  const sorted = durations.toSorted((one, other) => one - other)
  return {
    heldMs,
    p95Ms: sorted[Math.floor(0.95 * sorted.length)] ?? Infinity,
    found: { ticks: durations.length, 'longest tick, ms': Math.round(sorted.at(-1) ?? Infinity), matches, players },
  }
}

const found = await measure(process.argv[2] as SceneName)
if (process.send === undefined) console.log(found)
else process.send(found)
