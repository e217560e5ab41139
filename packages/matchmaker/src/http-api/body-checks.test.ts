import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'

const duel = { profile: 'duel', attributes: {} }
const tooManyBeacons = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`b${index}`, 1]))

describe('a request body', () => {
  test('a player’s request body over 16 KiB is refused with 413, but not a backend’s', async () => {
    const { call } = setUp()
    const large = { ...duel, attributes: { text: 'x'.repeat(16 * 1024) } }
    expect((await call('ann', 'POST', '/tickets', large)).status).toBe(413)
    const batch = {
      tickets: Array.from({ length: 40 }, () => ({
        ...duel,
        player_ip: '203.0.113.7',
        attributes: { text: 'x'.repeat(1000) },
      })),
    }
    expect((await call('backend', 'POST', '/tickets/batch', batch)).status).toBe(200)
    const { call: strict } = setUp({ limits: { bodyBytes: 30, backendBodyBytes: 1000 } })
    expect((await strict('ann', 'POST', '/tickets', duel)).status).toBe(413)
    expect((await strict('backend', 'POST', '/tickets/batch', batch)).status).toBe(413)
    expect((await strict('ann', 'POST', '/tickets/batch', batch)).status).toBe(403)
  })

  test.each([
    ['of another content type', '{"profile":"duel"}', 'text/plain', 415],
    ['that is not JSON', '{profile:duel}', 'application/json', 400],
    [
      'that is nested too deeply',
      `{"profile":"duel","attributes":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
      'application/json',
      400,
    ],
    ['with the key __proto__', '{"profile":"duel","attributes":{"__proto__":{"skill":1}}}', 'application/json', 400],
    [
      'with too many beacons',
      JSON.stringify({ profile: 'duel', attributes: { beacons: tooManyBeacons } }),
      'application/json',
      400,
    ],
    ['with a profile name that is too long', JSON.stringify({ profile: 'x'.repeat(65) }), 'application/json', 400],
  ])('a request body %s is refused', async (_, body, type, status) => {
    const { call, service } = setUp()
    expect((await call('ann', 'POST', '/tickets', body, { headers: { 'content-type': type } })).status).toBe(status)
    expect(service.players.size).toBe(0)
  })

  test('the attributes of a request body cannot pollute a prototype', async () => {
    const { call } = setUp({ limits: { perCaller: null, perAddress: null } })
    const key = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'beacons', 'hasOwnProperty')
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, fc.double(), fc.string(), tie('object')),
      object: fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
    })).value
    await fc.assert(
      fc.asyncProperty(value, fc.nat(), async (attributes, player) => {
        const { status } = await call(`p${player}`, 'POST', '/tickets', { profile: 'duel', attributes })
        expect([201, 400, 409]).toContain(status)
        expect(Object.keys(Object.prototype)).toEqual([])
        expect(({} as Record<string, unknown>)['skill']).toBeUndefined()
      }),
      { numRuns: 200 },
    )
  })

  test('attributes named like Object.prototype members are accepted and stored unchanged', async () => {
    const { call, service } = setUp()
    await call('ann', 'POST', '/tickets', '{"profile":"duel","attributes":{"constructor":"x","toString":1}}')
    const attributes = service.players.get('ticket-1')?.[0]?.attributes ?? {}
    expect([Object.keys(attributes), Object.getPrototypeOf(attributes)]).toEqual([
      ['constructor', 'toString'],
      Object.prototype,
    ])
  })
})
