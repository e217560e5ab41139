import type { Reporter, TestModule } from 'vitest/node'
import { howToGetRedis, skipsRedis } from '../tools/redis-server/src/find.js'

/** Prints in the last line of a run how many tests were skipped, where, and how to enable them. */
export class SkippedTests implements Reporter {
  readonly #write: (line: string) => void

  constructor(write: (line: string) => void = (line) => void process.stdout.write(line)) {
    this.#write = write
  }

  onTestRunEnd(modules: readonly Pick<TestModule, 'children' | 'relativeModuleId'>[]): void {
    const skipped = modules.flatMap(({ children, relativeModuleId: path }) => {
      const tests = [...children.allTests('skipped')].length
      return tests === 0 ? [] : [{ path, tests }]
    })
    if (skipped.length === 0) return
    const tests = skipped.reduce((sum, one) => sum + one.tests, 0)
    const where = skipped.length === 1 ? skipped[0]?.path : `${skipped.length} files, e.g. ${skipped[0]?.path}`
    const redis = skipsRedis() ? `; for those of Redis, ${howToGetRedis}` : ''
    this.#write(`${tests} tests were skipped in ${where}${redis}\n`)
  }
}
