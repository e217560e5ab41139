import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue } from '../compile.js'
import { checkQueue, defineQueue, type QueueDefinition } from '../queue.js'
import type { Facts } from '../rule-parts/rule-types.js'
import { predictedWin } from './predicted-win.js'

/** Tests the balance rule by predicted winner. Other tests cover the rule by difference. */

const NOW = 1_000_000
const rule = { kind: 'balance', measure: 'predictedWin', mean: 'mu', uncertainty: 'sigma', max: 0.6 } as const

function queueOf(more: object = {}, size = 2, count = 2): QueueDefinition {
  return {
    name: 'ranked',
    teams: [{ name: 'team', count, size }],
    rules: [{ ...rule, ...more }],
    deploy: { application: 'game', version: '1' },
  }
}

type Rating = readonly [mu: unknown, sigma: unknown]

/** Returns the matches of one round among single players with these ratings: for each team, the players' indexes. */
function matchesOf(queue: QueueDefinition, players: readonly Rating[], waitedMs = 0): number[][][] {
  const compiled = compileQueue(defineQueue(queue))
  const pool = createPool(compiled.model)
  const indexIn = new Map(
    players.map(([mu, sigma], index) => {
      const attributes = Object.fromEntries(
        Object.entries({ mu, sigma }).filter(([, value]) => value !== undefined),
      ) as Record<string, number>
      const player = { id: `p${index}`, attributes, roles: [], latencies: {}, avoid: [] }
      const ticket = { id: `t${index}`, createdAt: NOW - waitedMs, priority: 0, place: undefined, network: undefined }
      return [pool.add(compiled.entryOf({ ...ticket, players: [player] })), index] as const
    }),
  )
  return Array.from(pool.group(NOW), ({ slots, teams }) =>
    compiled.model.teams.map((_, team) =>
      slots.flatMap((slot, at) => (teams[at] === team ? [indexIn.get(slot) ?? -1] : [])).toSorted(),
    ),
  )
}

describe('a balance rule by predicted win', () => {
  test('a predictedWin rule matches by how certain the winner is, not by how far apart the ratings are', () => {
    const duel = queueOf({}, 1)
    // 5 points apart: Φ(5 ÷ √(2 · (25/6)² + 2σ²)) is 0.80 for σ = 1, and 0.65 for σ = 8.33.
    const known: Rating[] = [
      [25, 1],
      [30, 1],
    ]
    const fresh: Rating[] = [
      [25, 25 / 3],
      [30, 25 / 3],
    ]
    expect(matchesOf(duel, known)).toEqual([])
    expect(matchesOf(queueOf({ max: 0.65 }, 1), fresh)).toHaveLength(1)
    expect(matchesOf(queueOf({ max: 0.64 }, 1), fresh)).toEqual([])
    expect(matchesOf(queueOf({ max: 0.81 }, 1), known)).toHaveLength(1)
    // On a scale on which performances vary by 250, a difference of 5 does not matter.
    expect(matchesOf(queueOf({ beta: 250 }, 1), known)).toHaveLength(1)
  })

  test('a predictedWin rule relaxes while players wait, up to any match', () => {
    const max = [
      { afterMs: 0, value: 0.5 },
      { afterMs: 5000, value: 0.9 },
      { afterMs: 9000, value: Infinity },
    ]
    const [near, far]: Rating[][] = [
      [
        [25, 1],
        [30, 1],
      ],
      [
        [25, 1],
        [90, 1],
      ],
    ]
    expect([0, 5000].map((waited) => matchesOf(queueOf({ max }, 1), near ?? [], waited).length)).toEqual([0, 1])
    expect([5000, 9000].map((waited) => matchesOf(queueOf({ max }, 1), far ?? [], waited).length)).toEqual([0, 1])
    // Players of equal strength meet at the strictest limit.
    expect(
      matchesOf(queueOf({ max: 0.5 }, 1), [
        [25, 1],
        [25, 3],
      ]),
    ).toHaveLength(1)
  })

  test('a predictedWin rule picks the teams with the least certain winner, even if `max` allows any', () => {
    const players: Rating[] = [
      [10, 2],
      [20, 2],
      [30, 2],
      [40, 2],
    ]
    expect(matchesOf(queueOf(), players)).toEqual([
      [
        [0, 3],
        [1, 2],
      ],
    ])
    const skewed: Rating[] = [
      [0, 1],
      [1, 1],
      [2, 1],
      [1000, 1],
    ]
    expect(matchesOf(queueOf({ max: 1 }), skewed)).toEqual([
      [
        [0, 3],
        [1, 2],
      ],
    ])
  })

  test('a predictedWin rule allows several teams if none is too certain to beat any other', () => {
    const players: Rating[] = [
      [20, 1],
      [25, 1],
      [30, 1],
    ]
    const [inner, outer] = [
      [20, 25],
      [20, 30],
    ].map(([one = 0, other = 0]) =>
      predictedWin([{ mean: other, uncertainty: 1 }], [{ mean: one, uncertainty: 1 }]),
    ) as [number, number]
    expect(matchesOf(queueOf({ max: (inner + outer) / 2 }, 1, 3), players)).toEqual([])
    expect(matchesOf(queueOf({ max: outer + 1e-9 }, 1, 3), players)).toHaveLength(1)
  })

  test('a predictedWin rule uses a default rating for players without a rating, or without a part of it', () => {
    const missing = { value: { mean: 25, uncertainty: 25 / 3 } }
    expect(
      matchesOf(queueOf({ missing, max: 0.5 }, 1), [
        [undefined, undefined],
        [25, 3],
      ]),
    ).toHaveLength(1)
    expect(
      matchesOf(queueOf({ missing }, 1), [
        [undefined, 1],
        [90, 1],
      ]),
    ).toEqual([])
    expect(
      matchesOf(queueOf({ missing, max: 0.5 }, 1), [
        [90, undefined],
        [90, 1],
      ]),
    ).toHaveLength(1)
  })
})

