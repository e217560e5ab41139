import { greatCircleKm } from '@muster/core'
import { defineQueue } from '@muster/matchmaker'
import { compileQueue, createPool } from '@muster/matchmaker/internal'
import { atMost, type Figures } from '../figure.js'
import { NOW, rules, ruleTicket } from './kernel-workload.js'
import { createSampler, limitsBetween, STEPS, type Sample } from './workload.js'

const SIZES = [2, 10, 100, 1000, 2500, 5000, 10_000, 50_000, 100_000]
/** Number of tickets for each crowd size. They form crowds of that size: at least one, at most `MOST_CROWDS`. */
const TICKETS = 20_000
const MOST_CROWDS = 2000
/**
 * Maximum cost of the kernel's pairs, relative to greedy pairs. Two samples of a crowd differ by more than the
 * tolerance of 0.5 %.
 */
const GOAL = 1.005

const STEP = 20_000
const compiled = compileQueue(
  defineQueue({ name: 'pairs', matchSize: 2, rules, deploy: { application: 'game', version: '1' } }),
)

/**
 * Compares the cost of the kernel's pairs with that of greedy pairs: each ticket, the oldest first, gets the best
 * remaining one within the rules. The cost is the distance and the difference in skill, each in units of its strictest
 * limit. Only the cheapest pairs of both are compared, as many as both have, because additional pairs are more
 * expensive.
 */
export async function pairCostFigures(): Promise<Figures> {
  const results = SIZES.map((size) => ({ name: nameOf(size), ...compared(size) }))
  return {
    figures: results.map(({ name, ratio }) => atMost(name, ratio, GOAL, '×')),
    peers: Object.fromEntries(results.map(({ name, ...found }) => [`${name}: pairs of both`, found])),
  }
}

const nameOf = (size: number) =>
  `kernel: cost of pairs against greedy nearest neighbour, ${size.toLocaleString('en')} tickets`

function compared(size: number) {
  let [cost, greedyCost, pairs, greedyPairs] = [0, 0, 0, 0]
  const crowds = Math.max(1, Math.min(MOST_CROWDS, Math.round(TICKETS / size)))
  for (let seed = 1; seed <= crowds; seed++) {
    const sample = createSampler(seed)
    const tickets = Array.from({ length: size }, sample)
    const [ours, theirs] = [costsOf(tickets), greedyCosts(tickets)]
    const count = Math.min(ours.length, theirs.length)
    cost += sumOf(ours, count)
    greedyCost += sumOf(theirs, count)
    pairs += ours.length
    greedyPairs += theirs.length
  }
  return { ratio: cost / greedyCost, crowds, pairs, greedyPairs }
}

const sumOf = (costs: readonly number[], count: number) =>
  costs
    .toSorted((one, other) => one - other)
    .slice(0, count)
    .reduce((sum, cost) => sum + cost, 0)

/** Returns the costs of one round's pairs, made in steps as in the matchmaker. */
function costsOf(tickets: readonly Sample[]): number[] {
  const pool = createPool(compiled.model)
  const bySlot = new Map(
    tickets.map((ticket, index) => [pool.add(compiled.entryOf(ruleTicket({ ...ticket, size: 1 }, index))), ticket]),
  )
  const round = pool.round(NOW)
  const costs: number[] = []
  for (let goesOn = true; goesOn;) {
    goesOn = round.step(STEP)
    for (const { slots } of round.take()) {
      const [one, other] = slots.map((slot) => bySlot.get(slot)) as [Sample, Sample]
      costs.push(costOf(one, other))
      for (const slot of slots) pool.remove(slot)
    }
  }
  return costs
}

/** Returns the cost of a pair; Infinity if the two may not meet. */
function costOf(one: Sample, other: Sample): number {
  const limits = limitsBetween(one, other)
  const gap = Math.abs(one.skill - other.skill)
  if (gap > limits.skill) return Infinity
  const km = greatCircleKm(one, other)
  return km > limits.km + 1e-6 ? Infinity : km / STEPS[0].km + gap / STEPS[0].skill
}

/**
 * Width of a list of tickets by skill, in units of the strictest limit. Only lists near enough to contain a better
 * partner are read.
 */
const WIDTH = 0.2

function greedyCosts(tickets: readonly Sample[]): number[] {
  const listOf = ({ skill }: Sample) => Math.floor(skill / STEPS[0].skill / WIDTH)
  const lists = new Map<number, Set<Sample>>()
  const inOrder = tickets.toSorted((one, other) => other.waitedS - one.waitedS)
  for (const ticket of inOrder) {
    const list = lists.get(listOf(ticket)) ?? new Set()
    lists.set(listOf(ticket), list.add(ticket))
  }
  const farthest = Math.ceil(STEPS[3].skill / STEPS[0].skill / WIDTH)
  const costs: number[] = []
  for (const ticket of inOrder) {
    const own = listOf(ticket)
    if (lists.get(own)?.delete(ticket) !== true) continue
    let [best, partner]: [number, Sample | undefined] = [Infinity, undefined]
    for (let away = 0; away <= farthest && (away - 1) * WIDTH < best; away++)
      for (const list of away === 0 ? [own] : [own - away, own + away])
        for (const other of lists.get(list) ?? []) {
          // The difference in skill alone excludes most tickets, so their distance is not computed.
          if (Math.abs(ticket.skill - other.skill) / STEPS[0].skill >= best) continue
          const cost = costOf(ticket, other)
          if (cost < best) [best, partner] = [cost, other]
        }
    if (partner === undefined) continue
    lists.get(listOf(partner))?.delete(partner)
    costs.push(best)
  }
  return costs
}
