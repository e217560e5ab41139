import { api } from '@muster/core/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineQueue } from '../queue.js'
import { matchEnvironment } from './environment.js'
import type { FoundMatch } from './match.js'
import { deploymentRequest } from './request.js'

const queue = defineQueue({
  name: 'duel',
  matchSize: 2,
  distance: [
    { afterMs: 0, km: 100 },
    { afterMs: 7500, km: 500 },
  ],
  deploy: {
    application: 'game',
    version: '1',
    environment: { MODE: 'ranked' },
    hiddenEnvironment: { KEY: 's' },
    tags: ['eu'],
    requireCachedLocations: true,
  },
})
const match: FoundMatch = {
  id: 'm1',
  foundAt: 20_000,
  tickets: [
    {
      id: 't1',
      createdAt: 0,
      players: [
        { id: 'ann', ip: '192.0.2.1' },
        { id: 'ben', ip: '192.0.2.2', coordinates: { latitude: 1, longitude: 2 } },
      ],
    },
    { id: 't2', createdAt: 12_000, players: [{ id: 'cas', coordinates: { latitude: 3, longitude: 4 } }] },
  ],
}

test('asks for a server near the players, with the tags to find it by', () => {
  const request = deploymentRequest(match, queue, 'mm-muster')
  expect(request).toMatchObject({
    application: 'game',
    version: '1',
    users: [
      { user_type: 'ip_address', user_data: { ip_address: '192.0.2.1' } },
      { user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } },
      { user_type: 'geo_coordinates', user_data: { latitude: 3, longitude: 4 } },
    ],
    tags: ['mm-muster', 'match-m1', 'eu'],
    require_cached_locations: true,
  })
  expect(request.environment_variables).toContainEqual({ key: 'MODE', value: 'ranked', is_hidden: false })
  expect(request.environment_variables).toContainEqual({ key: 'KEY', value: 's', is_hidden: true })
  expect(api.deployments.create.input.safeParse(request).success).toBe(true)
})

test('tells the server about its match, but no address', () => {
  const variables = Object.fromEntries(matchEnvironment(match, queue).map(({ key, value }) => [key, value]))
  expect(variables).toEqual({
    MM_MATCH_ID: 'm1',
    MM_MATCH_PROFILE: 'duel',
    MM_EXPANSION: '7.5',
    MM_TICKET_IDS: '["t1","t2"]',
    MM_TICKET_t1: '{"id":"t1","profile":"duel","created_at":"1970-01-01T00:00:00.000Z","players":["ann","ben"],"attributes":{}}',
    MM_TICKET_t2: '{"id":"t2","profile":"duel","created_at":"1970-01-01T00:00:12.000Z","players":["cas"],"attributes":{}}',
    MM_GROUPS: '{"t1":["ann","ben"],"t2":["cas"]}',
    MM_TEAMS: '{"team":["t1","t2"]}',
    MM_EQUALITY: '{}',
    MM_INTERSECTION: '{}',
  })
  expect(matchEnvironment({ ...match, foundAt: 13_000 }, queue).find(({ key }) => key === 'MM_EXPANSION')?.value).toBe('initial')
})

describe('what is too large for one variable comes in parts', () => {
  test('for any names', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 128, unit: 'binary' }), { minLength: 1, maxLength: 200 }),
        (names) => {
          const large: FoundMatch = {
            ...match,
            tickets: [{ id: 'party', createdAt: 0, players: names.map((id) => ({ id, ip: '192.0.2.1' })) }],
          }
          const variables = new Map(matchEnvironment(large, queue).map(({ key, value }) => [key, value]))
          for (const value of variables.values()) expect(Buffer.byteLength(value)).toBeLessThanOrEqual(4096)
          const parts = Number(variables.get('MM_GROUPS_PARTS') ?? 0)
          const joined =
            parts === 0
              ? variables.get('MM_GROUPS')
              : Array.from({ length: parts }, (_, index) => variables.get(`MM_GROUPS_PART_${index + 1}`)).join('')
          expect(variables.has('MM_GROUPS')).toBe(parts === 0)
          expect(JSON.parse(joined ?? '')).toEqual({ party: names })
        },
      ),
      { numRuns: 50 },
    )
  })
})
