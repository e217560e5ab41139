import fc from 'fast-check'
import { expect, test } from 'vitest'
import { places, type Place } from '../places.js'
import { createPortPool, createSites, type Site } from './placement.js'

const place = places[0] as Place

test('no port of a place is assigned twice or lost, for any assignments and releases', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(4), fc.constant('give' as const)), { maxLength: 60 }), (steps) => {
      const pool = createPortPool({ from: 100, to: 109 })
      const held: (readonly number[])[] = []
      for (const step of steps) {
        if (step === 'give') pool.give(held.shift() ?? [])
        else {
          const before = pool.free()
          const ports = pool.take(step)
          expect(ports === undefined).toBe(step > before)
          if (ports !== undefined) held.push(ports)
        }
        const all = held.flat()
        expect(new Set(all).size).toBe(all.length)
        expect(all.every((port) => port >= 100 && port <= 109)).toBe(true)
        expect(pool.free()).toBe(10 - all.length)
      }
    }),
  )
})

test('a released port is not the next to be given out', () => {
  const pool = createPortPool({ from: 1, to: 3 })
  const first = pool.take(1) as readonly number[]
  pool.give(first)
  expect(pool.take(3)).toEqual([2, 3, 1])
})

test('deployments at one place share its address but no port', () => {
  const sites = createSites({ capacity: () => Infinity, processPorts: undefined })
  const ports = [
    { port: 7777, protocol: 'UDP', name: 'game' },
    { port: 7777, protocol: 'TCP', name: 'game', tls_upgrade: true },
    { port: 80, protocol: 'HTTP' },
  ]
  const [one, two] = [sites.take(place, 'one', ports), sites.take(place, 'two', ports)] as [Site, Site]
  expect(one.publicIp).toBe(two.publicIp)
  expect(one.fqdn).toBe('one.emulator.invalid')
  const externals = [...one.ports, ...two.ports].map(({ external }) => external)
  expect(new Set(externals).size).toBe(6)
  expect(one.ports.map(({ name, internal, protocol, tlsUpgrade }) => [name, internal, protocol, tlsUpgrade])).toEqual([
    ['game', 7777, 'UDP', false],
    ['game-2', 7777, 'TCP', true],
    ['80', 80, 'HTTP', false],
  ])
})

test('a place without free ports takes no deployment, even with capacity', () => {
  const sites = createSites({ capacity: () => 5, processPorts: { from: 20_000, to: 20_002 } })
  const two = [
    { port: 1, protocol: 'UDP' },
    { port: 2, protocol: 'UDP' },
  ]
  const site = sites.take(place, 'one', two) as Site
  expect(site).toMatchObject({
    publicIp: '127.0.0.1',
    fqdn: 'localhost',
    ports: [{ internal: 20_000, external: 20_000 }, { internal: 20_001 }],
  })
  // All locations share the machine's ports.
  expect(sites.hasRoom(places[1] as Place, 2)).toBe(false)
  expect(sites.take(places[1] as Place, 'two', two)).toBeUndefined()
  sites.give(site)
  expect(sites.hasRoom(places[1] as Place, 2)).toBe(true)
})
