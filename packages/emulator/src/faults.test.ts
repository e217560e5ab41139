import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createFaults, type Fault } from './faults.js'

/** Returns the numbers, from 1, of the requests that a fault affects, out of `count` requests. */
function struck(fault: Fault, count: number, seed = 1): number[] {
  const faults = createFaults([fault], seededRandom(seed))
  return Array.from({ length: count }, (_, index) => index + 1).filter(() => faults.strike('fleets.get') !== undefined)
}

test('a fault without probability and nth affects every request of its operation', () => {
  const faults = createFaults([{ operation: 'fleets.get', status: 500 }], seededRandom(1))
  expect(faults.strike('fleets.get')).toMatchObject({ status: 500 })
  expect(faults.strike('fleets.get')).toMatchObject({ status: 500 })
  expect(faults.strike('fleets.list')).toBeUndefined()
})

test('the effects of each fault are counted', () => {
  const always: Fault = { operation: '*', count: 2, status: 500 }
  const second: Fault = { operation: 'fleets.get', nth: [2], delayMs: 5 }
  const faults = createFaults([always, second], seededRandom(1))
  for (const operation of ['fleets.get', 'fleets.list', 'fleets.get'] as const) faults.strike(operation)
  expect(faults.counts()).toEqual([
    { fault: always, seen: 3, struck: 2 },
    { fault: second, seen: 2, struck: 1 },
  ])
})

test('the field nth of a fault selects requests of its operation by number', () => {
  expect(struck({ operation: 'fleets.get', nth: [2, 4], status: 500 }, 6)).toEqual([2, 4])
  const faults = createFaults([{ operation: 'fleets.get', nth: [2], status: 500 }], seededRandom(1))
  faults.strike('fleets.get')
  faults.strike('fleets.list')
  expect(faults.strike('fleets.get')).toBeDefined()
})

test('the field count of a fault limits how often the fault takes effect', () => {
  expect(struck({ operation: '*', count: 2, status: 500 }, 6)).toEqual([1, 2])
})

test('a fault takes effect about as often as its probability says, and exactly alike for the same seed', () => {
  const fault: Fault = { operation: '*', probability: 0.3, status: 500 }
  const first = struck(fault, 2000)
  expect(first.length).toBeGreaterThan(500)
  expect(first.length).toBeLessThan(700)
  expect(struck(fault, 2000)).toEqual(first)
  expect(struck(fault, 2000, 2)).not.toEqual(first)
  expect(struck({ ...fault, probability: 0 }, 100)).toEqual([])
  expect(struck({ ...fault, probability: 1 }, 3)).toEqual([1, 2, 3])
})

test('of several faults on one request all delays apply, and the first fault of any other kind', () => {
  const faults = createFaults(
    [
      { operation: '*', delayMs: 10 },
      { operation: '*', status: 503, retryAfterMs: 5, delayMs: 20 },
      { operation: '*', status: 500, message: 'second', effect: true, drop: 'after' },
    ],
    seededRandom(1),
  )
  expect(faults.strike('fleets.get')).toEqual({ status: 503, retryAfterMs: 5, delayMs: 30, drop: 'after' })
})

test('faults can be added and removed at run time', () => {
  const faults = createFaults([], seededRandom(1))
  const withdraw = faults.add({ operation: '*', drop: 'before' })
  faults.add({ operation: '*', body: 'html' })
  expect(faults.list()).toHaveLength(2)
  withdraw()
  expect(faults.strike('fleets.get')).toEqual({ delayMs: 0, body: 'html' })
  faults.clear()
  expect(faults.strike('fleets.get')).toBeUndefined()
})

test.each([
  [
    { operation: 'fleets.nothing', status: 500 },
    /^fault operation: must be '\*' or the id of an operation.*got "fleets.nothing"$/,
  ],
  [{ operation: '*' }, /^fault must do something/],
  [
    { operation: '*', probability: 0.5, nth: [1], status: 500 },
    /^fault nth: must not be given together with probability/,
  ],
  [{ operation: '*', probability: 2, status: 500 }, /^fault probability: .*got 2$/],
  [{ operation: '*', status: 200 }, /^fault status: .*got 200$/],
  [{ operation: '*', drop: 'after', message: 'gone' }, /^fault status: is required with effect, message, retryAfterMs/],
  [{ operation: '*', packets: {} }, /^fault packets: must have loss, delayMs, jitterMs or reorder/],
  [{ operation: '*', packets: { loss: 1.5 } }, /^fault packets\.loss: .*got 1\.5$/],
  [{ operation: '*', packets: { delayMs: 10_001 } }, /^fault packets\.delayMs: .*got 10001$/],
  [{ operation: '*', delay: 5 }, /^fault delay: is not known; did you mean delayMs\?$/],
])('the fault %j is refused, with a reason', (fault, reason) => {
  expect(() => createFaults([], seededRandom(1)).add(fault as Fault)).toThrow(reason)
})
