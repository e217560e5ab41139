import { expect, test } from 'vitest'
import { layoutFaults } from './layout.js'

test('a line over 120 columns and a file over 500 lines are named, one fault each', () => {
  const file = (text: string) => layoutFaults([{ path: 'a.ts', text }])
  expect(file(`${'x'.repeat(120)}\n`)).toEqual([])
  expect(file(`a\n${'x'.repeat(121)}\nb\n${'x'.repeat(130)}\n`)).toEqual([
    'a.ts:2: has 121 columns, over 120',
    'a.ts:4: has 130 columns, over 120',
  ])
  expect(file('x\n'.repeat(500))).toEqual([])
  expect(file('x\n'.repeat(501))).toEqual(['a.ts: has 501 lines, over 500'])
})
