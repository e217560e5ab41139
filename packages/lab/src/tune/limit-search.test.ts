import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { searchedIn, type SearchOptions } from './limit-search.js'
import { createSpace } from './space.js'

const queueOf = (more: Partial<QueueDefinition> = {}) =>
  defineQueue({
    name: 'ranked',
    teams: [
      {
        name: 'team',
        count: 2,
        size: {
          min: [
            { afterMs: 0, value: 5 },
            { afterMs: 30_000, value: 3 },
          ],
          max: 5,
        },
      },
    ],
    rules: [
      { kind: 'distance', maxKm: { from: 500, to: 2000, overMs: 20_000 }, by: 'oldest' },
      { kind: 'latency', maxMs: 80, maxDifferenceMs: { from: 10, to: 40, overMs: 20_000 } },
      { kind: 'difference', attribute: 'skill', max: 100, optionalAfterMs: 40_000 },
      {
        kind: 'any',
        rules: [
          { kind: 'require', attribute: 'level', operator: '>=', value: { from: 10, to: 5, overMs: 9000 } },
          { kind: 'overlap', attribute: 'modes' },
        ],
      },
      { kind: 'not', rule: { kind: 'difference', attribute: 'level', max: 3 } },
      { kind: 'require', attribute: 'platform', operator: 'in', value: ['pc', 'mac'] },
    ],
    lastResortMs: 60_000,
    deploy: { application: 'game', version: '1' },
    ...more,
  })

const searched = (options: SearchOptions = {}, more?: Partial<QueueDefinition>) => searchedIn(queueOf(more), options)

test('a search changes only limits that relax, even in `any` and in teams, and lists all other limits', () => {
  const { limits, numbers, leftAlone } = searched()
  expect(limits.map(({ path, name }) => [name, path.join('.')])).toEqual([
    ['smallest team', 'teams.0.size.min'],
    ['distance', 'rules.0.maxKm'],
    ['latency difference', 'rules.1.maxDifferenceMs'],
    ['any: require level', 'rules.3.rules.0.value'],
  ])
  expect(numbers).toEqual([])
  expect(leftAlone.map(({ name, why }) => `${name}: ${why}`)).toEqual([
    'latency: does not relax; searched only if bounds are given',
    'difference skill: does not relax; searched only if bounds are given',
    'fillForMs: searched only if listed in also',
    'lastResortMs: searched only if listed in also',
    'difference skill optionalAfterMs: searched only if listed in also',
    'distance by: whose wait counts is a decision, not a number',
  ])
})

test('wait times listed in `also` are searched in addition to limits', () => {
  const { numbers, leftAlone } = searched({ also: ['fillForMs', 'lastResortMs', 'optionalAfterMs'] })
  expect(numbers.map(({ name, path, now }) => [name, path.join('.'), now])).toEqual([
    ['fillForMs', 'fillForMs', 5000],
    ['lastResortMs', 'lastResortMs', 60_000],
    ['difference skill optionalAfterMs', 'rules.2.optionalAfterMs', 40_000],
  ])
  expect(leftAlone.map(({ name }) => name)).toEqual(['latency', 'difference skill', 'distance by'])
})

test('a search varies both numbers of `patience`, around the values in the file', () => {
  const more = { patience: { cost: 2.65, untilMs: 24_000 } }
  expect(searched({}, more).leftAlone).toContainEqual({ name: 'patience', why: 'searched only if listed in also' })
  const { numbers } = searched({ also: ['patience'] }, more)
  expect(numbers.map(({ name, path, isWait }) => [name, path.join('.'), isWait])).toEqual([
    ['patience cost', 'patience.cost', false],
    ['patience untilMs', 'patience.untilMs', true],
  ])
  const space = createSpace({ ...searched({}, more), limits: [], numbers })
  const at = (...point: readonly number[]) => space.changesAt(point).map(({ is }) => is)
  expect(at(...space.own)).toEqual([2.65, 24_000])
  expect([at(0, 0), at(1, 1)]).toEqual([
    [1.3, 1000],
    [5.3, 48_000],
  ])
})

