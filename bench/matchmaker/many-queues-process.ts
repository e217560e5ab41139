/**
 * Measures what many queues cost a matchmaker, in a process of its own. One matchmaker has the tickets in one queue,
 * another has them divided among several. They take turns, so that other work on the machine affects both alike. By
 * hand: `node bench/dist/matchmaker/many-queues-process.js`.
 */
import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import type { Matchmaker, QueueDefinition, TicketInput } from '@muster/matchmaker'
import { median } from '../figure.js'
import { createServedMatchmaker, unansweringService } from './services.js'
import { createSampler, STEPS } from './workload.js'

export interface QueueCosts {
  /** CPU time with the tickets divided among many queues, relative to that of one queue. */
  readonly divided: number
  /** CPU time of one queue with all tickets beside many empty queues, relative to that of one queue alone. */
  readonly besideEmpty: number
  readonly found: Readonly<Record<string, unknown>>
}

const QUEUES = 20
const PER_TICK = 2500
const TICK_MS = 250
const WARM_UP = 30
const ROUNDS = 40
/** Number of ticks after which the other matchmaker is measured. */
const TURN = 4

const deploy = { application: 'game', version: '1' }
const rules = [
  { kind: 'distance', maxKm: STEPS.map(({ afterS, km }) => ({ afterMs: afterS * 1000, value: km })) },
  {
    kind: 'difference',
    attribute: 'skill',
    max: STEPS.map(({ afterS, skill: value }) => ({ afterMs: afterS * 1000, value })),
  },
] as const satisfies QueueDefinition['rules']

interface Contender {
  readonly matchmaker: Matchmaker
  readonly clock: ManualClock
  readonly queueOf: (index: number) => string
  readonly counts: { matched: number; created: number }
  readonly spentMs: number[]
}

function contender(queues: number, used: number): Contender {
  const clock = createManualClock()
  const matchmaker = createServedMatchmaker({
    deployments: unansweringService,
    queues: Array.from({ length: queues }, (_, each) => ({ name: `duel-${each}`, matchSize: 2, rules, deploy })),
    clock,
    random: seededRandom(1),
  })
  const counts = { matched: 0, created: 0 }
  matchmaker.on('matchFound', ({ tickets }) => void (counts.matched += tickets.length))
  return { matchmaker, clock, queueOf: (index) => `duel-${index % used}`, counts, spentMs: [] }
}

/** Returns the CPU milliseconds of a tick, including the creation of its new tickets. */
async function tick({ matchmaker, clock, queueOf, counts }: Contender, sample: ReturnType<typeof createSampler>) {
  const tickets = Array.from({ length: PER_TICK }, (): TicketInput => {
    const { latitude, longitude, skill } = sample()
    counts.created += 1
    const player = { id: `p${counts.created}`, coordinates: { latitude, longitude }, attributes: { skill } }
    return { queue: queueOf(counts.created), players: [player] }
  })
  const before = process.cpuUsage()
  for (const ticket of tickets) matchmaker.createTicket(ticket)
  await matchmaker.tick()
  const { user, system } = process.cpuUsage(before)
  await clock.advance(TICK_MS)
  return (user + system) / 1000
}

const contenders = {
  one: contender(1, 1),
  divided: contender(QUEUES, QUEUES),
  besideEmpty: contender(QUEUES, 1),
}

for (let round = 0; round < WARM_UP + ROUNDS; round += TURN)
  for (const each of Object.values(contenders)) {
    const sample = createSampler(round + 1)
    for (let turn = 0; turn < TURN; turn += 1) {
      const ms = await tick(each, sample)
      if (round >= WARM_UP) each.spentMs.push(ms)
    }
  }

const costOf = ({ spentMs }: Contender) => median(spentMs)
const shareOf = ({ counts }: Contender) => Number((counts.matched / counts.created).toPrecision(3))
const { one, divided, besideEmpty } = contenders
const measured: QueueCosts = {
  divided: costOf(divided) / costOf(one),
  besideEmpty: costOf(besideEmpty) / costOf(one),
  found: {
    'milliseconds of a tick, one queue': Math.round(costOf(one) * 10) / 10,
    'share matched': shareOf(one),
    'share matched in many queues': shareOf(divided),
  },
}
if (process.send === undefined) console.log(measured)
else process.send(measured)
process.exit(0)
