import { Forbidden, RouteMissing, ServerError } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { createSourceCircuitBreaker, type SourceCircuitBreaker } from './source-circuit-breaker.js'

/** Creates a circuit breaker of a source that answers reads. */
function createGate(): SourceCircuitBreaker {
  const breaker = createSourceCircuitBreaker(() => 1)
  breaker.listener.answered()
  return breaker
}

describe('a pause of creates', () => {
  const failing = (at: number) => {
    const breaker = createGate()
    for (let time = 0; time < 3; time += 1) breaker.failed(at, at)
    return breaker
  }

  test('creates are paused by the third failure in a row, where concurrent failures count as one', () => {
    const breaker = createGate()
    breaker.failed(0, 0)
    breaker.failed(0, 0)
    expect([breaker.room(0, 0), breaker.pausedUntil()]).toEqual([Infinity, 0])
    breaker.failed(0, 0)
    for (let index = 0; index < 10; index++) breaker.failed(0, 100)
    expect([breaker.room(0, 499), breaker.blockedBy(), breaker.pausedUntil()]).toEqual([0, 'paused', 500])
  })

  test('a pause of creates lets one create probe per interval, whether or not it is answered', () => {
    const breaker = failing(0)
    expect(breaker.room(0, 500)).toBe(1)
    breaker.planned({}, 500)
    expect([breaker.room(0, 500), breaker.room(0, 1499), breaker.room(0, 1500)]).toEqual([0, 0, 1])
    breaker.planned({}, 1500)
    breaker.failed(1500, 1600)
    expect([breaker.room(0, 3499), breaker.room(0, 3500)]).toEqual([0, 1])
  })

  test('a pause of creates ends with the first answer', () => {
    const breaker = failing(0)
    breaker.planned({}, 500)
    breaker.answered(600)
    expect([breaker.room(0, 600), breaker.blockedBy(), breaker.pausedUntil()]).toEqual([Infinity, undefined, 0])
  })

  test('failures of creates that were sent before the latest answer start no pause of creates', () => {
    const breaker = failing(0)
    breaker.answered(600)
    for (let late = 0; late < 10; late += 1) breaker.failed(300, 30_000)
    expect(breaker.room(0, 30_000)).toBe(Infinity)
    for (let again = 0; again < 3; again += 1) breaker.failed(601, 30_000)
    expect(breaker.room(0, 30_000)).toBe(0)
  })

  test('a pause of creates that lasts an hour still probes every three seconds', () => {
    const breaker = failing(0)
    let now = 0
    while (now < 3_600_000) {
      const next = breaker.pausedUntil()
      expect(next - now).toBeGreaterThan(0)
      expect(next - now).toBeLessThanOrEqual(3000)
      now = next
      breaker.planned({}, now)
    }
  })
})

describe('creates while stops are untested or rejected', () => {
  const missing = new RouteMissing('deployments.list: the answer is not of the API')
  const roomOf = (breaker: SourceCircuitBreaker) => [breaker.room(0, 0), breaker.room(1, 0)]

  test('only one server is created until the deployment service has answered a read', () => {
    const breaker = createSourceCircuitBreaker(() => 1)
    expect([...roomOf(breaker), breaker.blockedBy()]).toEqual([1, 0, 'unstoppable'])
    breaker.listener.unanswered(new ServerError('503'))
    expect(roomOf(breaker)).toEqual([1, 0])
    breaker.listener.answered()
    expect([...roomOf(breaker), breaker.blockedBy()]).toEqual([Infinity, Infinity, undefined])
  })

  test('only one server is created after a read route was missing, but not after an outage', () => {
    const breaker = createSourceCircuitBreaker(() => 1)
    breaker.listener.answered()
    breaker.listener.unanswered(new ServerError('503'))
    expect(roomOf(breaker)).toEqual([Infinity, Infinity])
    breaker.listener.unanswered(missing)
    expect(roomOf(breaker)).toEqual([1, 0])
  })

  test('only one server is created after a rejected stop, until that stop is confirmed', () => {
    const breaker = createSourceCircuitBreaker(() => 1)
    breaker.listener.answered()
    breaker.listener.unstopped('r1', new ServerError('503'))
    expect(roomOf(breaker)).toEqual([Infinity, Infinity])
    breaker.listener.unstopped('r1', missing)
    breaker.listener.unstopped('r2', new Forbidden('deployments.stop: not allowed'))
    breaker.listener.stopped('r1')
    breaker.listener.answered()
    expect([...roomOf(breaker), breaker.blockedBy()]).toEqual([1, 0, 'unstoppable'])
    breaker.listener.stopped('r2')
    expect(roomOf(breaker)).toEqual([Infinity, Infinity])
  })
})
