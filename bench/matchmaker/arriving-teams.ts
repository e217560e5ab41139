import { greatCircleKm } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { compileQueue, createPool } from '@muster/matchmaker/internal'
import { atLeast, atMost, type Figures } from '../figure.js'
import { NOW, rules, ruleTicket } from './kernel-workload.js'
import { createSampler, STEPS, type Sample } from './workload.js'

/** Number of tickets, the seconds within which they come, and the second at which the measurement ends. */
const TICKETS = 4000
const COME_S = 60
const END_S = 150
const TICK_MS = 250
const SEEDS = [1, 2]

/** Teams of five, each with a tank and a healer, and as even as possible. */
const queue: QueueDefinition = {
  name: 'five',
  teams: [{ name: 'team', count: 2, size: 5 }],
  rules: [
    ...rules,
    { kind: 'roles', roles: { tank: 1, healer: 1 } },
    { kind: 'balance', attribute: 'skill', max: 1000 },
  ],
  expireAfterMs: 1_000_000,
  deploy: { application: 'game', version: '1' },
}

/**
 * Goals of each queue. `percent`: share of players who are matched. `waitS`: maximum 95th percentile of waits in
 * seconds. `cost`: mean cost of a match's pairs.
 */
const goals = [
  { name: 'no patience', more: {}, percent: 76, waitS: 34, cost: 2.95 },
  { name: 'patience', more: { patience: { cost: 2.5, untilMs: 23_000 } }, percent: 75, waitS: 38, cost: 2.7 },
] as const

/**
 * Measures how many players are matched, how long they wait and what matches cost, in units of the strictest limits.
 * Parties with roles arrive within a minute, in the queue that most team games use. The results are means over several
 * crowds.
 */
export async function arrivingTeamFigures(): Promise<Figures> {
  const results = goals.map((goal) => {
    const runs = SEEDS.map((seed) => arrive({ ...queue, ...goal.more }, seed))
    const mean = (of: (run: Arrived) => number) => runs.reduce((sum, run) => sum + of(run), 0) / runs.length
    const waitS = mean((run) => run.waitS)
    return { goal, percent: mean(({ percent }) => percent), waitS, cost: mean(({ cost }) => cost) }
  })
  return {
    figures: results.flatMap(({ goal, percent, waitS, cost }) => {
      const title = `kernel: 5v5 with roles arriving, ${goal.name}`
      return [
        atLeast(`${title}: players matched`, percent, goal.percent, '%'),
        atMost(`${title}: wait of 95 %`, waitS, goal.waitS, 's'),
        atMost(`${title}: cost`, cost, goal.cost, 'strictest limits'),
      ]
    }),
    peers: {},
  }
}

interface Arrived {
  readonly percent: number
  readonly waitS: number
  readonly cost: number
}

function arrive(definition: QueueDefinition, seed: number): Arrived {
  const compiled = compileQueue(defineQueue(definition))
  const pool = createPool(compiled.model)
  const [sample, random] = [createSampler(seed), seededRandom(seed)]
  const role = () => (random() < 0.62 ? 'dps' : random() < 0.6 ? 'healer' : 'tank')
  const tickets = Array.from({ length: TICKETS }, (_, index) => {
    const one = { ...sample(), waitedS: 0 }
    const ticket = ruleTicket(one, index)
    const at = NOW + Math.floor((1000 * COME_S * index) / TICKETS)
    // The last two players of a large party can play any role, so that its team can have both required roles.
    const players = ticket.players.map((player, place) => ({
      ...player,
      roles: place >= 3 ? ['tank', 'healer', 'dps'] : [role()],
    }))
    return { sample: one, at, entry: compiled.entryOf({ ...ticket, createdAt: at, players }) }
  })
  const bySlot = new Map<number, (typeof tickets)[number]>()
  const waits: number[] = []
  const costs: number[] = []
  let next = 0
  for (let now = NOW; now <= NOW + 1000 * END_S; now += TICK_MS) {
    for (let one = tickets[next]; one !== undefined && one.at <= now; one = tickets[++next])
      bySlot.set(pool.add(one.entry), one)
    const matches = [...pool.group(now)]
    for (const { slots } of matches) {
      const members = slots.map((slot) => bySlot.get(slot) as (typeof tickets)[number])
      for (const { sample: of, at } of members) for (let each = 0; each < of.size; each++) waits.push(now - at)
      for (const [at, one] of members.entries())
        for (const other of members.slice(at + 1)) costs.push(costOf(one.sample, other.sample))
      for (const slot of slots) pool.remove(slot)
    }
  }
  const players = tickets.reduce((sum, { sample: of }) => sum + of.size, 0)
  const sorted = waits.toSorted((one, other) => one - other)
  return {
    percent: (100 * waits.length) / players,
    waitS: (sorted[Math.floor(0.95 * sorted.length)] ?? 0) / 1000,
    cost: costs.reduce((sum, cost) => sum + cost, 0) / costs.length,
  }
}

const costOf = (one: Sample, other: Sample) =>
  greatCircleKm(one, other) / STEPS[0].km + Math.abs(one.skill - other.skill) / STEPS[0].skill
