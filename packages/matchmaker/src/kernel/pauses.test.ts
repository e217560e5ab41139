import { expect, test } from 'vitest'
import type { Entry, Model } from './model.js'
import { createPool } from './pool.js'

const NOW = 1_000_000

const trios: Model<string> = {
  levels: Float64Array.of(0),
  lastResortLevel: Infinity,
  teams: [{ name: 'team', max: 3, min: Uint16Array.of(3) }],
  fillForMs: 0,
  radius: undefined,
  spans: [],
  checks: undefined,
}

const entry = (id: string, at: number): Entry<string> => ({
  id,
  size: 1,
  since: NOW - 1000 + at,
  priority: 0,
  key: '',
  place: undefined,
  network: undefined,
  values: [],
  facts: id,
})

/**
 * The match that is made of four tickets if the second leaves at a certain pause of the round; undefined if the match
 * was made by then.
 */
function matchWithout(checks: Model<string>['checks'], pauses: number): (string | undefined)[] | undefined {
  const pool = createPool({ ...trios, checks })
  const ids = new Map(['a', 'b', 'c', 'd'].map((id, at) => [pool.add(entry(id, at)), id]))
  const [, second = -1] = ids.keys()
  const round = pool.round(NOW)
  for (let pause = 0; pause < pauses; pause += 1) {
    round.step(Infinity, () => true)
    if (round.take().length > 0) return undefined
  }
  pool.remove(second)
  // A ticket that comes meanwhile does not take the place of the one that left.
  ids.set(pool.add(entry('e', 4)), 'e')
  while (round.step(Infinity));
  return [...round.take()].flatMap(({ slots }) => slots.map((slot) => ids.get(slot)))
}

const asks = { pair: undefined, part: undefined, whole: () => true, unevenness: undefined }

test.each([
  ['no checks', undefined],
  ['a check of whole matches', asks],
  ['checks of parts and of whole matches', { ...asks, part: () => true }],
  ['needs', { ...asks, part: () => true, needs: [{ countOf: () => 1, atLeast: Uint16Array.of(3) }] }],
] as const)('a ticket that leaves during any pause of a search is not in its match, others are: %s', (_, checks) => {
  let pauses = 0
  for (; pauses < 1000; pauses += 1) {
    const match = matchWithout(checks, pauses)
    if (match === undefined) break
    expect(match, `at pause ${pauses}`).toEqual(['a', 'c', 'd'])
  }
  // The match was made in the end, after pauses amid the search.
  expect(pauses).toBeGreaterThan(3)
  expect(pauses).toBeLessThan(1000)
})
