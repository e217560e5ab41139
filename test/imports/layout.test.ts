import { expect, test } from 'vitest'
import { layoutFaults } from './layout.js'

test('a line over 120 columns and a file over 300 lines are named, one fault each', () => {
  const file = (text: string) => layoutFaults([{ path: 'a.ts', text }])
  expect(file(`${'x'.repeat(120)}\n`)).toEqual([])
  expect(file(`a\n${'x'.repeat(121)}\nb\n${'x'.repeat(130)}\n`)).toEqual([
    'a.ts:2: has 121 columns, over 120',
    'a.ts:4: has 130 columns, over 120',
  ])
  expect(file('x\n'.repeat(300))).toEqual([])
  expect(file('x\n'.repeat(301))).toEqual(['a.ts: has 301 lines, over 300'])
})

test('a file on the main path has 250 lines at most, and its tests as many as others', () => {
  const long = 'const a = 1\n'.repeat(251)
  const faultsAt = (path: string) => layoutFaults([{ path, text: long }])
  expect(faultsAt('packages/matchmaker/src/kernel/pool.ts')).toEqual([
    'packages/matchmaker/src/kernel/pool.ts: has 251 lines, over 250',
  ])
  expect(faultsAt('packages/matchmaker/src/kernel/pool.test.ts')).toEqual([])
  expect(faultsAt('packages/matchmaker/src/errors.ts')).toEqual([])
})
