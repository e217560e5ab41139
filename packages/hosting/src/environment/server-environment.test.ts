import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { deploySchema } from '../records/deploy.js'
import { matchEnvironment } from './match-environment.js'
import type { FoundMatch } from '../records/order.js'
import { type EnvironmentInput, MatchTooLarge, serverEnvironment } from './server-environment.js'

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
const environmentFor = (changes: Partial<EnvironmentInput>) =>
  serverEnvironment({ found, deploy, token: 'hush', pool: undefined, apiUrl: undefined, ...changes })

test('a server’s environment has the queue’s variables, and the server token as a hidden variable', () => {
  const environment = environmentFor({})
  expect(environment).toContainEqual({ key: 'MODE', value: 'ranked', is_hidden: false })
  expect(environment).toContainEqual({ key: 'KEY', value: 's', is_hidden: true })
  expect(environment.filter(({ value }) => value.includes('hush'))).toEqual(
    ['MM_MATCH_SECRET', 'MUSTER_SERVER_TOKEN'].map((key) => ({ key, value: 'hush', is_hidden: true })),
  )
})

test('a server’s environment contains what the server needs to register', () => {
  const probe = { kind: 'registration', url: 'https://example.com/ready', withinMs: 1000 } as const
  const environment = environmentFor({ deploy: { ...deploy, probe } })
  expect(environment).toContainEqual({ key: 'MM_REGISTRATION_SECRET', value: 'hush', is_hidden: true })
  expect(environment).toContainEqual({ key: 'MM_REGISTRATION_URL', value: probe.url, is_hidden: false })
})

test('a server’s environment contains the URL of the ticket API and the server’s own secret for it', () => {
  const apiUrl = 'https://mm.example.com'
  const probe = { kind: 'registration', withinMs: 1000 } as const
  const environment = environmentFor({ deploy: { ...deploy, probe }, apiUrl })
  for (const variable of [
    { key: 'MM_MATCH_SECRET', value: 'hush', is_hidden: true },
    { key: 'MM_API_URL', value: apiUrl, is_hidden: false },
    { key: 'MM_REGISTRATION_URL', value: `${apiUrl}/server-ready`, is_hidden: false },
  ])
    expect(environment).toContainEqual(variable)
  expect(environmentFor({}).map(({ key }) => key)).not.toContain('MM_API_URL')
})

/** Returns the variable of one player's ticket. */
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

test('a server’s environment describes the match, without addresses', () => {
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

describe('the description of a large match', () => {
  const party = (names: readonly string[]): FoundMatch => ({
    ...found,
    tickets: [{ id: 'party', createdAt: 0, players: names.map((id) => ({ id, ip: '192.0.2.1' })) }],
  })

  test('the description of a large match is split into parts if it is too large for one variable', () => {
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

  test('a match whose description is too large for the whole environment is refused', () => {
    const names = Array.from({ length: 500 }, (_, index) => String(index).padStart(128, 'x'))
    expect(() => environmentFor({ found: party(names) })).not.toThrow()
    const more = names.map((name) => name.repeat(3))
    expect(() => environmentFor({ found: party(more) })).toThrow(MatchTooLarge)
    expect(() => environmentFor({ found: party(more) })).toThrow(/at most 262144 fit/)
  })
})
