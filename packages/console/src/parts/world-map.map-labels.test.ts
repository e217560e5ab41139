import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Dot, type Label, placeLabels } from './world-map.js'

const dot = (id: string, x: number, y: number, text: string | undefined = id): Dot => ({ id, x, y, radius: 5, text })

test('a map label is to the right of its dot, or else where there is room', () => {
  expect(placeLabels([dot('Lima', 100, 100)], 400, 300).get('Lima')).toEqual({ x: 8, y: 4, anchor: 'start' })
  expect(placeLabels([dot('Auckland', 390, 100)], 400, 300).get('Auckland')).toEqual({ x: -8, y: 4, anchor: 'end' })
  const between = [dot('left', 180, 100, undefined), dot('Milan', 200, 100), dot('right', 220, 100, undefined)]
  expect(placeLabels(between, 400, 300).get('Milan')).toEqual({ x: 0, y: -8, anchor: 'middle' })
})

test('a map label without room is left out', () => {
  expect(placeLabels([dot('a very long name', 40, 10)], 80, 20).size).toBe(0)
})

const LETTER = 6.4
const boxOf = ({ x, y, text = '' }: Dot, label: Label) => {
  const width = text.length * LETTER
  const left = x + label.x - { start: 0, middle: width / 2, end: width }[label.anchor]
  return { left, right: left + width, top: y + label.y - 9, bottom: y + label.y + 3 }
}

test('no map label covers another label or a dot, and no map label is cut off', () => {
  const coordinate = fc.integer({ min: 0, max: 300 })
  const dots = fc.array(
    fc.record({
      x: coordinate,
      y: coordinate,
      radius: fc.integer({ min: 2, max: 15 }),
      text: fc.string({ minLength: 1, maxLength: 12 }),
    }),
    {
      maxLength: 40,
    },
  )
  fc.assert(
    fc.property(dots, (drawn) => {
      const all = drawn.map((one, index): Dot => ({ id: String(index), ...one }))
      const labels = placeLabels(all, 300, 300)
      const boxes = all.flatMap((one) => {
        const label = labels.get(one.id)
        return label === undefined ? [] : [{ id: one.id, ...boxOf(one, label) }]
      })
      const meets = (a: (typeof boxes)[number], b: Omit<(typeof boxes)[number], 'id'>) =>
        a.left < b.right - 1e-6 && b.left < a.right - 1e-6 && a.top < b.bottom - 1e-6 && b.top < a.bottom - 1e-6
      for (const box of boxes) {
        expect(Math.min(box.left, box.top)).toBeGreaterThanOrEqual(-1e-6)
        expect(Math.max(box.right, box.bottom)).toBeLessThanOrEqual(300 + 1e-6)
        expect(boxes.filter((other) => other.id !== box.id && meets(box, other))).toEqual([])
        const covered = all.filter(
          ({ id, x, y, radius: r }) =>
            id !== box.id && meets(box, { left: x - r, right: x + r, top: y - r, bottom: y + r }),
        )
        expect(covered).toEqual([])
      }
    }),
  )
})
