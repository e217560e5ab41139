import { expect, test } from 'vitest'
import { folderFaults, layoutFaults } from './layout.js'

test('a line over 120 columns and a file over 500 lines are each reported as a violation', () => {
  const file = (text: string) => layoutFaults([{ path: 'a.ts', text }])
  expect(file(`${'x'.repeat(120)}\n`)).toEqual([])
  expect(file(`a\n${'x'.repeat(121)}\nb\n${'x'.repeat(130)}\n`)).toEqual([
    'a.ts:2: has 121 columns, over 120',
    'a.ts:4: has 130 columns, over 120',
  ])
  expect(file('x\n'.repeat(500))).toEqual([])
  expect(file('x\n'.repeat(501))).toEqual(['a.ts: has 501 lines, over 500'])
})

test('a folder with more than 20 source files, and a duplicate base name, are reported', () => {
  const files = (count: number) => Array.from({ length: count }, (_, index) => `packages/a/src/b/${index}.ts`)
  const others = ['packages/a/src/b/0.test.ts', 'packages/a/src/b/x.fixture.ts', 'packages/c/src/0.ts', 'test/0.ts']
  expect(folderFaults([...files(20), ...others])).toEqual([])
  expect(folderFaults(files(21))).toEqual(['packages/a/src/b: has 21 source files, over 20'])
  expect(folderFaults(['packages/a/src/x.ts', 'packages/a/src/b/x.tsx'])).toEqual([
    'packages/a/src/x.ts and packages/a/src/b/x.tsx: have one base name',
  ])
  expect(folderFaults(['packages/a/src/index.ts', 'packages/a/src/b/index.ts'])).toEqual([])
})
