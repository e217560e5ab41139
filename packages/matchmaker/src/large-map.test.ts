import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LargeMap } from './large-map.js'

test('does what a map does, with few entries and with many', () => {
  const key = fc.integer({ min: 0, max: 25_000 }).map((id) => `player-${id}`)
  const change = fc.oneof(
    fc.record({ key, value: fc.integer() }),
    fc.record({ key, value: fc.constant(undefined) }),
  )
  const first = fc.constantFrom(0, 100, 16_380, 17_000, 20_470, 24_000)
  fc.assert(
    fc.property(first, fc.array(change, { maxLength: 200 }), (count, changes) => {
      const [large, map] = [new LargeMap<number>(), new Map<string, number>()]
      for (let id = 0; id < count; id += 1) {
        large.set(`player-${id}`, id)
        map.set(`player-${id}`, id)
      }
      for (const { key: id, value } of changes) {
        if (value === undefined) expect(large.delete(id)).toBe(map.delete(id))
        else {
          large.set(id, value)
          map.set(id, value)
        }
        expect(large.get(id)).toBe(map.get(id))
        expect(large.has(id)).toBe(map.has(id))
        expect(large.size).toBe(map.size)
      }
      const inOrder = (values: Iterable<number>) => [...values].toSorted((one, other) => one - other)
      expect(inOrder(large.values())).toEqual(inOrder(map.values()))
    }),
    { numRuns: 20 },
  )
})

test('every entry is found once they are divided, whatever the ids look like', () => {
  for (const idOf of [(id: number) => `p${id}-0`, (id: number) => `${id}`, (id: number) => `player-${id}@example`]) {
    const large = new LargeMap<number>()
    for (let id = 0; id < 40_000; id += 1) large.set(idOf(id), id)
    expect(new Set(large.values()).size).toBe(40_000)
    expect(large.size).toBe(40_000)
    for (let id = 0; id < 40_000; id += 97) expect(large.get(idOf(id))).toBe(id)
    expect(large.get(idOf(40_000))).toBeUndefined()
  }
})

test('entries that are there are all told once, while they are being divided and while others come', () => {
  for (const first of [16_000, 16_384, 17_000]) {
    const large = new LargeMap<number>()
    for (let id = 0; id < first; id += 1) large.set(`player-${id}`, id)
    const told: number[] = []
    let coming = first
    for (const id of large.values()) {
      told.push(id)
      if (coming < first + 6000) large.set(`player-${coming}`, coming++)
    }
    const expected = Array.from({ length: first }, (_, id) => id)
    expect(told.filter((id) => id < first).toSorted((one, other) => one - other)).toEqual(expected)
    expect(new Set(told).size).toBe(told.length)
    expect(large.size).toBe(first + 6000)
  }
})
