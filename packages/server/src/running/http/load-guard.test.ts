import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createLoadGuard, urgencyOf } from './load-guard.js'

const messageOf = (method: string, url: string) => ({ method, url }) as IncomingMessage

test.each([
  ['begin', 'POST', ['/tickets', '/tickets/batch', '/group-tickets', '/groups', '/groups/g/members', '/matches']],
  ['begin', 'POST', ['/backfills', '/lobbies', '/lobbies/join', '/lobbies/l/join', '/tickets?x=/y']],
  ['change', 'POST', ['/tickets/t/accept', '/matches/m/players-left', '/server-ready', '/lobbies/l/heartbeat']],
  ['change', 'PATCH', ['/backfills/b', '/lobbies/l']],
  ['change', 'PUT', ['/lobbies/l/host']],
  ['keep', 'GET', ['/tickets/t', '/me', '/queues']],
  ['keep', 'DELETE', ['/tickets/t', '/matches/m']],
  ['keep', 'HEAD', ['/me']],
])('the load guard gives the urgency %s to the requests %s %j', (urgency, method, paths) => {
  for (const path of paths) expect([path, urgencyOf(messageOf(method, path))]).toEqual([path, urgency])
})

/** Creates a clock whose sleeps end when the test says so, like those of a late event loop. */
function lateClock() {
  let now = 0
  let wake = () => {}
  const clock: Clock = {
    now: () => now,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        wake = () => {
          signal?.removeEventListener('abort', reject)
          resolve()
        }
        signal?.addEventListener('abort', reject)
      }),
  }
  const pass = (ms: number) => void (now += ms)
  const look = async () => {
    wake()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, pass, look }
}

function guarded(delayMs: number) {
  const told: number[] = []
  const late = lateClock()
  let bound = delayMs
  let queued = 0
  const guard = createLoadGuard({
    delayMs: () => bound,
    onShed: (count) => told.push(count),
    queuedMs: () => queued,
    clock: late.clock,
  })
  const ask = (method: string, path: string) => {
    const response = new EventEmitter()
    return { response, isTaken: guard.admits(messageOf(method, path), response as unknown as ServerResponse) }
  }
  return {
    ...late,
    guard,
    told,
    ask,
    setDelay: (ms: number) => void (bound = ms),
    setQueued: (ms: number) => void (queued = ms),
  }
}

test('in an event loop turn that lasts too long, the load guard refuses new tickets', async () => {
  const { ask, pass, look, guard, told } = guarded(1000)
  expect(ask('POST', '/tickets').isTaken).toBe(true)
  pass(700)
  expect(ask('POST', '/tickets').isTaken).toBe(false)
  expect(ask('GET', '/me').isTaken).toBe(true)
  expect(told).toEqual([])
  await look()
  expect(told).toEqual([1])
  expect(ask('POST', '/tickets').isTaken).toBe(true)
  expect(guard.counts()).toMatchObject({ refused: { begin: 1, change: 0, keep: 0 }, lateMs: 600 })
  guard.close()
})

test('started but unanswered requests count as lateness for the load guard', async () => {
  const { ask, pass, look, guard } = guarded(1000)
  const { response } = ask('POST', '/tickets')
  for (let looks = 0; looks < 60; looks += 1) {
    pass(100)
    await look()
  }
  expect(guard.counts().level).toBeGreaterThan(0)
  response.emit('close')
  for (let looks = 0; looks < 70; looks += 1) {
    pass(100)
    await look()
  }
  expect(guard.counts()).toMatchObject({ level: 0, lateMs: 0 })
  guard.close()
})

test('connections waiting to be accepted count as lateness for the load guard', async () => {
  const { ask, pass, look, guard, setQueued } = guarded(1000)
  const lookFor = async (ms: number) => {
    for (let now = 0; now < ms; now += 100) {
      pass(100)
      await look()
    }
  }
  setQueued(600)
  await lookFor(3000)
  expect(guard.counts().lateMs).toBe(600)
  expect(['/tickets', '/groups'].map((path) => ask('POST', path).isTaken)).toEqual([false, false])
  setQueued(0)
  await lookFor(7000)
  expect(guard.counts()).toMatchObject({ level: 0, lateMs: 0 })
  expect(ask('POST', '/tickets').isTaken).toBe(true)
  guard.close()
})

test('without a lateness limit the load guard refuses no request, and a new limit applies at once', async () => {
  const { ask, pass, look, guard, setDelay } = guarded(Infinity)
  pass(60_000)
  expect(ask('POST', '/tickets').isTaken).toBe(true)
  setDelay(100)
  await look()
  pass(200)
  expect(ask('POST', '/tickets').isTaken).toBe(false)
  guard.close()
})
