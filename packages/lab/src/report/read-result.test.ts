import { expect, test } from 'vitest'
import { compare } from '../compare/compare.js'
import { resultOf } from '../compare/lab-result.fixture.js'
import { readResult } from './read-result.js'

const result = resultOf({ a: [{}, {}], b: [{ warm: 0.9 }, {}] })
const text = (change: (plain: ReturnType<typeof JSON.parse>) => void) => {
  const plain: unknown = structuredClone(result)
  change(plain)
  return JSON.stringify(plain)
}

test('a lab result is read as it was written, including its comparisons', () => {
  expect(readResult(JSON.stringify(result))).toEqual(result)
  expect(readResult(JSON.stringify({ ...result, comparisons: compare(result) }))).toMatchObject(result)
})

test('names of Object.prototype members are kept in a lab result', () => {
  const named = text(({ variants: [{ runs }] }) => {
    const { by, fairness } = runs[0].figures
    const region = Object.entries<object>(by.region)[0]?.[1]
    for (const name of ['__proto__', 'constructor', 'toString']) {
      Object.defineProperty(by.region, name, { value: region, enumerable: true })
      Object.defineProperty(fairness.by.region.groups, name, { value: { ofAll: 0.5, ofWorst: 1 }, enumerable: true })
    }
  })
  expect(JSON.stringify(readResult(named))).toBe(named)
  expect(() => readResult(named.replace('"__proto__":{"players":', '"__proto__":{"players":-'))).toThrow(
    'variants.0.runs.0.figures.by.region.__proto__.players: must be',
  )
})

test.each([
  ['is not JSON: line 1, column 1: is empty', ''],
  ['is not JSON: line 2, column', '{"format":\n"muster-lab-result-1'],
  ['is not a result of muster lab run --out', '5'],
  ['is not a result of muster lab run --out', 'null'],
  ['is a result of muster lab run --out in another format', '{"format":"muster-crowd-1"}'],
  [
    'has the format muster-lab-result-9, and this version reads muster-lab-result-2',
    '{"format":"muster-lab-result-9"}',
  ],
  ['crowd: is missing', text((plain) => delete plain.crowd)],
  ['crowd.playrs: is not known; did you mean', text((plain) => (plain.crowd.playrs = 5))],
  ['seeds: must', text((plain) => (plain.seeds = []))],
  ['seeds: must all be different', text((plain) => (plain.seeds = [1, 1]))],
  ['variants: must have different names', text((plain) => (plain.variants[1].name = 'a'))],
  [
    'variants.1.runs: must have a run for each of the 2 seeds, and has 1',
    text((plain) => plain.variants[1].runs.pop()),
  ],
  [
    'variants.0.runs.1.figures.all.matched: must be',
    text((plain) => (plain.variants[0].runs[1].figures.all.matched = 2)),
  ],
  [
    'variants.0.runs.0.figures.all.waitCurve: must',
    text((plain) => plain.variants[0].runs[0].figures.all.waitCurve.pop()),
  ],
  ['figures.queues: must be an object, got', text((plain) => (plain.variants[0].runs[0].figures.queues = []))],
  ['figures.by.region: is missing', text((plain) => delete plain.variants[0].runs[0].figures.by.region)],
])('a string that is not a lab result is refused with the error “%s”', (message, given) => {
  expect(() => readResult(given)).toThrow(message)
})
