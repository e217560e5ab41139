import { api } from '@muster/core/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deploySchema } from './records/deploy.js'
import { matchEnvironment } from './match-environment.js'
import type { FoundMatch } from './records/allocation.js'
import { checkSize, deploymentRequest, MatchTooLarge, type Wanted } from './deploy-request.js'
import { firstAttempt } from './retry-placement.js'

const deploy = deploySchema.parse({
  application: 'game',
  version: '1',
  environment: { MODE: 'ranked' },
  hiddenEnvironment: { KEY: 's' },
  tags: ['eu'],
  requireCachedLocations: true,
})
const found: FoundMatch = {
  id: 'm1',
  queue: 'duel',
  foundAt: 20_000,
  expansionMs: 7500,
  equality: { map: 'dust' },
  intersection: { modes: ['ctf', 'koth'] },
  teams: [
    { name: 'red', ticketIds: ['t1'] },
    { name: 'blue', ticketIds: ['t2'] },
  ],
  tickets: [
    {
      id: 't1',
      createdAt: 0,
      players: [
        { id: 'ann', ip: '192.0.2.1' },
        { id: 'ben', ip: '192.0.2.2', coordinates: { latitude: 1, longitude: 2 } },
      ],
    },
    {
      id: 't2',
      createdAt: 12_000,
      players: [{ id: 'cas', coordinates: { latitude: 3, longitude: 4 }, attributes: { skill: 7 } }],
    },
  ],
}
const wanted: Wanted = { found, deploy, token: 'hush', near: found.tickets, pool: undefined }
const own = { matchmaker: 'mm-muster', match: 'match-m1' }
const requestFor = (changes: Partial<Wanted>, webhookUrl?: string) =>
  deploymentRequest({ ...wanted, ...changes }, firstAttempt(true), own, { webhook: webhookUrl })

test('the request is for a server near the players, with the tags to find it', () => {
  const request = requestFor({})
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
  expect(request).not.toHaveProperty('webhook_on_ready')
  const withSecret = request.environment_variables?.filter(({ value }) => value.includes('hush'))
  expect(withSecret).toEqual(
    ['MM_MATCH_SECRET', 'MUSTER_SERVER_TOKEN'].map((key) => ({ key, value: 'hush', is_hidden: true })),
  )
  expect(api.deployments.create.input.safeParse(request).success).toBe(true)
})

test('the request names another place by its coordinates', () => {
  const request = deploymentRequest(wanted, { cachedOnly: false, at: { latitude: 50, longitude: 8 } }, own, {})
  expect(request.users).toEqual([{ user_type: 'geo_coordinates', user_data: { latitude: 50, longitude: 8 } }])
  expect(request).not.toHaveProperty('require_cached_locations')
})

test('the request registers all three webhooks', () => {
  const request = requestFor({}, 'https://example.com/hooks/m1/hush')
  const webhook = { url: 'https://example.com/hooks/m1/hush' }
  expect(request).toMatchObject({
    webhook_on_ready: webhook,
    webhook_on_error: webhook,
    webhook_on_terminated: webhook,
  })
  expect(api.deployments.create.input.safeParse(request).success).toBe(true)
})

test('the environment tells a server how to register', () => {
  const probe = { kind: 'registration', url: 'https://example.com/ready', withinMs: 1000 } as const
  const { environment_variables } = requestFor({ deploy: { ...deploy, probe } })
  expect(environment_variables).toContainEqual({ key: 'MM_REGISTRATION_SECRET', value: 'hush', is_hidden: true })
  expect(environment_variables).toContainEqual({ key: 'MM_REGISTRATION_URL', value: probe.url, is_hidden: false })
})

