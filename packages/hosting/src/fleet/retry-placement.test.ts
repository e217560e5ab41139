import { describe, expect, test } from 'vitest'
import type { FoundMatch, Placement, PlacementAttempt } from '../records/order.js'
import { type OtherPlaces, firstAttempt, middleOfMatch, nextAttempt } from './retry-placement.js'

const oslo = { latitude: 59.9, longitude: 10.7 }
const paris = { latitude: 48.9, longitude: 2.4 }
const tokyo = { latitude: 35.7, longitude: 139.7 }
const at = (place: PlacementAttempt['at']): PlacementAttempt => ({ cachedOnly: false, at: place })
const known = (places: OtherPlaces['places'], players: OtherPlaces['players']): OtherPlaces => ({
  placements: [],
  places,
  players,
})

describe('the place of the next attempt', () => {
  test.each<[string, PlacementAttempt[], PlacementAttempt | undefined]>([
    ['anywhere, if the first one used only cached places', [firstAttempt(true)], at(undefined)],
    ['at the nearest place with capacity', [firstAttempt(false)], at(paris)],
    ['at the next nearest place', [firstAttempt(false), at(paris)], at(oslo)],
    ['impossible after four attempts', [firstAttempt(true), at(undefined), at(paris), at(oslo)], undefined],
  ])('after a failed placement the next attempt is %s', (_, tries, next) => {
    expect(nextAttempt(tries, known([tokyo, oslo, paris], { latitude: 47, longitude: 8 }))).toEqual(next)
  })

  test('a failed placement is not retried if no other place is known to have capacity', () => {
    expect(nextAttempt([firstAttempt(false)], known([], oslo))).toBeUndefined()
    expect(nextAttempt([firstAttempt(false), at(oslo)], known([oslo], oslo))).toBeUndefined()
  })

  test('a failed placement is retried in the order of the service’s list if the players’ place is unknown', () => {
    expect(nextAttempt([firstAttempt(false)], known([tokyo, oslo], undefined))).toEqual(at(tokyo))
  })
})

describe('the place of the next attempt, if the rules choose it', () => {
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

  test.each<[string, PlacementAttempt[], OtherPlaces['places'], PlacementAttempt | undefined]>([
    ['at the same place, if the first one used only cached places', [attempt(inTokyo, true)], [], attempt(inTokyo)],
    ['at the next best place, if the places with capacity are unknown', [attempt(inTokyo)], undefined, attempt(inOslo)],
    [
      'at the next best place that has capacity nearby',
      [attempt(inTokyo)],
      [{ latitude: 48, longitude: 2 }],
      attempt(inParis),
    ],
    ['impossible if capacity is elsewhere', [attempt(inTokyo)], [{ latitude: 0, longitude: 0 }], undefined],
    ['impossible when all places were tried', placements.map((one) => attempt(one)), undefined, undefined],
  ])('if rules rank the places, the placement attempt after a failure is %s', (_, tries, places, next) => {
    expect(nextAttempt(tries, { placements, places, players: paris })).toEqual(next)
  })

  test('the first placement attempt is at the best place if rules rank the places', () => {
    expect(firstAttempt(false, placements)).toEqual(attempt(inTokyo))
  })
})

test('the centre of a match is computed from its parties with a known place', () => {
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
