import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidTicket } from '../errors.js'
import { createPool } from '@muster/kernel'
import { defineQueue, type QueueDefinition } from './queue.js'
import { NOW, queues, tickets } from './rules/arbitraries.fixture.js'
import { compileQueue } from './compile.js'
import type { RuleDefinition } from './rules/definition.js'
import { brokenRules } from './rules/oracle.fixture.js'
import { createExplain } from './explain.js'

const aboutTwo: RuleDefinition['kind'][] = [
  'distance',
  'latency',
  'difference',
  'equal',
  'different',
  'overlap',
  'require',
  'accepts',
  'avoid',
]

/** A queue whose matches have two tickets. Rules within teams are not explained for two tickets. */
const forTwo = (queue: QueueDefinition): QueueDefinition => ({
  ...queue,
  teams: [{ name: 'team', count: 2, size: { min: 1, max: 3 } }],
  rules: queue.rules?.map((rule) => ({
    ...rule,
    ...('scope' in rule && { scope: 'match' as const }),
    ...('team' in rule && { team: undefined }),
  })) as QueueDefinition['rules'],
})

test('property: `compatible` counts the tickets for which a simple check finds no broken rule', () => {
  let [compatible, asked] = [0, 0]
  fc.assert(
    fc.property(queues(aboutTwo, 3), tickets(6), (queue, waiting) => {
      const definition = forTwo(queue)
      const compiled = compileQueue(defineQueue(definition))
      const pool = createPool(compiled.model)
      const there = waiting.flatMap((ticket) => {
        try {
          return [{ ticket, slot: pool.add(compiled.entryOf(ticket)) }]
        } catch (error) {
          if (error instanceof InvalidTicket) return []
          throw error
        }
      })
      const explain = createExplain(compiled)
      for (const { ticket, slot } of there) {
        const why = explain(pool, slot, NOW)
        const others = there.filter((other) => {
          const match = [ticket, other.ticket].map((one) => ({ kind: 'team', tickets: [one] }))
          return other.ticket !== ticket && brokenRules(definition, match, NOW).length === 0
        })
        expect(why.compatible).toBe(others.length)
        expect(JSON.parse(JSON.stringify(why))).toEqual(why)
        if (why.nearest) expect(why.nearest.gap).toBeGreaterThan(0)
        asked += 1
        compatible += why.compatible
      }
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 300 },
  )
  expect(asked).toBeGreaterThan(250)
  expect(compatible).toBeGreaterThan(150)
})
