import { expect, test } from 'vitest'
import { RegisteredServer } from './registered-server.js'

/** Creates a server whose process is replaced every millisecond. */
const replacedBy = (count: number) => {
  const server = new RegisteredServer({ instance: 'i-0', matches: 1 }, 0)
  for (let nth = 1; nth <= count; nth += 1)
    server.replaceInstance({ instance: `i-${nth}`, matches: 1 }, nth, nth + 25_000)
  return server
}

test('if a server registers ever new processes, only the last 100 replaced processes are remembered', () => {
  const { replaced } = replacedBy(20_000)
  expect(replaced?.size).toBe(100)
  expect([replaced?.has('i-19999'), replaced?.has('i-19900'), replaced?.has('i-19899')]).toEqual([true, true, false])
})

test('a replaced server process is remembered for a limited time, and not once it is current again', () => {
  const server = replacedBy(2)
  server.replaceInstance({ instance: 'i-1', matches: 1 }, 10, 25_010)
  expect([...(server.replaced ?? [])]).toEqual([
    ['i-0', 25_001],
    ['i-2', 25_010],
  ])
  server.replaceInstance({ instance: 'i-3', matches: 1 }, 25_005, 50_005)
  expect([...(server.replaced?.keys() ?? [])]).toEqual(['i-2', 'i-1'])
})
