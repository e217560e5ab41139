import { addressPrefix } from '@muster/core/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPlayerRecorder, playerOf } from './recording-lines.js'

const oslo = { latitude: 59.9, longitude: 10.7 }

test('a recorded player has a place, or else a network number, instead of the address', () => {
  const recorded = createPlayerRecorder(false)
  const attributes = { skill: 3, maps: ['a', 'b'] }
  expect(recorded({ id: 'a', ip: '192.0.2.1', attributes }, oslo)).toEqual({ id: 'a', attributes, coordinates: oslo })
  expect(recorded({ id: 'b', coordinates: oslo, roles: ['tank'] }, oslo)).toEqual({
    id: 'b',
    coordinates: oslo,
    roles: ['tank'],
  })
  expect(recorded({ id: 'c', ip: '198.51.100.7' }, undefined)).toEqual({ id: 'c', network: 0 })
  expect(recorded({ id: 'd', ip: '203.0.113.7' }, undefined)).toEqual({ id: 'd', network: 1 })
  expect(recorded({ id: 'e', ip: '198.51.1.1' }, undefined)).toEqual({ id: 'e', network: 0 })
})

test('a recorded player keeps the address if requested', () => {
  const recorded = createPlayerRecorder(true)
  expect(recorded({ id: 'a', ip: '192.0.2.1' }, oslo)).toEqual({ id: 'a', ip: '192.0.2.1', coordinates: oslo })
  expect(recorded({ id: 'b', ip: '192.0.2.2' }, undefined)).toEqual({ id: 'b', ip: '192.0.2.2' })
})

test('recorded players share a network number exactly if they shared a network', () => {
  const network = fc.nat(2 ** 24 - 1)
  fc.assert(
    fc.property(network, network, (one, other) => {
      const [a, b] = [one, other].map((number) => addressPrefix(playerOf({ id: 'a', network: number }).ip ?? ''))
      expect(a).toMatch(/\/32$/)
      expect(a === b).toBe(one === other)
    }),
  )
  expect(playerOf({ id: 'a', coordinates: oslo, network: 3 })).toEqual({ id: 'a', coordinates: oslo })
})
