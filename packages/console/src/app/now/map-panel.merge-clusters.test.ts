import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeClusters, radiusOf } from './map-panel.js'

const item = fc.record({
  x: fc.integer({ min: 0, max: 1800 }),
  y: fc.integer({ min: 0, max: 754 }),
  weight: fc.integer({ min: 0, max: 100_000 }),
})

test('merged map circles keep the total number of players, and each circle is within its cell', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 400 }), fc.integer({ min: 10, max: 200 }), (items, cell) => {
      const merged = mergeClusters(items, cell)
      const total = (all: readonly { readonly weight: number }[]) => all.reduce((sum, { weight }) => sum + weight, 0)
      expect(total(merged)).toBe(total(items))
      expect(new Set(merged.map(({ key }) => key)).size).toBe(merged.length)
      for (const [at, { key, x, y, weight }] of merged.entries()) {
        const [column = 0, row = 0] = key.split(',').map(Number)
        expect(x >= column * cell - 1e-6 && x <= (column + 1) * cell + 1e-6).toBe(true)
        expect(y >= row * cell - 1e-6 && y <= (row + 1) * cell + 1e-6).toBe(true)
        expect(weight).toBeLessThanOrEqual((merged[at - 1]?.weight ?? Infinity) * 2)
      }
    }),
  )
})

test('the area of a map circle is proportional to its number, between a smallest and a largest radius', () => {
  expect(radiusOf(1, 1)).toBe(7)
  expect(radiusOf(25, 100) / radiusOf(100, 100)).toBeCloseTo(0.5)
  expect(radiusOf(1, 100_000)).toBe(3.5)
  expect(radiusOf(1_000_000, 1_000_000)).toBe(22)
})