test('property: a predictedWin rule makes teams as even as the best possible arrangement', () => {
  const rating = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 8 }))
  fc.assert(
    fc.property(fc.array(rating, { minLength: 6, maxLength: 6 }), (players) => {
      const [match] = matchesOf(queueOf({ max: 1 }, 3), players)
      const chanceOf = (team: readonly number[]) => {
        const side = (own: boolean) =>
          players.filter((_, at) => team.includes(at) === own).map(([mean, uncertainty]) => ({ mean, uncertainty }))
        const chance = predictedWin(side(true), side(false))
        return Math.max(chance, 1 - chance)
      }
      const all = [0, 1, 2, 3, 4, 5].flatMap((a) =>
        [1, 2, 3, 4, 5].flatMap((b) => [2, 3, 4, 5].flatMap((c) => (a < b && b < c ? [[a, b, c]] : []))),
      )
      expect(chanceOf(match?.[0] ?? [])).toBeCloseTo(Math.min(...all.map(chanceOf)), 12)
    }),
    { numRuns: 50 },
  )
})

test('property: a predictedWin rule drops no partial match that can be completed, and some that cannot', () => {
  const { rules, entryOf } = compileQueue(defineQueue(queueOf({ max: 0.7 })))
  const levels = { youngest: 0, oldest: 0, average: 0, now: NOW }
  const rating = fc.tuple(fc.integer({ min: -10, max: 40 }), fc.integer({ min: 1, max: 20 }))
  let [kept, givenUp] = [0, 0]
  fc.assert(
    fc.property(fc.array(rating, { minLength: 4, maxLength: 4 }), (players) => {
      const facts = players.map(([mu, sigma], at) => {
        const player = { id: `p${at}`, attributes: { mu, sigma }, roles: [], latencies: {}, avoid: [] }
        const ticket = { id: `t${at}`, createdAt: NOW, priority: 0, place: undefined, network: undefined }
        return entryOf({ ...ticket, players: [player] }).facts
      })
      const [a, b, c, d] = facts as [Facts, Facts, Facts, Facts]
      const mayBe = rules[0]?.whole?.(
        [
          [a, b],
          [c, d],
        ],
        levels,
      )
      for (const [one, other, others] of [
        [[a], [c], [b, d]],
        [[a, b], [c], [d]],
        [[a], [c, d], [b]],
        [[a, b], [], [c, d]],
      ] as const) {
        const part = rules[0]?.part?.([one, other], [2 - one.length, 2 - other.length], levels, others)
        if (mayBe === true) expect(part).toBe(true)
        if (part === true) kept += 1
        else givenUp += 1
      }
    }),
    { numRuns: 1000 },
  )
  expect(kept).toBeGreaterThan(100)
  expect(givenUp).toBeGreaterThan(100)
})

describe('the rating of a player', () => {
  test.each([
    [undefined, 1, 'mu: is missing: rule "balance predictedWin" requires a number within ±1e9'],
    [25, undefined, 'sigma: is missing: rule "balance predictedWin" requires a number above 0, 1e9 at most'],
    [Number.NaN, 1, 'mu: is not a number within'],
    [-Infinity, 1, 'mu: is not a number within'],
    [1.1e9, 1, 'mu: is not a number within'],
    ['25', 1, 'mu: is not a number within'],
    [25, 0, 'sigma: is not a number above 0'],
    [25, -1, 'sigma: is not a number above 0'],
    [25, Number.NaN, 'sigma: is not a number above 0'],
    [25, 1e200, 'sigma: is not a number above 0'],
  ])('an invalid rating is refused with its player: mu %s, sigma %s', (mu, sigma, message) => {
    expect(() =>
      matchesOf(queueOf(), [
        [25, 1],
        [mu, sigma],
      ]),
    ).toThrow(`ticket: players.0.attributes.${message}`)
  })

  test('a predictedWin rule still tells the stronger team at the largest allowed ratings', () => {
    const players: Rating[] = Array.from({ length: 4 }, (_, at) => [at === 3 ? -1e9 : 1e9, 1e-300])
    expect(matchesOf(queueOf({ beta: 1e-300, max: 0.9999 }), players)).toEqual([])
    expect(matchesOf(queueOf({ beta: 1e-300, max: 1 }), players)).toHaveLength(1)
    const vague: Rating[] = Array.from({ length: 4 }, (_, at) => [at === 3 ? -1e9 : 1e9, 1e9])
    expect(matchesOf(queueOf({ beta: 1e9, max: 0.75 }), vague)).toEqual([])
    expect(matchesOf(queueOf({ beta: 1e9, max: 0.8 }), vague)).toHaveLength(1)
  })
})

