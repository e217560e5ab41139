import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPacking, type Packing } from './packing.js'

const team = (max: number, ...min: number[]) => ({ max, min: Uint16Array.from(min.length === 0 ? [max] : min) })
const at = (level: number) => ({ youngest: level, oldest: level, average: level, now: 0 })
const packed = (packing: Packing, sizes: readonly number[]) =>
  sizes.reduce((sum, size) => (sum === -1 ? -1 : packing.add(sum, size)), 0)

test('parties are never split between teams', () => {
  const packing = createPacking([team(5), team(5)])
  expect(packed(packing, [3, 3, 3])).toBe(-1)
  expect(packed(packing, [6])).toBe(-1)
  const full = packed(packing, [2, 3, 4, 1])
  expect(packing.count(full)).toBe(packing.players)
  expect(packing.plan(full, at(0))).toEqual(
    new Map([
      [4, [0]],
      [3, [1]],
      [2, [1]],
      [1, [0]],
    ]),
  )
  expect(packed(packing, [4, 1, 3, 2])).toBe(full)
})

test('the teams of a match that is not full have at least their minimum and are as even as possible', () => {
  const packing = createPacking([team(5, 5, 1), team(5, 5, 1)])
  const three = packed(packing, [1, 1, 1])
  expect(packing.plan(three, at(0))).toBeUndefined()
  expect(packing.plan(three, at(1))).toEqual(new Map([[1, [0, 1, 0]]]))
  expect(packing.plan(packed(packing, [5]), at(1))).toBeUndefined()
  const unequal = createPacking([team(1, 1), team(4, 1)])
  expect(unequal.plan(packed(unequal, [1, 1, 1]), at(0))).toEqual(new Map([[1, [0, 1, 1]]]))
})

test('parties fit exactly if some assignment to the teams has room for them', () => {
  const fits = (sizes: readonly number[], rooms: readonly number[]): boolean => {
    const [size, ...others] = sizes
    return size === undefined || rooms.some((room, at) => room >= size && fits(others, rooms.with(at, room - size)))
  }
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
      (sizes, rooms) => {
        expect(packed(createPacking(rooms.map((room) => team(room))), sizes) !== -1).toBe(fits(sizes, rooms))
      },
    ),
    { numRuns: 500 },
  )
})

test('pruned states of the party packing table are computed again when needed', () => {
  const packing = createPacking([team(90), team(90)])
  for (let ones = 0; ones < 28; ones++) {
    for (let twos = 0; twos < 28; twos++) {
      let now = packed(packing, [...Array.from({ length: ones }, () => 1), ...Array.from({ length: twos }, () => 2)])
      for (let threes = 0; threes < 28; threes++) now = packing.add(now, 3)
    }
  }
  expect(packed(packing, [3, 3, 2, 1])).toBeGreaterThan(10)
  packing.prune()
  const again = packed(packing, [3, 3, 2, 1])
  expect(again).toBeLessThan(10)
  expect(packing.count(again)).toBe(9)
})
