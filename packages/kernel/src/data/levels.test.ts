import { describe, expect, test } from 'vitest'
import { Columns } from './columns.js'
import { Levels, levelAt, NOTHING, RELAXED, TIME } from './levels.js'
import type { Model } from './model.js'
import { modelOf } from '../plain.fixture.js'

const model = modelOf(2, {
  levels: Float64Array.of(0, 5000, 10_000),
  teams: [{ name: 'team', max: 2, min: Uint16Array.of(2, 2, 1) }],
  fillForMs: 7000,
})

test.each([
  [-1, 0],
  [0, 0],
  [4999, 0],
  [5000, 1],
  [9999.9, 1],
  [10_000, 2],
  [1e12, 2],
])('a ticket that has waited for %d ms has relaxation level %d', (waited, level) => {
  expect(levelAt(model.levels, waited)).toBe(level)
})

test('a change of a ticket’s relaxation level or smallest accepted match is reported as RELAXED', () => {
  const columns = new Columns(0)
  const levels = new Levels(model, columns)
  const slot = columns.put({ id: 'a', since: 1000, priority: 0, key: '', place: undefined, values: [] }, 0, -1, 1)
  const changes: [number, number][] = []
  levels.enter(slot)
  levels.renew(1000)
  levels.of(slot)
  for (let now = 1000; now <= 15_000; now += 500) {
    levels.renew(now)
    if (levels.news(slot) === RELAXED) changes.push([now, levels.of(slot)])
  }
  expect(changes).toEqual([
    [6000, 1],
    [8000, 1],
    [11_000, 2],
  ])
})

test('a growing relaxation head start is reported only when it leads to another relaxation level', () => {
  const columns = new Columns(0)
  const levels = new Levels({ ...model, fillForMs: 0, adaptive: true }, columns)
  const slot = columns.put({ id: 'a', since: 0, priority: 0, key: '', place: undefined, values: [] }, 0, -1, 1)
  levels.enter(slot, 0)
  const after = (headStart: number) => {
    levels.setHeadStarts(Float64Array.of(headStart))
    return [levels.news(slot), levels.of(slot)]
  }
  levels.renew(1000)
  expect(levels.of(slot)).toBe(0)
  expect([0, 2000, 3999, 4000, 4500, 9000, 100].map(after)).toEqual([
    [NOTHING, 0],
    [NOTHING, 0],
    [NOTHING, 0],
    [RELAXED, 1],
    [NOTHING, 1],
    [RELAXED, 2],
    [NOTHING, 2],
  ])
})

describe('changes of the relaxation level of a ticket', () => {
  const average: Model<string> = { ...model, spans: [{ by: 'average', limit: Float64Array.of(1, 2, 3) }] }
  const setUp = (of = model) => {
    const columns = new Columns(of.spans.length)
    const levels = new Levels(of, columns)
    const add = (since: number) => {
      const row = { id: 'a', since, priority: 0, key: '', place: undefined, values: [1, 1] }
      const slot = columns.put(row, 0, -1, 1)
      levels.enter(slot)
      return slot
    }
    const slot = add(0)
    const newsAt = (now: number) => {
      levels.renew(now)
      return levels.news(slot)
    }
    return { columns, levels, add, slot, newsAt }
  }

  test('a change of a ticket’s relaxation level is reported once, and its first level is not reported', () => {
    const { newsAt } = setUp()
    const all = [0, 0, 4999, 5000, 5000, 6999, 7000, 7500, 10_000, 1e9].map(newsAt)
    expect(all).toEqual([NOTHING, NOTHING, NOTHING, RELAXED, NOTHING, NOTHING, RELAXED, NOTHING, RELAXED, NOTHING])
  })

  test('a change of a ticket’s relaxation level is reported even if a search read the level before', () => {
    const { levels, slot, newsAt } = setUp(average)
    newsAt(0)
    for (const now of [1500, 5100, 6200]) {
      levels.renew(now)
      levels.of(slot)
    }
    expect(newsAt(6200)).toBe(RELAXED)
    levels.renew(6999)
    levels.of(slot)
    expect(newsAt(7200)).toBe(RELAXED)
  })

  test('TIME is reported for a ticket each second if a rule uses the average wait or a check depends on time', () => {
    const { newsAt } = setUp(average)
    const all = [0, 999, 1000, 1999, 2000, 4800, 5000, 6000, 6900, 7000].map(newsAt)
    expect(all).toEqual([NOTHING, NOTHING, TIME, NOTHING, TIME, TIME, RELAXED, TIME, NOTHING, RELAXED])
  })

  test('a change of a ticket’s relaxation level is not reported for the next ticket that reuses its slot', () => {
    const { columns, levels, add, slot, newsAt } = setUp()
    newsAt(0)
    levels.renew(5000)
    levels.of(slot)
    columns.leave(slot)
    columns.reuse(slot)
    expect(add(5000)).toBe(slot)
    expect(newsAt(5000)).toBe(NOTHING)
  })
})
