import { greatCircleKm, type Coordinates } from '@muster/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { middleOf, networkOf } from './places.js'

const place = (latitude: number, longitude: number): Coordinates => ({ latitude, longitude })

test('the middle of no places, of one, and of opposite places is defined', () => {
  expect(middleOf([])).toBeUndefined()
  expect(middleOf([place(1, 2)])).toEqual(place(1, 2))
  expect(middleOf([place(90, 0), place(-90, 0)])).toEqual(place(90, 0))
})

test('the middle of places on both sides of the date line is between them', () => {
  const middle = middleOf([place(0, 179), place(0, -179)])
  expect(middle?.latitude).toBeCloseTo(0, 9)
  expect(Math.abs(middle?.longitude ?? 0)).toBeCloseTo(180, 9)
})

test('the middle of two places is equally far from both', () => {
  const anywhere = fc.record({
    latitude: fc.double({ min: -80, max: 80, noNaN: true }),
    longitude: fc.double({ min: -170, max: 170, noNaN: true }),
  })
  fc.assert(
    fc.property(anywhere, anywhere, (a, b) => {
      fc.pre(greatCircleKm(a, b) < 19_000)
      const middle = middleOf([a, b]) as Coordinates
      expect(Math.abs(greatCircleKm(a, middle) - greatCircleKm(b, middle))).toBeLessThan(0.01)
    }),
  )
})

test('the network of a ticket is that of its first known address', () => {
  expect(networkOf([{ id: 'a' }, { id: 'b', ip: '198.51.100.7' }, { id: 'c', ip: '203.0.113.7' }])).toBe(
    '198.51.0.0/16',
  )
  expect(networkOf([{ id: 'a' }])).toBeUndefined()
})
