import { seededRandom } from '@muster/core/clock'
import { defineQueue, type Queue, type RuleDefinition } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'
import type { Measured } from './promises.js'
import type { WantedRun } from './tuning-result.js'

/** A queue that matches pairs by skill, within 50 at first and 800 at the end. Its steps come too late. */
export const ranked = (rules: readonly RuleDefinition[] = [skill]): Queue =>
  defineQueue({ name: 'ranked', matchSize: 2, rules, deploy: { application: 'game', version: '1' } })

export const skill: RuleDefinition = {
  kind: 'difference',
  attribute: 'skill',
  max: [
    { afterMs: 0, value: 50 },
    { afterMs: 60_000, value: 100 },
    { afterMs: 120_000, value: 400 },
    { afterMs: 180_000, value: 800 },
  ],
}

/** Probability of being matched within a second, for each unit of the limit. */
const RATE = 3e-4
/** Probability of giving up within a second. */
const GIVES_UP = 5e-4

/**
 * Computes the results of a queue with one `difference` rule by a formula. Players within the limit arrive evenly over
 * time. The mean difference in a match is half of the limit. A seed changes the rate by some percent.
 */
export function modelled({ queue, seed, share }: WantedRun): Measured {
  const rate = RATE * (1 + 0.06 * (seededRandom(seed)() - 0.5) + 0.02 * (1 - share))
  const rule = queue.rules[0]
  if (rule?.kind !== 'difference') throw new Error('the first rule of the model must be a difference rule')
  let [waiting, matched, gaveUp, cost] = [1, 0, 0, 0]
  const matchedBy: number[] = []
  for (let second = 0; second < 300; second += 1) {
    const limit = limitAfter(rule.max as TimedLimit, second * 1000)
    const found = waiting * (1 - Math.exp(-rate * limit))
    cost += found * (limit / 2 / 50)
    matched += found
    matchedBy.push(matched)
    gaveUp += (waiting - found) * GIVES_UP
    waiting -= found + (waiting - found) * GIVES_UP
  }
  const p90 = matchedBy.findIndex((one) => one >= matched * 0.9)
  const [before = 0, at = 1] = [matchedBy[p90 - 1], matchedBy[p90]]
  const waitP90Ms = Math.round((p90 + (matched * 0.9 - before) / (at - before)) * 1000)
  return { cost: cost / matched, waitP90Ms, gaveUp }
}

function limitAfter(relaxing: TimedLimit, ms: number): number {
  if (typeof relaxing === 'number') return relaxing
  if (!('from' in relaxing)) return relaxing.findLast(({ afterMs }) => afterMs <= ms)?.value ?? 0
  const { from, to, startMs = 0, overMs } = relaxing
  return from + (to - from) * Math.min(1, Math.max(0, (ms - startMs) / overMs))
}
