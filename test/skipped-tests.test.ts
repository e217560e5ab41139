import { expect, test } from 'vitest'
import { SkippedTests } from './skipped-tests.js'

const moduleOf = (relativeModuleId: string, skipped: number) => ({
  relativeModuleId,
  children: { allTests: () => Array.from({ length: skipped }) },
})

function lineFor(...modules: readonly ReturnType<typeof moduleOf>[]): string {
  let line = ''
  new SkippedTests((text) => (line += text)).onTestRunEnd(modules as never)
  return line
}

test('a test run without skipped tests prints no line about them', () => {
  expect(lineFor(moduleOf('a.test.ts', 0))).toBe('')
})

test('a test run prints in one line how many tests were skipped, and where', () => {
  const line = lineFor(moduleOf('a.test.ts', 0), moduleOf('b.test.ts', 3))
  expect(line).toMatch(/^3 tests were skipped in b\.test\.ts.*\n$/)
  const several = lineFor(moduleOf('a.test.ts', 2), moduleOf('b.test.ts', 3))
  expect(several).toMatch(/^5 tests were skipped in 2 files, e\.g\. a/)
})
