/**
 * One measurement of the whole matchmaker, in a process of its own so that the garbage of another is not charged to it.
 * By hand, to profile it: `node --expose-gc --cpu-prof bench/dist/matchmaker/whole-process.js pairs`.
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
/** Tickets that have been given a taste of their own go with nobody, however long they wait. */
const taste = { kind: 'difference', attribute: 'taste', max: 0.5, missing: { value: 0 } } as const

const duel: QueueDefinition = { name: 'duel', matchSize: 2, rules: [distance, skill], deploy }
const ranked: QueueDefinition = {
  name: 'ranked',
  teams: [{ name: 'team', count: 2, size: 5 }],
  rules: [distance, skill],
  deploy,
}
/** The same facts about each ticket, in a queue that costs no search. */
const apart: QueueDefinition = {
  name: 'picky',
  matchSize: 100,
  rules: [{ kind: 'distance', maxKm: 1 }, skill, { ...taste, max: 1e9 }],
  deploy,
}
const picky: QueueDefinition = { name: 'picky', matchSize: 2, rules: [distance, skill, taste], deploy }

const measurements = {
  /**
   * From the ticket to the intent in the store and the place in the queue of creates. As many creates as may be in
   * flight are sent and never answered: further requests would follow the service's pace of tens per second.
   * `served` includes their cost and all that follows, with a server for every match.
   */
  pairs: () => throughput(duel, unansweringService, (sample, index) => ticketOf('duel', sample, index, 1)),
  parties: () =>
    throughput(ranked, unansweringService, (sample, index) => ticketOf('ranked', sample, index, sample.size)),
  /** The same with every create answered, its server READY at once by webhook, and stopped once it is assigned. */
  served: () => throughput(duel, undefined, (sample, index) => ticketOf('duel', sample, index, 1)),
  standing,
  memory,
}

/** Microseconds of CPU for a warm-up or a measurement: what is slow is measured over less. */
const MOST_CPU = 10e6

type MakeTicket = (sample: Sample, index: number) => TicketInput

/**
 * Repeats a part `times` times, or until MOST_CPU is spent. Returns the CPU seconds of each repetition.
 * @param after what is done after each of them, and does not count.
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

/** The number of tickets, and of tickets per tick: ten times the servers that are allowed by default. */
const TICKETS = 20_000
const PER_TICK = 5000
const TICK_MS = 250

/** By then tickets that have ended are not kept any more. */
const FORGOTTEN_MS = 600_000

/**
 * One matchmaker, as a server process keeps one for its whole life: for each new one the engine would compile much of
 * its code again. Between repetitions all tickets are cancelled and forgotten, which is not measured.
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

/** By itself, so that it is compiled once, and not again for each loop that calls it. */
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
  // They have come to the last of their steps, and are as open as they will ever be.
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
  // What is loaded and compiled on the way is not charged to the tickets.
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

/** Tickets that nobody will ever suit. */
function stand(matchmaker: Matchmaker, count: number, name = 'standing') {
  const sample = createSampler(7)
  for (let index = 0; index < count; index += 1) {
    const { latitude, longitude, skill: rating } = sample()
    const attributes = { skill: rating, taste: index + 1 }
    const player = { id: `${name}${index}`, coordinates: { latitude, longitude }, attributes }
    matchmaker.createTicket({ queue: 'picky', players: [player] })
  }
}

/** Made before the clock runs, the last first. */
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
  // Columns that grow in place are in no count but this one, and there only as far as they are written to.
  return process.memoryUsage.rss()
}

const round = (value: number) => Number(value.toPrecision(3))

const measured = await measurements[process.argv[2] as Measurement]()
if (process.send === undefined) console.log(measured)
else process.send(measured)
