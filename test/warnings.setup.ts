/**
 * Fails a test file in which a signal or emitter gets so many listeners that Node.js warns of a leak. A signal that
 * many wait on is created by `manyWaitOn`.
 */
import { afterAll, expect } from 'vitest'

const leaks: string[] = []
const noteLeak = ({ name, stack }: Error) => {
  if (name === 'MaxListenersExceededWarning') leaks.push(stack ?? name)
}
process.on('warning', noteLeak)

afterAll(() => {
  process.off('warning', noteLeak)
  expect(leaks).toEqual([])
})
