import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createColumns, FRESH, SETTLED } from './columns.js'
import { Filing } from './filing.js'
import type { Model, Slot } from './model.js'
import { createNeighbours } from './neighbours.js'
import { createOrder } from './order.js'
import { createTurnOrder } from './turn-order.js'

const model: Model<never> = {
  levels: Float64Array.of(0),
  lastResortLevel: Infinity,
  teams: [{ name: 'team', max: 2, min: Uint16Array.of(2) }],
  fillForMs: 0,
  radius: undefined,
  spans: [],
  checks: undefined,
}

/** Tickets that come, wait, are matched and leave, and an index to which they are added late. */
function createWorld() {
  const columns = createColumns(0)
  const neighbours = createNeighbours(model, columns)
  const waiting = new Set<Slot>()
  const turns = createTurnOrder({ columns, order: createOrder(columns), commonPriority: () => undefined })
  const filing = new Filing({
    columns,
    neighbours,
    free: (slot) => columns.taken[slot] === 0 && (columns.born[slot] as number) > 0,
    disturbed: () => true,
    inOrder: turns.inOrder,
  })
  const nth = (number: number): Slot | undefined => [...waiting][number % waiting.size]
  return {
    filing,
    add: () => {
      const row = { id: '', since: waiting.size % 3, priority: 0, key: '', place: undefined, values: [] }
      waiting.add(columns.put(row, 0, -1, 1))
    },
    wait: (slot: Slot) => {
      columns.standing[slot] = SETTLED
      filing.note(slot)
    },
    leave: (slot: Slot) => {
      waiting.delete(slot)
      neighbours.remove(slot)
      columns.leave(slot)
      columns.reuse(slot)
    },
    nth,
    /** The tickets that wait, and those in the index. */
    waited: () => [...waiting].filter((slot) => columns.standing[slot] !== FRESH),
    filed: () => [...waiting].filter(neighbours.has),
    count: () => neighbours.count,
  }
}

test('when the index is read all that wait are in it, once, whatever was noted, has left, or was interrupted', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant({ kind: 'add' as const, at: 0 }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('wait' as const), at: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat() }) },
    fc.record({ kind: fc.constantFrom('file' as const, 'interrupted' as const), at: fc.nat(3) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const world = createWorld()
      for (const { kind, at } of steps) {
        const slot = world.nth(at)
        if (kind === 'add') world.add()
        else if (kind === 'wait' && slot !== undefined) world.wait(slot)
        else if (kind === 'leave' && slot !== undefined) world.leave(slot)
        else if (kind === 'interrupted') {
          const work = world.filing.now()
          for (let time = 0; time < at; time += 1) work.next()
        } else if (kind === 'file') {
          for (const _ of world.filing.now());
          expect(world.filed().toSorted()).toEqual(world.waited().toSorted())
          expect(world.count()).toBe(world.filed().length)
        }
      }
    }),
  )
})

test('tickets that a round had no time to add to the index are added by the next one', () => {
  const world = createWorld()
  for (let each = 0; each < 300; each += 1) world.add()
  for (let time = 0; time < 100; time += 1) for (let each = 0; each < 300; each += 1) world.wait(each)
  world.filing.now().next()
  expect(world.count()).toBe(128)
  const others = world.filing.now()
  for (const slot of [0, 150, 299]) world.leave(slot)
  for (const _ of others);
  expect(world.count()).toBe(297)
  expect(world.filed()).toEqual(world.waited())
})
