import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resultOf } from '../compare/lab-result.fixture.js'
import { reportText } from './report-text.js'

const five = [0, 1, 2, 3, 4]

test('a text report shows two variants in a table', () => {
  const text = reportText(
    resultOf({ 'a.yaml': five.map(() => ({ p90: 30_000 })), 'b.yaml': five.map(() => ({ p90: 20_000 })) }),
  )
  expect(text.split('\n').slice(0, 9)).toEqual([
    'crowd.ndjson: 2 players in 60 min, 5 seeds',
    '',
    'Compared with a.yaml, b.yaml makes players wait less (90 % within 20 s instead',
    'of 30 s). There is no difference that would be felt in the share of players',
    'matched, the quality of matches, fairness and cost.',
    '',
    '                                   a.yaml       b.yaml',
    'matched                         100.0 %      100.0 % =',
    'wait, half within                   1 s          1 s =',
  ])
  expect(text).toContain('\nwait, 90 % within                  30 s         20 s +\n')
  expect(text).toContain('\n  Europe                        100 % 1 s    100 % 1 s\n')
  expect(text).toMatch(/\n\+ better than a\.yaml, - worse, = alike, \? the data cannot tell \(at 95 %\nconfidence\)$/)
})

test('a text report has no line over 80 columns and no control characters, for any names', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 60, unit: 'binary' }), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(names, (some) => {
      const text = reportText(
        resultOf(Object.fromEntries(some.map((name) => [`x${name.replaceAll(' ', '_')}`, [{}, {}]]))),
      )
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
      expect(text.split('\n').filter((line) => [...line].length > 80 && line.includes(' '))).toEqual([])
    }),
    { numRuns: 5 },
  )
})

test('a text report lists more than four variants below each other', () => {
  const text = reportText(resultOf(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, [{}, {}]]))))
  expect(text.match(/^matched .*$/gm)?.map((line) => line.trim().split(/ {2,}/).length)).toEqual([5, 2])
})

test('a text report gives the cost as a multiple of the possible optimum', () => {
  const result = resultOf({ a: [{}] })
  const possible = [
    { queue: 'duel', what: 'distance', unit: 'km', reached: 150, possible: 100, kind: 'optimum' },
  ] as const
  const variants = result.variants.map((one) => ({ ...one, runs: one.runs.map((run) => ({ ...run, possible })) }))
  expect(reportText({ ...result, variants })).toMatch(/\na: duel has 1\.50 times the optimum of distance$/)
})

test('a text report shows each pool next to variants without it', () => {
  const text = reportText(resultOf({ 'own.yaml': [{}, {}], 'pool.yaml': [{ warm: 0.95 }, { warm: 0.97 }] }))
  expect(text.slice(text.indexOf('\npool arena')).split('\n').slice(1, 12)).toEqual([
    'pool arena',
    '  matches                               –          4',
    '  found a warm server                   –     96.0 %',
    '  to play, half within                  –        1 s',
    '  to play, 95 % within                  –        1 s',
    '  creates for each match                –       0.25',
    '  server hours                          –        1 h',
    '  of these playing                      –     1.48 h',
    '  of these idle                         –        0 h',
    '  of these booting                      –     0.02 h',
    '',
  ])
})

test('a text report averages the share of refused players over all seeds, even seeds without any', () => {
  const text = reportText(resultOf({ a: [{ refused: 0.1 }, {}, {}, {}], b: [{}, {}, {}, {}] }))
  expect(text).toMatch(/\nrefused by the rules +2\.5 % +0\.0 %\n/)
  expect(reportText(resultOf({ a: [{}, {}] }))).not.toContain('refused by the rules')
})

test('a text report shows the highest request rate of all seeds as a share of the limit', () => {
  const text = reportText(resultOf({ a: [{ busiest: 10 }, { busiest: 50 }] }))
  expect(text).toMatch(/\nbusiest requests, of limit +125\.0 %/)
})
