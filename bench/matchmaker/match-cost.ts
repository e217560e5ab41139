import { defineQueue } from '@muster/matchmaker'
import { compileQueue, createPool, STEP } from '@muster/matchmaker/internal'
import { atMost, type Figures } from '../figure.js'
import { firstFit } from './first-fit.js'
import { NOW, rules, ruleTicket } from './kernel-workload.js'
import { leastCost } from './least-cost.js'
import { averageCost, standing, type Standing } from './standing.js'
import { createSampler } from './workload.js'

/** Number of tickets. All wait when the round begins, so every matchmaker gets the same waits. */
const TICKETS = 10_000

/** Maximum cost of matches, as a multiple of the least possible cost. */
const goals = [
  { name: 'pairs', size: 2, goal: 1.3 },
  { name: 'matches of 10', size: 10, goal: 1.45 },
] as const

/**
 * Compares the cost of one round's matches with a lower bound: no way to match the same players within the rules costs
 * less (`least-cost.ts`). First fit, which matches fewer players, is measured too.
 */
export async function matchCostFigures(): Promise<Figures> {
  const sample = createSampler(1)
  const tickets = Array.from({ length: TICKETS }, () => standing(sample()))
  const results = goals.map(({ name, size, goal }) => {
    const ours = oneRound(tickets, size)
    const theirs = firstFit(tickets, size)
    const least = leastCost(ours.flat(), size)
    const title = `kernel: cost of ${name} against the least possible, ${TICKETS.toLocaleString('en')} tickets`
    return {
      figure: atMost(title, averageCost(ours) / least, goal, '×'),
      peer: { least, ours: measured(ours, least), firstFit: measured(theirs, least) },
    }
  })
  return {
    figures: results.map(({ figure }) => figure),
    peers: Object.fromEntries(results.map(({ figure, peer }) => [figure.name, peer])),
  }
}

function measured(matches: readonly (readonly Standing[])[], least: number) {
  const cost = averageCost(matches)
  return { percent: (100 * matches.flat().length) / TICKETS, cost, times: cost / least }
}

/** Returns the matches of one round, made in steps as in the matchmaker. */
function oneRound(tickets: readonly Standing[], size: number): Standing[][] {
  const queue = { name: 'queue', matchSize: size, rules, deploy: { application: 'game', version: '1' } }
  const compiled = compileQueue(defineQueue(queue))
  const pool = createPool(compiled.model)
  const bySlot = new Map(
    tickets.map((ticket, index) => {
      const entry = compiled.entryOf(ruleTicket({ ...ticket.sample, size: 1 }, index))
      return [pool.add(entry), ticket]
    }),
  )
  const round = pool.round(NOW)
  const matches: Standing[][] = []
  for (let goesOn = true; goesOn;) {
    goesOn = round.step(STEP)
    for (const { slots } of round.take()) {
      matches.push(slots.map((slot) => bySlot.get(slot) as Standing))
      for (const slot of slots) pool.remove(slot)
    }
  }
  return matches
}
