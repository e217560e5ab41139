import { describe, expect, test } from 'vitest'
import type { Entry, Model, Patience, Weights } from './data/model.js'
import { entryOf, modelOf as plainModelOf, spanOf } from './plain.fixture.js'
import { createPool } from './pool.js'

const NOW = 1_000_000_000_000

/** Creates a model with a maximum distance of 0.1 and two maximum differences of 10, for matches of `players`. */
const modelOf = (players: number, more: Partial<Model<string>>): Model<string> =>
  plainModelOf(players, {
    radius: { by: 'each', squared: Float64Array.of(0.01), unknown: 'network' },
    spans: [spanOf(10), spanOf(10)],
    ...more,
  })

const entry = (id: string, more: { at?: number; first?: number; second?: number; waited?: number; size?: number }) => {
  const { at = 0, first = 0, second = 0, waited = 0, size = 1 } = more
  const place = [Math.cos(at), Math.sin(at), 0] as const
  return entryOf(id, { size, since: NOW - waited, place, values: [first, first, second, second] })
}

describe('weights of a queue', () => {
  /** Returns the partner of the oldest ticket. */
  const partnerOf = (players: number, prefer: Weights | undefined, others: readonly Entry<string>[]) => {
    const pool = createPool(modelOf(players, { prefer }))
    const oldest = pool.add(entry('oldest', { waited: 100 }))
    for (const one of others) pool.add(one)
    const match = [...pool.group(NOW)].find(({ slots }) => slots.includes(oldest))
    return match?.slots.filter((slot) => slot !== oldest).map((slot) => pool.entryOf(slot).id)
  }
  const far = entry('far', { at: 0.08 })
  const first = entry('first', { first: 5 })
  const second = entry('second', { second: 4 })

  test.each([
    ['by default the distance and the first difference count alike', undefined, 'second'],
    ['a second difference counts where it has a weight', { spans: [1, 2] }, 'first'],
    ['the distance counts less', { distance: 0.1, spans: [1, 2] }, 'far'],
    ['a difference without a weight does not count', { spans: [0, 3] }, 'first'],
  ])('the weights of a queue decide which of two candidates a ticket is matched with: %s', (_, prefer, partner) => {
    expect(partnerOf(2, prefer, [far, first, second])).toEqual([partner])
  })

  test.each([
    [2, 'first'],
    [0.1, 'unknown'],
  ])(
    'with a distance weight of %d, a ticket of unknown place costs this weight, so the %s candidate is matched',
    (distance, partner) => {
      const pool = createPool(
        modelOf(2, { prefer: { distance }, radius: { by: 'each', squared: Float64Array.of(0.01), unknown: 'any' } }),
      )
      const oldest = pool.add(entry('oldest', { waited: 100 }))
      for (const one of [first, { ...entry('unknown', {}), place: undefined }]) pool.add(one)
      const match = [...pool.group(NOW)].find(({ slots }) => slots.includes(oldest))
      expect(match?.slots.map((slot) => pool.entryOf(slot).id)).toContain(partner)
    },
  )

  test('the weights `parties` and `waiting` of a queue prefer parties and long waits, and 0 turns them off', () => {
    const near = [entry('a', { first: 1 }), entry('b', { first: 1 })]
    const party = entry('party', { first: 5, size: 2 })
    expect(partnerOf(3, undefined, [...near, party])).toEqual(['party'])
    expect(partnerOf(3, { parties: 0 }, [...near, party])).toEqual(['a', 'b'])
    const waited = entry('waited', { first: 8, waited: 90 })
    expect(partnerOf(3, { waiting: 100 }, [...near, waited])).toContain('waited')
    expect(partnerOf(3, { waiting: 0 }, [...near, waited])).toEqual(['a', 'b'])
  })
})

