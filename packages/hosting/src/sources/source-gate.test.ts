import { Forbidden, RouteMissing, ServerError } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { createSourceGate, type SourceGate } from './source-gate.js'

/** A gate that knows that the source answers reads. */
function createGate(): SourceGate {
  const gate = createSourceGate(() => 1)
  gate.read()
  return gate
}

describe('a pause', () => {
  const failing = (at: number) => {
    const gate = createGate()
    for (let time = 0; time < 3; time += 1) gate.failed(at, at)
    return gate
  }

  test('begins with the third failure in a row; failures in flight together count once', () => {
    const gate = createGate()
    gate.failed(0, 0)
    gate.failed(0, 0)
    expect([gate.room(0, 0), gate.pausedUntil()]).toEqual([Infinity, 0])
    gate.failed(0, 0)
    for (let index = 0; index < 10; index++) gate.failed(0, 100)
    expect([gate.room(0, 499), gate.held(), gate.pausedUntil()]).toEqual([0, 'paused', 500])
  })

  test('lets one create probe per interval, whether or not it is answered', () => {
    const gate = failing(0)
    expect(gate.room(0, 500)).toBe(1)
    gate.planned({}, 500)
    expect([gate.room(0, 500), gate.room(0, 1499), gate.room(0, 1500)]).toEqual([0, 0, 1])
    gate.planned({}, 1500)
    gate.failed(1500, 1600)
    expect([gate.room(0, 3499), gate.room(0, 3500)]).toEqual([0, 1])
  })

  test('ends with the first answer', () => {
    const gate = failing(0)
    gate.planned({}, 500)
    gate.answered(600)
    expect([gate.room(0, 600), gate.held(), gate.pausedUntil()]).toEqual([Infinity, undefined, 0])
  })

  test('is not begun again by creates sent before the answer', () => {
    const gate = failing(0)
    gate.answered(600)
    for (let late = 0; late < 10; late += 1) gate.failed(300, 30_000)
    expect(gate.room(0, 30_000)).toBe(Infinity)
    for (let again = 0; again < 3; again += 1) gate.failed(601, 30_000)
    expect(gate.room(0, 30_000)).toBe(0)
  })

  test('of an hour still probes every three seconds', () => {
    const gate = failing(0)
    let now = 0
    while (now < 3_600_000) {
      const next = gate.pausedUntil()
      expect(next - now).toBeGreaterThan(0)
      expect(next - now).toBeLessThanOrEqual(3000)
      now = next
      gate.planned({}, now)
    }
  })
})

describe('while it is not known whether a server could be stopped again', () => {
  const missing = new RouteMissing('deployments.list: the answer is not of the API')
  const roomOf = (gate: SourceGate) => [gate.room(0, 0), gate.room(1, 0)]

  test('one server may exist, and no second, until the service has answered a read', () => {
    const gate = createSourceGate(() => 1)
    expect([...roomOf(gate), gate.held()]).toEqual([1, 0, 'unstoppable'])
    gate.unread(new ServerError('503'))
    expect(roomOf(gate)).toEqual([1, 0])
    gate.read()
    expect([...roomOf(gate), gate.held()]).toEqual([Infinity, Infinity, undefined])
  })

  test('a missing route of reads holds creates until a read is answered; an outage does not', () => {
    const gate = createSourceGate(() => 1)
    gate.read()
    gate.unread(new ServerError('503'))
    expect(roomOf(gate)).toEqual([Infinity, Infinity])
    gate.unread(missing)
    expect(roomOf(gate)).toEqual([1, 0])
  })

  test('a refused stop holds creates until that stop is confirmed', () => {
    const gate = createSourceGate(() => 1)
    gate.read()
    gate.unstopped('r1', new ServerError('503'))
    expect(roomOf(gate)).toEqual([Infinity, Infinity])
    gate.unstopped('r1', missing)
    gate.unstopped('r2', new Forbidden('deployments.stop: not allowed'))
    gate.stopped('r1')
    gate.read()
    expect([...roomOf(gate), gate.held()]).toEqual([1, 0, 'unstoppable'])
    gate.stopped('r2')
    expect(roomOf(gate)).toEqual([Infinity, Infinity])
  })
})
