import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { takeWarnings } from './process-warnings.js'

test('warnings of the packages reach the log, also those before it is open, and others are printed as before', () => {
  const process = new EventEmitter()
  const [printed, logged]: [string[], string[]] = [[], []]
  process.on('warning', ({ message }: Error) => printed.push(message))
  const passTo = takeWarnings(process)
  const warn = (message: string, name = 'MusterWarning') =>
    process.emit('warning', Object.assign(new Error(message), { name }))
  warn('before')
  passTo(({ message }) => logged.push(message))
  warn('after')
  warn('of Node.js', 'DeprecationWarning')
  expect([logged, printed]).toEqual([['before', 'after'], ['of Node.js']])
})
