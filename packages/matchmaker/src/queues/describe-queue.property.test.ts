import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileQueue } from './compile.js'
import { defineQueue, type Queue, type QueueDefinition } from './queue.js'
import { chordSquared } from '@muster/core/internal'
import { queues } from './rules/arbitraries.fixture.js'
import { allLimitsOf, limitsOf, type Rule } from './rules/definition.js'
import { limitAfter } from './rules/oracle-limits.fixture.js'
import type { RelaxingLimit } from './rule-parts/relaxing.js'
import { curvesOf, describeQueue, type LimitCurve } from './describe-queue.js'
import { digits, duration, inWords } from './rule-parts/english.js'

const KINDS = [
  'distance',
  'latency',
  'difference',
  'equal',
  'different',
  'overlap',
  'require',
  'accepts',
  'compare',
  'roles',
  'balance',
  'avoid',
  'any',
  'all',
  'not',
] as const
const anyQueue = queues(KINDS, 4)

/** Returns the limit of a curve after a wait; NaN where the rule does not count. */
const limitOn = ({ points }: LimitCurve, waited: number) =>
  points.findLast(({ after }) => after <= waited)?.limit ?? Number.NaN

/** Returns the numbers and waits of a limit. */
function thresholdsOf(limit: RelaxingLimit): { readonly values: readonly number[]; readonly waits: readonly number[] } {
  if (typeof limit === 'number') return { values: [limit], waits: [] }
  if ('strictest' in limit) return { values: [limit.strictest, limit.loosest], waits: [] }
  if ('from' in limit) {
    const { from, to, startMs = 0, overMs } = limit
    if (from === to) return { values: [from], waits: [] }
    return { values: [from, to], waits: startMs === 0 ? [overMs] : [startMs, startMs + overMs] }
  }
  return { values: limit.map(({ value }) => value), waits: limit.slice(1).map(({ afterMs }) => afterMs) }
}

test('property: the description of a queue has every limit of its rules and teams, and when each changes', () => {
  fc.assert(
    fc.property(anyQueue, (definition) => {
      const queue = defineQueue(definition)
      const text = describeQueue(queue).sentences.join(' ')
      const minima = queue.teams.flatMap(({ size }) => (typeof size === 'number' ? [] : [size.min]))
      const limits = [...queue.rules.flatMap(allLimitsOf), ...minima].map(thresholdsOf)
      for (const value of limits.flatMap(({ values }) => values)) {
        const words = [digits(value), inWords(value), `${digits(value * 100)} %`, ...(value === 0 ? ['no '] : [])]
        expect(
          words.some((word) => text.includes(word)),
          `${value} in: ${text}`,
        ).toBe(true)
      }
      const waits = [
        ...limits.flatMap((limit) => limit.waits),
        ...queue.rules.flatMap(({ optionalAfterMs }) => optionalAfterMs ?? []),
        ...(queue.lastResortMs === undefined ? [] : [queue.lastResortMs]),
        queue.expireAfterMs,
      ]
      for (const wait of waits) expect(text).toContain(duration(wait))
    }),
  )
})

test('property: the description of a queue consists of complete sentences', () => {
  fc.assert(
    fc.property(anyQueue, (definition) => {
      for (const sentence of describeQueue(defineQueue(definition)).sentences) {
        expect(sentence).toMatch(/^[A-Z\d][^]*[^\s.;,]\.$/)
        expect(sentence).not.toMatch(/undefined|NaN|Infinity|\[object|\$partySize| {2}|\(undefined\)/)
      }
    }),
  )
})

/** Returns the only limit of a rule; undefined if it has none or several. */
const limitOfRule = (rule: Rule): RelaxingLimit | undefined =>
  limitsOf(rule).length === 1 ? limitsOf(rule)[0] : undefined

/** Returns the limit by the definition, with lines as stairs of 16 steps; NaN where the rule does not count. */
function byDefinition(rule: Rule, limit: RelaxingLimit, waited: number, { lastResortMs = Infinity }: QueueDefinition) {
  const { optionalAfterMs = Infinity } = rule
  if (waited >= lastResortMs)
    return rule.hard && optionalAfterMs > lastResortMs ? limitAfter(limit, Number.MAX_VALUE) : Number.NaN
  return waited >= optionalAfterMs ? Number.NaN : limitAfter(limit, waited)
}

const waits = fc.array(fc.integer({ min: 0, max: 12_000 }), { minLength: 1, maxLength: 20 })

test('property: the described curve of a limit has the value of the definition after any wait', () => {
  fc.assert(
    fc.property(anyQueue, waits, (definition, waited) => {
      const queue = defineQueue(definition)
      const curves = curvesOf(queue)
      for (const rule of queue.rules) {
        const limit = limitOfRule(rule)
        const curve = curves.find((one) => [rule.name, `${rule.name} difference`].includes(one.rule))
        if (limit === undefined) continue
        for (const wait of waited)
          expect(limitOn(curve as LimitCurve, wait)).toBe(byDefinition(rule, limit, wait, queue))
      }
    }),
  )
})

/** Returns the limits of the compiled rule, where the kernel has a table of them. */
function compiledLimit(queue: Queue, name: string, waited: number): number | undefined {
  const { rules, levels } = compileQueue(queue)
  const compiled = rules.find(({ rule }) => rule.name === name)
  const level = levels.at.findLastIndex((ms) => ms <= waited)
  return compiled?.radius?.squared[level] ?? compiled?.span?.limit[level]
}

test('property: the described curve of a limit has the value of the compiled rule after any wait', () => {
  fc.assert(
    fc.property(queues(['distance', 'difference'], 3), waits, (definition, waited) => {
      const queue = defineQueue(definition)
      for (const curve of curvesOf(queue)) {
        const rule = queue.rules.find(({ name }) => name === curve.rule)
        if (rule === undefined) continue
        // The kernel has no table for a rule about some teams.
        if (rule.kind === 'difference' && (rule.scope === 'team' || rule.team !== undefined)) continue
        for (const wait of waited) {
          const limit = limitOn(curve, wait)
          const shown = Number.isNaN(limit) ? Infinity : limit
          expect(rule.kind === 'distance' ? chordSquared(shown) : shown).toBe(compiledLimit(queue, rule.name, wait))
        }
      }
    }),
  )
})

test('property: the described curve of a limit starts at 0 ms, and the limit changes at each later point', () => {
  fc.assert(
    fc.property(anyQueue, (definition) => {
      for (const { points } of curvesOf(defineQueue(definition))) {
        expect(points[0]?.after).toBe(0)
        for (const [index, { after, limit }] of points.slice(1).entries()) {
          expect(after).toBeGreaterThan(points[index]?.after ?? Infinity)
          expect(limit).not.toBe(points[index]?.limit)
        }
      }
    }),
  )
})
