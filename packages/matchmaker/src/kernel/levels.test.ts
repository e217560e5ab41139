import { expect, test } from 'vitest'
import { createColumns } from './columns.js'
import { createLevels, levelAt } from './levels.js'
import type { Model } from './model.js'

const model: Model<string> = {
  levels: Float64Array.of(0, 5000, 10_000),
  lastResortLevel: Infinity,
  teams: [{ name: 'team', max: 2, min: Uint16Array.of(2, 2, 1) }],
  fillForMs: 7000,
  radius: undefined,
  spans: [],
  checks: undefined,
}

test.each([
  [-1, 0],
  [0, 0],
  [4999, 0],
  [5000, 1],
  [9999.9, 1],
  [10_000, 2],
  [1e12, 2],
])('after %d ms a ticket is at level %d', (waited, level) => {
  expect(levelAt(model.levels, waited)).toBe(level)
})

test('a ticket is due when its level, or how small a match it takes, has changed', () => {
  const columns = createColumns(0)
  const levels = createLevels(model, columns)
  const slot = columns.put({ id: 'a', since: 1000, priority: 0, key: '', place: undefined, values: [] }, 0, -1, 1)
  const changes: [number, number][] = []
  for (let now = 1000; now <= 15_000; now += 500) {
    levels.renew(now)
    if (levels.due(slot)) changes.push([now, levels.of(slot)])
  }
  expect(changes).toEqual([
    [1000, 0],
    [6000, 1],
    [8000, 1],
    [11_000, 2],
  ])
})
