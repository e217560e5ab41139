import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawScripts, SLOTS, turnOf } from './script.js'

const addresses = Array.from({ length: 100 }, (_, index) => `198.51.100.${index}`)

test('every demo lobby has its own players: fewer than its slots at first, more in total', () => {
  const scripts = drawScripts(10, addresses, seededRandom(1))
  const players = scripts.flatMap(({ gathering, later }) => [...gathering, ...later])
  expect(new Set(players.map(({ id }) => id)).size).toBe(80)
  expect(new Set(players.map(({ ip }) => ip)).size).toBe(60)
  for (const { gathering, later } of scripts) {
    expect(gathering.length).toBeGreaterThanOrEqual(3)
    expect(gathering.length).toBeLessThan(SLOTS)
    expect(gathering.length + later.length).toBeGreaterThan(SLOTS)
  }
  expect(scripts.map(({ createdAfterMs }) => createdAfterMs)).toEqual([
    0, 300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700,
  ])
})

test('equal seeds give equal relay demo scripts, and different seeds different scripts', () => {
  expect(drawScripts(3, addresses, seededRandom(7))).toEqual(drawScripts(3, addresses, seededRandom(7)))
  expect(drawScripts(3, addresses, seededRandom(8))).not.toEqual(drawScripts(3, addresses, seededRandom(7)))
})

const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { maxLength: 8 })
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('every step of a relay demo script is possible, and leaves at least the host and another player', () => {
  fc.assert(
    fc.property(ids, fc.nat(8), fc.nat(8), fc.nat(2), share, share, (all, first, second, free, chance, whom) => {
      const [from, to] = [Math.min(first, second), Math.max(first, second)]
      const clients = ['always', ...all.slice(0, from)]
      const cast = { clients, gone: all.slice(from, to), later: all.slice(to), freeSlots: free }
      const { kind, playerId } = turnOf({ afterMs: 0, chance, whom }, cast)
      const fitting = { join: cast.later, 'come back': cast.gone, leave: cast.clients, kick: cast.clients }
      if (kind === 'host leaves') expect(playerId).toBeUndefined()
      else expect(kind === 'host hands over' ? cast.clients : fitting[kind]).toContain(playerId)
      if (kind === 'join' || kind === 'come back') expect(free).toBeGreaterThan(0)
      if (kind === 'leave' || kind === 'kick' || kind === 'host leaves') expect(cast.clients.length).toBeGreaterThan(1)
    }),
  )
})

test('a relay demo script contains each kind of step', () => {
  const cast = { clients: ['a', 'b'], gone: ['c'], later: ['d'], freeSlots: 1 }
  const kinds = [0, 1, 2, 3, 4, 5].map((sixth) => turnOf({ afterMs: 0, chance: sixth / 6, whom: 0.6 }, cast))
  expect(kinds).toEqual([
    { kind: 'join', playerId: 'd' },
    { kind: 'come back', playerId: 'c' },
    { kind: 'leave', playerId: 'b' },
    { kind: 'kick', playerId: 'b' },
    { kind: 'host leaves', playerId: undefined },
    { kind: 'host hands over', playerId: 'b' },
  ])
})
