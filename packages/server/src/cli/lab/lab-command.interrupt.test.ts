import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { interruptible } from './lab-command.js'

test('Ctrl-C aborts a lab command by its signal, and removes its listeners', async () => {
  const signals = new EventEmitter()
  const forever = interruptible(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    signals,
  )
  signals.emit('SIGINT')
  expect(await forever).toBeUndefined()
  expect(await interruptible(() => Promise.resolve(5), signals)).toBe(5)
  await expect(interruptible(() => Promise.reject(new Error('broken')), signals)).rejects.toThrow('broken')
  expect(signals.listenerCount('SIGINT')).toBe(0)
})
