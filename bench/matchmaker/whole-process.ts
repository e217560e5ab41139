/**
 * One measurement of the whole matchmaker, in a process of its own so that it is not charged with the garbage of
 * another measurement. Start it by hand to profile it: `node --expose-gc --cpu-prof
 * bench/dist/matchmaker/whole-process.js pairs`.
 */
import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import type { DeploymentService, Matchmaker, QueueDefinition, TicketInput } from '@muster/matchmaker'
import { createServedMatchmaker, unansweringService } from './services.js'
import { createSampler, STEPS, type Sample } from './workload.js'

export type Measurement = keyof typeof measurements

export interface Measured {
  readonly value: number
  readonly found: Readonly<Record<string, unknown>>
}

const deploy = { application: 'game', version: '1' }
const distance = {
  kind: 'distance',
  maxKm: STEPS.map(({ afterS, km }) => ({ afterMs: afterS * 1000, value: km })),
} as const
const skill = {
  kind: 'difference',
  attribute: 'skill',
  max: STEPS.map(({ afterS, skill: value }) => ({ afterMs: afterS * 1000, value })),
} as const
/** A rule that keeps tickets apart: a ticket with a taste of its own matches no other, however long it waits. */
const taste = { kind: 'difference', attribute: 'taste', max: 0.5, missing: { value: 0 } } as const

const duel: QueueDefinition = { name: 'duel', matchSize: 2, rules: [distance, skill], deploy }
const ranked: QueueDefinition = {
  name: 'ranked',
  teams: [{ name: 'team', count: 2, size: 5 }],
  rules: [distance, skill],
  deploy,
}
/** A queue with the same facts about each ticket, in which no search is made. */
const apart: QueueDefinition = {
  name: 'picky',
  matchSize: 100,
  rules: [{ kind: 'distance', maxKm: 1 }, skill, { ...taste, max: 1e9 }],
  deploy,
}
const picky: QueueDefinition = { name: 'picky', matchSize: 2, rules: [distance, skill, taste], deploy }

const measurements = {
  /**
   * Measures tickets until their match is recorded and its create waits to be sent. Creates are never answered.
   * Otherwise the service's rate of tens of creates per second would decide the result. `served` includes the creates
   * and all that follows, with a server for every match.
   */
  pairs: () => throughput(duel, unansweringService, (sample, index) => ticketOf('duel', sample, index, 1)),
  parties: () =>
    throughput(ranked, unansweringService, (sample, index) => ticketOf('ranked', sample, index, sample.size)),
  /**
   * Like `pairs`, but every create is answered. A webhook reports the server as READY at once, and it is stopped once
   * assigned.
   */
  served: () => throughput(duel, undefined, (sample, index) => ticketOf('duel', sample, index, 1)),
  standing,
  memory,
}

/** Maximum CPU microseconds of a warm-up or a measurement. Slow work is repeated less often. */
const MOST_CPU = 10e6

type MakeTicket = (sample: Sample, index: number) => TicketInput

/**
 * Repeats a part `times` times, or until MOST_CPU is used. Returns the CPU seconds of each repetition.
 * @param after runs after each repetition, and is not measured.
 */
