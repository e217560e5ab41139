import { defineQueue, type Queue, type RuleDefinition } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import type { Figures, Slice } from '../figures/figures.js'
import { measuredRun, qualityOf } from './quality.js'

const queueOf = (rules: readonly RuleDefinition[]): Queue =>
  defineQueue({
    name: 'ranked',
    teams: [{ name: 'team', count: 2, size: 5 }],
    rules,
    deploy: { application: 'game', version: '1' },
  })

const spread = (mean: number) => ({ count: 9, mean, p10: 0, p50: 0, p90: 42_000, p95: 0, p99: 0, max: 0 })

/** Creates the figures of a run with these means. */
function figuresOf(means: Readonly<Record<string, number>>, more: object = {}): Figures {
  const names = ['waitMs', 'distanceKm', 'latencyMs', 'skillSpread', 'teamGap']
  const spreads = Object.fromEntries(names.map((name) => [name, spread(means[name] ?? 0)]))
  const slice = { players: 10, ends: { assigned: 0.6, gaveUp: 0.1, expired: 0.1, refused: 0.2 }, ...spreads }
  const favourite = spread(means['favourite'] ?? 0.5)
  const queues = { ranked: { matches: { favourite }, expansion: [], ...more } }
  return { by: { queue: { ranked: slice as unknown as Slice } }, matches: { favourite }, queues } as unknown as Figures
}

const skill: RuleDefinition = { kind: 'difference', attribute: 'mmr', max: { from: 50, to: 400, overMs: 30_000 } }

describe('the cost of a run in a search', () => {
  test('the cost of a run in a search sums the rule limits in units of their strictest limits in the file', () => {
    const rules: RuleDefinition[] = [
      skill,
      { kind: 'distance', maxKm: 500 },
      { kind: 'latency', maxMs: 80 },
      { kind: 'balance', attribute: 'mmr', max: 100 },
      { kind: 'balance', measure: 'predictedWin', mean: 'mu', uncertainty: 'sigma', max: 0.7 },
    ]
    const quality = qualityOf(queueOf(rules), ['difference mmr'])
    expect(quality.skillAttribute).toBe('mmr')
    const figures = figuresOf({ skillSpread: 100, distanceKm: 250, latencyMs: 40, teamGap: 30, favourite: 0.6 })
    expect(quality.costOf(figures, queueOf(rules))).toBeCloseTo(2 + 0.5 + 0.5 + 0.3 + 0.5)
  })

  test('the cost of a run in a search uses the units of the queue in the file, not those of the candidate', () => {
    const quality = qualityOf(queueOf([skill]), ['difference mmr'])
    const looser = queueOf([{ ...skill, max: 300 }])
    expect(quality.costOf(figuresOf({ skillSpread: 100 }), looser)).toBe(2)
  })

  test('the cost of a run in a search uses the current limit of a rule if its values are not measured', () => {
    const level: RuleDefinition = {
      kind: 'require',
      attribute: 'level',
      operator: '>=',
      value: [
        { afterMs: 0, value: 10 },
        { afterMs: 9000, value: 5 },
      ],
    }
    const queue = queueOf([level])
    const quality = qualityOf(queue, ['require level'])
    expect(quality.parts).toEqual([{ name: 'require level', what: 'limit', per: 10 }])
    const steps = [
      { after: 0, limit: 10, share: 0.6 },
      { after: 9000, limit: 5, share: 0.3 },
      { after: 20_000, limit: null, share: 0.1 },
    ]
    const figures = figuresOf({}, { expansion: [{ rule: 'require level', unit: '', steps }] })
    expect(quality.costOf(figures, queue)).toBeCloseTo(0.6 * 1 + 0.3 * 1.5 + 0.1 * 3)
    expect(quality.costOf(figuresOf({}), queueOf([{ ...level, value: 5 }]))).toBe(1.5)
  })

  test('the cost of a run in a search is not negative if no match has a known favourite', () => {
    const rule: RuleDefinition = {
      kind: 'balance',
      measure: 'predictedWin',
      mean: 'mu',
      uncertainty: 'sigma',
      max: [
        { afterMs: 0, value: 0.6 },
        { afterMs: 9000, value: 0.8 },
      ],
    }
    const quality = qualityOf(queueOf([rule]), [])
    const favourite = { ...spread(0), count: 0 }
    const figures = figuresOf({}, { matches: { favourite } })
    expect(quality.costOf(figures, queueOf([rule]))).toBe(0)
    expect(quality.costOf(figuresOf({ favourite: 0.6 }), queueOf([rule]))).toBeCloseTo(1)
  })

  test('the cost of a run in a search uses the stricter of two rules about the same value', () => {
    const loose: RuleDefinition = { ...skill, name: 'loose', max: 200 }
    expect(qualityOf(queueOf([loose, skill]), ['difference mmr']).parts).toEqual([
      { name: 'difference mmr', what: 'skillSpread', per: 50 },
    ])
  })
})

test('unmatched tickets count among the longest waits, and a run without matches has infinite cost', () => {
  const queue = queueOf([skill])
  const quality = qualityOf(queue, ['difference mmr'])
  const run = measuredRun(figuresOf({ skillSpread: 75 }), queue, quality)
  expect(run).toMatchObject({ cost: 1.5, waitP90Ms: 42_000 })
  expect(run.gaveUp).toBeCloseTo(0.25)
  const nobody = { by: { queue: {} } } as Figures
  expect(measuredRun(nobody, queue, quality)).toMatchObject({ cost: Infinity, waitP90Ms: Infinity })
})