test('the environment tells a server where the ticket API is, and its own secret for it', () => {
  const api = 'https://mm.example.com'
  const probe = { kind: 'registration', withinMs: 1000 } as const
  const request = deploymentRequest({ ...wanted, deploy: { ...deploy, probe } }, firstAttempt(true), own, { api })
  for (const variable of [
    { key: 'MM_MATCH_SECRET', value: 'hush', is_hidden: true },
    { key: 'MM_API_URL', value: api, is_hidden: false },
    { key: 'MM_REGISTRATION_URL', value: `${api}/server-ready`, is_hidden: false },
  ])
    expect(request.environment_variables).toContainEqual(variable)
  expect(requestFor({}).environment_variables?.map(({ key }) => key)).not.toContain('MM_API_URL')
})

/** The variable of one player's ticket. */
function ticketOf(id: string, player: string, group: string, team: string, at: number, attributes: object): string {
  const created_at = new Date(at).toISOString()
  return JSON.stringify({
    id,
    profile: 'duel',
    created_at,
    players: [player],
    group_id: group,
    team_id: team,
    attributes,
  })
}

test('the environment describes the match, without addresses', () => {
  const variables = Object.fromEntries(matchEnvironment(found).map(({ key, value }) => [key, value]))
  expect(variables).toEqual({
    MM_MATCH_ID: 'm1',
    MM_MATCH_PROFILE: 'duel',
    MM_EXPANSION: '7.5',
    MM_TICKET_IDS: '["t1.0","t1.1","t2"]',
    'MM_TICKET_t1.0': ticketOf('t1.0', 'ann', 't1', 'red', 0, {}),
    'MM_TICKET_t1.1': ticketOf('t1.1', 'ben', 't1', 'red', 0, {}),
    MM_TICKET_t2: ticketOf('t2', 'cas', 't2', 'blue', 12_000, { skill: 7 }),
    MM_GROUPS: '{"t1":["t1.0","t1.1"],"t2":["t2"]}',
    MM_TEAMS: '{"red":["t1"],"blue":["t2"]}',
    MM_EQUALITY: '{"map":"dust"}',
    MM_INTERSECTION: '{"modes":["ctf","koth"]}',
  })
  const atFirst = matchEnvironment({ ...found, expansionMs: 0 })
  expect(atFirst.find(({ key }) => key === 'MM_EXPANSION')?.value).toBe('initial')
})

describe('a match that is too large', () => {
  const party = (names: readonly string[]): FoundMatch => ({
    ...found,
    tickets: [{ id: 'party', createdAt: 0, players: names.map((id) => ({ id, ip: '192.0.2.1' })) }],
  })

  test('for one variable is split into parts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 128, unit: 'binary' }), { minLength: 1, maxLength: 200 }),
        (names) => {
          const variables = new Map(matchEnvironment(party(names)).map(({ key, value }) => [key, value]))
          for (const value of variables.values()) expect(Buffer.byteLength(value)).toBeLessThanOrEqual(4096)
          const parts = Number(variables.get('MM_GROUPS_PARTS') ?? 0)
          const joined =
            parts === 0
              ? variables.get('MM_GROUPS')
              : Array.from({ length: parts }, (_, index) => variables.get(`MM_GROUPS_PART_${index + 1}`)).join('')
          expect(variables.has('MM_GROUPS')).toBe(parts === 0)
          expect(JSON.parse(joined ?? '')).toEqual({
            party: names.length === 1 ? ['party'] : names.map((_, index) => `party.${index}`),
          })
        },
      ),
      { numRuns: 50 },
    )
  })

  test('for the whole environment is an error', () => {
    const names = Array.from({ length: 500 }, (_, index) => String(index).padStart(128, 'x'))
    expect(() => checkSize(requestFor({ found: party(names) }), party(names))).not.toThrow()
    const more = names.map((name) => name.repeat(3))
    expect(() => checkSize(requestFor({ found: party(more) }), party(more))).toThrow(MatchTooLarge)
    expect(() => checkSize(requestFor({ found: party(more) }), party(more))).toThrow(/at most 262144 fit/)
  })
})
