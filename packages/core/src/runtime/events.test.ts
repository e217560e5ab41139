import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createEvents, createEventsWithProblems, type WithProblems } from './events.js'

interface Names extends WithProblems {
  said: (word: string) => void
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('an event listener that throws or rejects affects no other listener and is reported as a problem', async () => {
  const { emitter, emit } = createEventsWithProblems<Names>()
  const heard: string[] = []
  const problems: unknown[] = []
  emitter.on('problem', (problem) => problems.push(problem))
  emitter.on('said', () => {
    throw new Error('at once')
  })
  emitter.on('said', async () => {
    throw new Error('later')
  })
  emitter.on('said', (word) => heard.push(word))
  emit('said', 'a')
  await settled()
  expect(heard).toEqual(['a'])
  expect(problems).toEqual([
    { during: 'listener', event: 'said', error: new Error('at once') },
    { during: 'listener', event: 'said', error: new Error('later') },
  ])
})

test('each failure of a listener causes one process warning, even if the listener of problems fails', async () => {
  const warnings: string[] = []
  const listen = ({ message }: Error) => {
    if (message.startsWith('a listener')) warnings.push(message)
  }
  process.on('warning', listen)
  const { emitter, emit } = createEventsWithProblems<Names>()
  emitter.on('said', () => Promise.reject(new Error('no')))
  emit('said', 'a')
  await settled()
  emitter.on('problem', () => {
    throw new Error('nor this')
  })
  emit('said', 'b')
  await settled()
  process.off('warning', listen)
  expect(warnings).toEqual([
    "a listener of the event 'said' failed: Error: no",
    "a listener of the event 'problem' failed: Error: nor this",
  ])
})

test('event listeners are added and removed as with an EventEmitter of Node.js', () => {
  const failures: unknown[] = []
  const { emitter, emit } = createEvents<Names>((event, error) => failures.push([event, error]))
  const heard: string[] = []
  const listener = (word: string) => void heard.push(word)
  emitter.on('said', listener)
  emitter.once('said', (word) => void heard.push(`once ${word}`))
  emit('said', 'a')
  emit('said', 'b')
  emitter.off('said', listener)
  emit('said', 'c')
  emitter.addListener('said', listener)
  emit('said', 'd')
  emitter.removeAllListeners()
  emit('said', 'e')
  expect(heard).toEqual(['a', 'once a', 'b', 'd'])
  expect(failures).toEqual([])
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('a removed event listener is not kept in memory', async () => {
  const { emitter } = createEvents<Names>(() => {})
  const subscribe = () => {
    const listener = () => {}
    emitter.on('said', listener)
    emitter.off('said', listener)
    return new WeakRef(listener)
  }
  const removed = subscribe()
  await settled()
  collectGarbage()
  expect(removed.deref()).toBeUndefined()
})

test('an event listener that is no function is refused', () => {
  const { emitter } = createEvents<Names>(() => {})
  expect(() => emitter.on('said', 'a' as never)).toThrow("the listener of the event 'said' must be a function")
})

test('a rejected promise of another library is reported like one of the language', async () => {
  const failures: unknown[] = []
  const { emitter, emit } = createEvents<Names>((event, error) => failures.push([event, error]))
  const rejected = { catch: () => {} }
  Reflect.set(rejected, 'then', (_: unknown, failed: (error: unknown) => void) => failed('no'))
  emitter.on('said', (() => rejected) as never)
  emit('said', 'a')
  await settled()
  expect(failures).toEqual([['said', 'no']])
})
