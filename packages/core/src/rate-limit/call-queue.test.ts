import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../time.js'
import { CallQueue } from './call-queue.js'

const signal = new AbortController().signal

type Step =
  | { readonly add: number }
  | { readonly take: true }
  | { readonly drop: number }
  | { readonly move: number; readonly to: number }

test('the next call is always the first of the highest priority, whatever is added, removed or moved', () => {
  const priority = fc.constantFrom(-1, 0, 0, 0.5, 3)
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ add: priority }),
    fc.record({ take: fc.constant(true as const) }),
    fc.record({ drop: fc.nat(20) }),
    fc.record({ move: fc.nat(20), to: priority }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const queue = new CallQueue()
      // The model: a stable sort, which keeps the order of arrival.
      let model: { run: () => Promise<unknown>; id: string; priority: number }[] = []
      const put = (call: (typeof model)[number]) => {
        model = [...model, call].toSorted((a, b) => b.priority - a.priority)
      }
      for (const [index, action] of steps.entries()) {
        if ('add' in action) {
          const call = { run: async () => index, id: String(index), priority: action.add }
          queue.enqueue(call.run, { ...call, signal })
          put(call)
        } else if ('take' in action) {
          expect(queue.dequeue()).toBe(model.shift()?.run)
        } else {
          const call = model['drop' in action ? action.drop : action.move]
          if (call === undefined) continue
          model = model.filter((other) => other !== call)
          if ('drop' in action) {
            queue.remove(call.id)
          } else {
            queue.setPriority(call.id, action.to)
            put({ ...call, priority: action.to })
          }
        }
        expect(queue.size).toBe(model.length)
        for (const each of [0, 3])
          expect(queue.filter({ priority: each })).toEqual(
            model.filter((call) => call.priority === each).map((call) => call.run),
          )
      }
      for (const { run } of model) expect(queue.dequeue()).toBe(run)
      expect(queue.dequeue()).toBeUndefined()
    }),
  )
})

test('a call that left cannot be removed or moved', () => {
  const queue = new CallQueue()
  queue.enqueue(async () => {}, { id: 'a', signal })
  queue.dequeue()
  queue.remove('a')
  expect(queue.size).toBe(0)
  expect(() => queue.setPriority('a', 1)).toThrow(ReferenceError)
})

test.each([
  ['first', (ids: number[]) => ids],
  ['last', (ids: number[]) => ids.toReversed()],
])('100,000 waiting calls can be aborted one by one, from the %s', (_case, order) => {
  const queue = new CallQueue()
  const ids = Array.from({ length: 100_000 }, (_, id) => id)
  for (const id of ids) queue.enqueue(async () => {}, { id: String(id), priority: id % 7, signal })
  const start = systemClock.now()
  for (const id of order(ids)) queue.remove(String(id))
  expect(queue.size).toBe(0)
  // Takes some 50 ms; quadratic time would be a minute.
  expect(systemClock.now() - start).toBeLessThan(5000)
})
