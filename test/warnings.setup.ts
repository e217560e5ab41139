/**
 * Fails a test file in which an abort signal gets so many listeners that Node.js warns of a leak. Signals with many
 * waiters must be created by `manyWaitOn`.
 */
import { afterAll } from 'vitest'

const leaks: string[] = []
const noteLeak = ({ name, message, stack = message }: Error) => {
  if (name === 'MaxListenersExceededWarning' && message.includes('[AbortSignal]')) leaks.push(stack)
}
process.on('warning', noteLeak)

afterAll(() => {
  process.off('warning', noteLeak)
  if (leaks.length > 0) throw new Error(leaks.join('\n'))
})