async function repeat(times: number, part: () => Promise<void>, after = async () => {}): Promise<number[]> {
  const spent: number[] = []
  for (let left = MOST_CPU; spent.length < times && left > 0; left -= (spent.at(-1) as number) * 1e6) {
    const before = process.cpuUsage()
    await part()
    spent.push(cpuSince(before) / 1e6)
    await after()
  }
  return spent
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Number of tickets in total and per tick: ten times the number of servers that are allowed by default. */
const TICKETS = 20_000
const PER_TICK = 5000
const TICK_MS = 250

/** Milliseconds after which ended tickets are no longer kept. */
const FORGOTTEN_MS = 600_000

/**
 * Measures one matchmaker, because a server process has one for its whole life. With a new one for each repetition, the
 * engine would compile much of its code again. Between repetitions all tickets are cancelled and removed, which is not
 * measured.
 */
async function throughput(
  queue: QueueDefinition,
  service: DeploymentService | undefined,
  makeTicket: MakeTicket,
): Promise<Measured> {
  const arrivals = arrivalsOf(TICKETS, makeTicket)
  const { matchmaker, clock, counts } = setUp(queue, service)
  const created: string[] = []
  matchmaker.on('ticketCreated', ({ ticket }) => void created.push(ticket.id))
  let matched = 0
  const fill = async () => {
    const before = counts.matched
    for (let from = 0; from < TICKETS; from += PER_TICK) {
      createAll(matchmaker, arrivals.slice(from, from + PER_TICK))
      await matchmaker.tick()
      await clock.advance(TICK_MS)
    }
    matched = counts.matched - before
  }
  const clear = async () => {
    for (const id of created.splice(0))
      if (matchmaker.getTicket(id)?.status !== 'HOST_ASSIGNED') matchmaker.cancelTicket(id)
    await matchmaker.tick()
    await clock.advance(FORGOTTEN_MS)
    await matchmaker.tick()
    globalThis.gc?.()
  }
  await repeat(8, fill, clear)
  const spent = await repeat(12, fill, clear)
  const perTicket = sum(spent) / (spent.length * TICKETS)
  return {
    value: 1 / perTicket,
    found: {
      'microseconds of CPU per ticket': round(perTicket * 1e6),
      'at least': round((Math.min(...spent) / TICKETS) * 1e6),
      'share matched': round(matched / TICKETS),
    },
  }
}

/** A function of its own, so that it is compiled only once, and not again for each loop that calls it. */
function createAll(matchmaker: Matchmaker, tickets: readonly TicketInput[]) {
  for (const ticket of tickets) matchmaker.createTicket(ticket)
}

const STANDING = 50_000
const ARRIVING = 5000
const WARM_UP = 10
const SECONDS = 12

async function standing(): Promise<Measured> {
  const { matchmaker, clock, counts } = setUp(picky, unansweringService)
  stand(matchmaker, STANDING)
  // After this time, the tickets have reached the last of their steps, at which their limits are loosest.
  await clock.advance(30_000)
  const arrivals = arrivalsOf(ARRIVING * (WARM_UP + SECONDS), (sample, index) => ticketOf('picky', sample, index, 1))
  const second = async () => {
    createAll(matchmaker, arrivals.splice(-ARRIVING))
    await matchmaker.tick()
    await clock.advance(1000)
  }
  await repeat(WARM_UP, second)
  const before = { ...counts }
  const spent = await repeat(SECONDS, second)
  return {
    value: (sum(spent) / spent.length) * 100,
    found: {
      seconds: spent.length,
      'milliseconds of CPU in the worst': round(Math.max(...spent) * 1000),
      'share matched': round((counts.matched - before.matched) / (counts.created - before.created)),
    },
  }
}

const WAITING = 100_000

async function memory(): Promise<Measured> {
  const { matchmaker } = setUp(apart, unansweringService)
  // A first pass, so that loading and compilation are not charged to the tickets.
  stand(matchmaker, 1000, 'warm')
  await matchmaker.tick()
  const before = bytesUsed()
  stand(matchmaker, WAITING)
  await matchmaker.tick()
  return { value: (bytesUsed() - before) / WAITING / 1000, found: {} }
}

function setUp(queue: QueueDefinition, service: DeploymentService | undefined) {
  const clock: ManualClock = createManualClock()
  const matchmaker = createServedMatchmaker({
    deployments: service,
    queues: [queue],
    clock,
    random: seededRandom(1),
  })
  const counts = { created: 0, matched: 0 }
  matchmaker.on('ticketCreated', () => void (counts.created += 1))
  matchmaker.on('matchFound', ({ tickets }) => void (counts.matched += tickets.length))
  return { matchmaker, clock, counts }
}

function ticketOf(
  queue: string,
  { latitude, longitude, skill: rating }: Sample,
  index: number,
  size: number,
): TicketInput {
  const players = Array.from({ length: size }, (_, player) => ({
    id: `p${index}-${player}`,
    coordinates: { latitude, longitude },
    attributes: { skill: rating },
  }))
  return { queue, players }
}

/** Creates tickets that match no other. */
function stand(matchmaker: Matchmaker, count: number, name = 'standing') {
  const sample = createSampler(7)
  for (let index = 0; index < count; index += 1) {
    const { latitude, longitude, skill: rating } = sample()
    const attributes = { skill: rating, taste: index + 1 }
    const player = { id: `${name}${index}`, coordinates: { latitude, longitude }, attributes }
    matchmaker.createTicket({ queue: 'picky', players: [player] })
  }
}

/** Creates the tickets before the clock runs, the last one first. */
function arrivalsOf(count: number, makeTicket: (sample: Sample, index: number) => TicketInput): TicketInput[] {
  const sample = createSampler(99)
  return Array.from({ length: count }, (_, index) => makeTicket(sample(), index))
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function bytesUsed(): number {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.()
  // Only the resident size includes columns that grow in place, as far as they have been written to.
  return process.memoryUsage.rss()
}

const round = (value: number) => Number(value.toPrecision(3))

const measured = await measurements[process.argv[2] as Measurement]()
if (process.send === undefined) console.log(measured)
else process.send(measured)