test('search bounds apply in the direction of relaxation, and make a fixed limit relax', () => {
  const { limits } = searched({
    bounds: {
      'any: require level': { from: 1, to: 20 },
      'difference skill': { from: 50, to: 400 },
    },
  })
  expect(limits.map(({ name, space }) => [name, space.form, space.strictest, space.loosest])).toEqual([
    ['smallest team', 'steps', 5, 3],
    ['distance', 'line', 500, 2000],
    ['latency difference', 'line', 10, 40],
    ['difference skill', 'steps', 50, 400],
    ['any: require level', 'line', 20, 1],
  ])
})

test('no searched schedule is longer than the rule, the last resort or the expiry', () => {
  const latest = (options: SearchOptions, more?: Partial<QueueDefinition>) =>
    searched(options, more).limits.map(({ space }) => space.latestMs / 1000)
  expect(latest({})).toEqual([60, 40, 40, 18])
  expect(latest({ waitP90Ms: 14_000 })).toEqual([60, 56, 56, 56])
  expect(latest({ waitP90Ms: 100_000 }, { lastResortMs: 50_000 })).toEqual([50, 50, 50, 50])
  const bounds = { 'difference skill': { from: 50, to: 400 } }
  expect(searched({ waitP90Ms: 50_000, bounds }).limits[3]?.space.latestMs).toBe(40_000)
})

describe('the space of a search', () => {
  const space = createSpace(searched({ also: ['fillForMs'] }))

  test('the space of a search has a point equal to the file, including linear limits and team sizes', () => {
    const changes = space.changesAt(space.own)
    expect(changes).toHaveLength(5)
    expect(changes.map(({ is }) => is)).toEqual(changes.map(({ was }) => was))
  })

  test('the space of a search can change times by a factor, and nothing else', () => {
    const [, distance] = space.changesAt(space.retimed(space.own, 0.5))
    expect(distance?.is).toEqual({ from: 500, to: 2000, overMs: 10_000 })
  })

  test('the space of a search has a point at which every limit is as loose as possible', () => {
    expect(space.changesAt(space.withStart(space.own, 1)).map(({ is }) => is)).toEqual([3, 2000, 40, 5, 5000])
  })
})

describe('an impossible search', () => {
  const plain = { teams: [{ name: 'team', count: 2, size: 5 }] }
  test.each<[string, SearchOptions, Partial<QueueDefinition>, string]>([
    [
      'a queue with a target wait',
      {},
      {
        ...plain,
        targetWaitMs: 30_000,
        lastResortMs: undefined,
        rules: [{ kind: 'distance', maxKm: { strictest: 5, loosest: 9 } }],
      },
      'its limits follow targetWaitMs',
    ],
    ['a queue without limits', {}, { ...plain, rules: [] }, 'none of its rules has a limit that could relax'],
    [
      'a queue in which nothing relaxes',
      {},
      { ...plain, rules: [{ kind: 'distance', maxKm: 500 }] },
      'nothing to search: no limit of it relaxes; give bounds to search one of "distance" all the same',
    ],
    [
      'bounds of an unknown limit',
      { bounds: { 'diference skill': { from: 1, to: 2 } } },
      {},
      'no limit "diference skill"; did you mean difference skill? (it has "smallest team"',
    ],
    ['a wait without effect', { also: ['fillForMs'] }, plain, 'fillForMs changes nothing'],
    [
      'a wait option that the queue lacks',
      { also: ['lastResortMs'] },
      { lastResortMs: undefined },
      'has no lastResortMs',
    ],
    [
      'patience in a queue without patience',
      { also: ['patience'] },
      {},
      'the queue has no patience; set patience in the queue first',
    ],
    [
      'optionalAfterMs of rules that never become optional',
      { also: ['optionalAfterMs'] },
      { rules: [{ kind: 'distance', maxKm: 500 }] },
      'no rule of the queue has optionalAfterMs',
    ],
  ])('an impossible search is refused: %s', (_, options, more, message) => {
    expect(() => searched(options, more)).toThrow(message)
  })
})
