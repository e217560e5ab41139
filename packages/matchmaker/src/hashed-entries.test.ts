import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HashedEntries } from './hashed-entries.js'

const SPREAD = 0x9e3779b1

test.each<[hashes: string, hashOf: (key: number) => number]>([
  ['are different', (key) => Math.imul(key, SPREAD)],
  ['lie side by side', (key) => key << 8],
  ['are nearly all the same', (key) => key % 3],
])('does what a map does where hashes %s', (_, hashOf) => {
  const step = fc.tuple(fc.nat(150), fc.constantFrom('set', 'set', 'add', 'delete'), fc.integer())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const [entries, map] = [new HashedEntries<number>(), new Map<string, number>()]
      for (const [key, what, value] of steps) {
        const [text, hash] = [`k${key}`, hashOf(key)]
        if (what === 'delete') expect(entries.delete(text, hash)).toBe(map.delete(text))
        else if (what === 'set' || map.has(text)) entries.set(text, hash, value)
        else entries.add(text, hash, value)
        if (what !== 'delete') map.set(text, value)
        expect(entries.get(text, hash)).toBe(map.get(text))
        expect(entries.size).toBe(map.size)
      }
      expect(entries.keys().toSorted()).toEqual([...map.keys()].toSorted())
      for (let key = 0; key <= 150; key += 1) expect(entries.get(`k${key}`, hashOf(key))).toBe(map.get(`k${key}`))
    }),
  )
})