describe('patience of a queue', () => {
  const patience: Patience = { cost: 1, untilMs: 20_000, thoroughMs: 40_000 }
  /**
   * Returns the time, in seconds, at which a match is made of tickets that differ by `gap`, as a share of the limit.
   */
  const madeAt = (players: number, gap: number, count = players) => {
    const pool = createPool(modelOf(players, { patience }))
    for (let at = 0; at < count; at++) pool.add(entry(`t${at}`, { first: at % 2 === 0 ? 0 : 10 * gap }))
    for (let ms = 0; ms <= 60_000; ms += 250) if (pool.group(NOW + ms).length > 0) return ms / 1000
    return undefined
  }

  test.each([
    [2, 0, 0],
    [2, 0.25, 5],
    [2, 0.5, 10],
    // Of the six pairs of four players, four differ by 0.75.
    [4, 0.75, 10],
  ])('with patience, a match of %d players who are %d apart is made after %d s', (players, gap, atS) => {
    const at = madeAt(players, gap) as number
    expect(at).toBeGreaterThanOrEqual(atS)
    // The search is repeated in every second round.
    expect(at).toBeLessThanOrEqual(atS + 0.75)
  })

  test('a match is made once the patience of its tickets is over, even if the match is expensive', () => {
    const pool = createPool(modelOf(2, { patience: { ...patience, cost: 0.01 } }))
    pool.add(entry('a', { first: 0 }))
    pool.add(entry('b', { first: 10 }))
    const made = [0, 10_000, 19_750, 20_000].map((ms) => pool.group(NOW + ms).length)
    expect(made).toEqual([0, 0, 0, 1])
  })

  test.each([
    ['after `thoroughMs`', Infinity, patience.thoroughMs],
    ['once lastResortMs is over', 1, 30_000],
  ])('a queue with patience finds a match that needs a thorough search only %s', (_, lastResortLevel, atMs) => {
    // Any two tickets may meet, but a match of three needs tickets that are far from each other.
    const pool = createPool(
      modelOf(3, {
        patience,
        levels: Float64Array.of(0, 30_000),
        lastResortLevel,
        teams: [{ name: 'team', max: 3, min: Uint16Array.of(3, 3) }],
        radius: { by: 'each', squared: Float64Array.of(0.01, 0.01), unknown: 'network' },
        spans: [{ by: 'each', limit: Float64Array.of(10, 10) }],
        checks: {
          pair: undefined,
          part: undefined,
          unevenness: undefined,
          whole: ([members]) => members?.every((facts) => facts === 'rare') === true,
        },
      }),
    )
    for (let at = 0; at < 12; at++)
      pool.add({ ...entry(`t${at}`, { first: at / 2 }), facts: at % 5 === 1 ? 'rare' : '' })
    let ms = 0
    while (ms < 60_000 && pool.group(NOW + ms).length === 0) ms += 250
    expect(ms).toBe(atMs)
  })

  test('patience makes only the cheap pairs of a crowd, even if more pairs would be possible at a higher cost', () => {
    const pool = createPool(modelOf(2, { patience, levels: Float64Array.of(0) }))
    // Each chain has two equal tickets in the middle, and one at each end with a difference of 0.9. The chains are far
    // from each other.
    for (let chain = 0; chain < 6; chain++)
      for (const first of [0, 9, 9, 18]) pool.add(entry(`${chain}-${first}`, { at: chain / 3, first }))
    expect(pool.group(NOW)).toHaveLength(6)
  })

  test('patience delays even a whole crowd, but not a cheaper match that becomes possible meanwhile', () => {
    expect(madeAt(2, 0.5, 1000)).toBe(0)
    const pool = createPool(modelOf(2, { patience }))
    pool.add(entry('a', { first: 0 }))
    pool.add(entry('b', { first: 9 }))
    expect(pool.group(NOW)).toHaveLength(0)
    pool.add(entry('c', { first: 9 }))
    const [match] = [...pool.group(NOW + 250)]
    expect(match?.slots.map((slot) => pool.entryOf(slot).id)).toEqual(['b', 'c'])
  })
})