test('a balance rule that has become optional allows teams however uneven', () => {
  const difference = { kind: 'balance', attribute: 'mu', max: 5, optionalAfterMs: 1000 } as const
  const queue = { ...queueOf({}, 1), rules: [difference] }
  expect(
    matchesOf(
      queue,
      [
        [1e308, 1],
        [-1e308, 1],
      ],
      1000,
    ),
  ).toHaveLength(1)
})

describe('an invalid balance rule', () => {
  test.each<[object, string]>([
    [{ mean: undefined }, 'rules.0.mean: must be given where measure is "predictedWin"'],
    [{ uncertainty: undefined }, 'rules.0.uncertainty: must be given where measure is "predictedWin"'],
    [{ uncertainty: 'mu' }, 'rules.0.uncertainty: must be another attribute than the mean'],
    [{ attribute: 'skill' }, 'rules.0.attribute: is not used where measure is "predictedWin"'],
    [{ aggregate: 'avg' }, 'rules.0.aggregate: is not used where measure is "predictedWin"'],
    [{ measure: undefined }, 'rules.0.attribute: must be given where measure is "difference"'],
    [{ measure: undefined, attribute: 'skill' }, 'rules.0.mean: is not used where measure is "difference"'],
    [{ measure: 'predictWin' }, 'rules.0.measure: must be "difference" or "predictedWin"'],
    [{ max: 0.49 }, 'rules.0.max: must be at least 0.5'],
    [{ max: 60 }, 'rules.0.max: must be at most 1'],
    [{ max: Number.NaN }, 'rules.0.max: '],
    [{ max: undefined }, 'rules.0.max: must be given'],
    [{ max: { from: 0.7, to: 0.6, overMs: 5 } }, 'rules.0.max.to: must not be less than from, 0.7'],
    [{ beta: 0 }, 'rules.0.beta: must be more than 0'],
    [{ beta: Infinity }, 'rules.0.beta: '],
    [{ missing: 'any' }, "rules.0.missing: must be 'refuse' or { value }: a player left out would make the team look"],
    [{ missing: { value: 25 } }, 'rules.0.missing.value: must be { mean, uncertainty } of a rating'],
    [{ missing: { value: { mean: 25, uncertainty: 0 } } }, 'rules.0.missing'],
  ])('an invalid balance rule is refused with its field: %j', (more, message) => {
    const faults = checkQueue(queueOf(more)).faults.map((fault) => `${fault.field}: ${fault.message}`)
    expect(faults.join('\n')).toContain(message)
  })

  test.each([
    [{ matchSize: 2, teams: undefined }, 1],
    [{ teams: [{ name: 'team', count: 33, size: 1 }] }, 33],
  ])('a predictedWin rule is refused for fewer than 2 or more than 32 teams', (teams, count) => {
    const { faults } = checkQueue({ ...queueOf(), ...teams })
    expect(faults.map(({ message }) => message).join()).toContain(
      `predictedWin is for 2 to 32 teams, and there are ${count}`,
    )
    const within = { kind: 'any', rules: [rule, { kind: 'avoid' }] }
    expect(checkQueue({ ...queueOf(), ...teams, rules: [within] }).faults[0]?.field).toBe('rules.0.rules.0.measure')
  })

  test('a balance rule is refused if another rule needs its attribute as a list', () => {
    const { faults } = checkQueue({ ...queueOf(), rules: [{ kind: 'overlap', attribute: 'sigma' }, rule] })
    expect(faults).toMatchObject([
      { field: 'rules.1.uncertainty', message: expect.stringContaining('is a number here, and a list for rule') },
    ])
  })

  test('a balance rule is refused if its default rating has the wrong form', () => {
    const missing = { value: { mean: 25, uncertainty: 8 } }
    const { faults } = checkQueue({
      ...queueOf(),
      rules: [{ kind: 'balance', attribute: 'skill', max: 5, missing }],
    })
    expect(faults).toMatchObject([{ field: 'rules.0.missing.value' }])
  })
})
