import { describe, expect, test } from 'vitest'
import type { FoundMatch, Placement, PlacementAttempt } from '../records/order.js'
import { type Elsewhere, firstAttempt, middleOfMatch, nextAttempt } from './retry-placement.js'

const oslo = { latitude: 59.9, longitude: 10.7 }
const paris = { latitude: 48.9, longitude: 2.4 }
const tokyo = { latitude: 35.7, longitude: 139.7 }
const at = (place: PlacementAttempt['at']): PlacementAttempt => ({ cachedOnly: false, at: place })
const known = (places: Elsewhere['places'], players: Elsewhere['players']): Elsewhere => ({
  placements: [],
  places,
  players,
})

describe('the next place', () => {
  test.each<[string, PlacementAttempt[], PlacementAttempt | undefined]>([
    ['anywhere, if only cached places were asked for', [firstAttempt(true)], at(undefined)],
    ['at the nearest place with capacity', [firstAttempt(false)], at(paris)],
    ['at the next nearest', [firstAttempt(false), at(paris)], at(oslo)],
    ['nowhere, after four', [firstAttempt(true), at(undefined), at(paris), at(oslo)], undefined],
  ])('%s', (_, tries, next) => {
    expect(nextAttempt(tries, known([tokyo, oslo, paris], { latitude: 47, longitude: 8 }))).toEqual(next)
  })

  test('is none if no other place is known to have capacity', () => {
    expect(nextAttempt([firstAttempt(false)], known([], oslo))).toBeUndefined()
    expect(nextAttempt([firstAttempt(false), at(oslo)], known([oslo], oslo))).toBeUndefined()
  })

  test('follows the order of the service if the place of the players is unknown', () => {
    expect(nextAttempt([firstAttempt(false)], known([tokyo, oslo], undefined))).toEqual(at(tokyo))
  })
})

describe('where the rules choose the place', () => {
  const placement = (beacon: string, coordinates: typeof oslo): Placement => ({
    beacon,
    coordinates,
    worstMs: 40,
    meanMs: 30,
    limitMs: 60,
  })
  const [inOslo, inParis, inTokyo] = [placement('Oslo', oslo), placement('Paris', paris), placement('Tokyo', tokyo)]
  const placements = [inTokyo, inOslo, inParis]
  const attempt = (one: Placement, cachedOnly = false): PlacementAttempt => ({
    cachedOnly,
    at: one.coordinates,
    placement: one,
  })

  test.each<[string, PlacementAttempt[], Elsewhere['places'], PlacementAttempt | undefined]>([
    ['the same one, if only cached places were asked for', [attempt(inTokyo, true)], [], attempt(inTokyo)],
    ['the next best, wherever the players are', [attempt(inTokyo)], undefined, attempt(inOslo)],
    ['the next best that has capacity nearby', [attempt(inTokyo)], [{ latitude: 48, longitude: 2 }], attempt(inParis)],
    ['none, if capacity is elsewhere', [attempt(inTokyo)], [{ latitude: 0, longitude: 0 }], undefined],
    ['none, when all were tried', placements.map((one) => attempt(one)), undefined, undefined],
  ])('%s', (_, tries, places, next) => {
    expect(nextAttempt(tries, { placements, places, players: paris })).toEqual(next)
  })

  test('the best is tried first', () => {
    expect(firstAttempt(false, placements)).toEqual(attempt(inTokyo))
  })
})

test('the middle of a match is that of its parties with a known place', () => {
  const ticket = (id: string, place: typeof oslo | undefined, ...coordinates: (typeof oslo)[]) => ({
    id,
    createdAt: 0,
    place,
    players: coordinates.map((one, index) => ({ id: `${id}-${index}`, coordinates: one })),
  })
  const tickets = [
    ticket('a', { latitude: 10, longitude: 0 }),
    ticket('b', undefined, { latitude: 20, longitude: 0 }),
    ticket('c', undefined),
  ]
  const middle = middleOfMatch({ tickets } as unknown as FoundMatch)
  expect(middle?.latitude).toBeCloseTo(15)
  expect(middle?.longitude).toBeCloseTo(0)
  expect(middleOfMatch({ tickets: tickets.slice(2) } as unknown as FoundMatch)).toBeUndefined()
})
