import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createKeyedLock } from './keyed-lock.js'

test('tasks of one key run one after another, even after a failure, and do not delay tasks of other keys', async () => {
  const clock = createManualClock()
  const lock = createKeyedLock()
  const began = clock.now()
  const log: string[] = []
  const task =
    (name: string, ms: number, fails = false) =>
    async () => {
      log.push(`${name} begins at ${clock.now() - began}`)
      await clock.sleep(ms)
      if (fails) throw new Error(name)
      return name
    }
  const first = lock.run('a', task('first', 100, true))
  const second = lock.run('a', task('second', 100))
  const other = lock.run('b', task('other', 50))
  const failed = first.catch((error: unknown) => String(error))
  await clock.advance(1000)
  expect(await failed).toBe('Error: first')
  expect([await second, await other]).toEqual(['second', 'other'])
  expect(log).toEqual(['first begins at 0', 'other begins at 0', 'second begins at 100'])
})
