import { InvalidConfig, readConfigText } from '@muster/server'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'

type Json = Readonly<Record<string, unknown>>

const schema = JSON.parse(
  readFileSync(new URL('../../packages/server/muster.schema.json', import.meta.url), 'utf8'),
) as Json
const bySchema = new Ajv({ strictNumbers: false, validateFormats: false, strict: false }).compile(schema)

/** Returns the faults that the program finds in a configuration. */
async function faultsOf(value: unknown): Promise<readonly string[]> {
  try {
    await readConfigText(stringify(value, { aliasDuplicateObjects: false }), { path: 'muster.yaml', outside: false })
    return []
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    return error.findings
      .filter(({ severity }) => severity === 'error')
      .map(({ field, message }) => `${field}: ${message}`)
  }
}

const deploy = { application: 'game', version: '1' }
const service = { url: 'https://service.example', token: { env: 'TOKEN' } }
const steps = [
  { afterMs: 0, value: 100 },
  { afterMs: 5000, value: 300 },
]

/** Valid configurations. Together they have every section and every kind of rule. */
const RIGHT: readonly Json[] = [
  { service, queues: [{ name: 'duel', matchSize: 2, deploy }] },
  {
    queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
    pools: [{ name: 'arena', source: 'local', deploy }],
    sources: {
      local: { launch: { command: ['node', 'game.js'], ports: { game: 'UDP', web: 'WS' }, max: 5, graceMs: 0 } },
      metal: { allocator: 'https://hoster.example', secret: { env: 'METAL' }, lagMs: 5, timeoutMs: 5000 },
    },
  },
  {
    name: 'eu-1',
    listen: { host: '0.0.0.0', port: 8080, publicUrl: 'https://mm.example' },
    service: { ...service, share: 0.5, timeoutMs: 1000 },
    queues: [
      {
        name: 'five',
        teams: [
          {
            name: 'team',
            count: 2,
            size: {
              min: [
                { afterMs: 0, value: 5 },
                { afterMs: 9000, value: 3 },
              ],
              max: 5,
            },
          },
        ],
        rules: [
          { kind: 'distance', maxKm: [...steps, { afterMs: 9000, value: Infinity }], missing: 'any', by: 'oldest' },
          { kind: 'latency', maxMs: 80, maxDifferenceMs: { from: 10, to: 50, overMs: 9000 } },
          { kind: 'difference', attribute: 'skill', max: steps, party: 'max', missing: { value: 5 }, hard: true },
          { kind: 'equal', attribute: 'mode', scope: 'team', optionalAfterMs: 5000 },
          { kind: 'different', attribute: 'hero' },
          { kind: 'overlap', attribute: 'maps', atLeast: 2 },
          { kind: 'require', attribute: 'level', operator: '>=', value: { from: 9, to: 1, startMs: 5, overMs: 9 } },
          { kind: 'require', attribute: 'region', operator: 'in', value: ['eu', 'us'] },
          { kind: 'accepts', attribute: 'rank', operator: '>=', own: 'minRank' },
          { kind: 'compare', aggregate: 'sum', attribute: 'gold', operator: '<', value: steps, name: 'gold' },
          { kind: 'roles', roles: { tank: 1, healer: { min: 1, max: 2 } } },
          { kind: 'avoid' },
          { kind: 'balance', attribute: 'skill', max: 5 },
          { kind: 'balance', measure: 'predictedWin', mean: 'mu', uncertainty: 'sigma', beta: 5, max: 0.6 },
          { kind: 'any', rules: [{ kind: 'avoid' }, { kind: 'not', rule: { kind: 'equal', attribute: 'clan' } }] },
        ],
        lastResortMs: 60_000,
        acceptance: { withinMs: 9000, replace: true },
        playerMayState: ['maps'],
        deploy: { ...deploy, environment: { A: 'b' }, tags: ['x'], probe: { kind: 'udp', port: 'game' } },
      },
    ],
    spending: { maxServers: 'unlimited', maxStarting: 5, pricePerMinute: 0.1, currency: 'EUR' },
    limits: { perCaller: { limit: 9, windowMs: 1000 }, perAddress: 'unlimited', bodies: { inAll: 5 } },
    auth: {
      jwt: {
        jwks: 'https://id.example/keys',
        issuer: ['a', 'b'],
        claims: { id: ['user', 'id'], attributes: { skill: 'mmr' } },
      },
      keys: [{ name: 'backend', role: 'backend', key: { file: 'key.txt' } }],
    },
    addresses: { trustedProxies: ['10.0.0.0/8'], header: 'x-real-ip' },
    cors: { origins: ['https://play.example'] },
    profiles: { url: 'https://profiles.example', whenDown: { attributes: { skill: 5 } } },
    browser: { attributes: { mode: { type: 'string', values: ['ctf', 'dm'] }, rank: { type: 'number' } } },
    store: { folder: './data', fsync: 'always' },
    console: { enabled: true, hosts: ['mm.example:8080'] },
    telemetry: { log: { level: 'warn', format: 'text' }, metrics: { enabled: true, key: { env: 'KEY' } } },
  },
  {
    service,
    queues: [{ name: 'duel', matchSize: 2, deploy: { ...deploy, probe: { kind: 'registration' } } }],
    auth: { jwt: { secret: { env: 'SECRET' }, algorithms: ['HS256'] } },
    store: { redis: { url: { env: 'REDIS_URL' }, replicas: { atLeast: 1, timeoutMs: 500 } } },
    lobbies: { enabled: true, startAs: 'match', queue: 'duel', limits: { joinsOverall: 'unlimited' } },
    relay: { idleMs: 'never', sessionsPerHost: 'unlimited' },
    webhook: { enabled: false },
    beacons: { enabled: false },
    locate: { file: 'city.mmdb' },
    streamTokens: { key: { env: 'STREAMS' } },
    inspect: true,
    matching: { orphanGraceMs: 'never', tickMs: 100 },
    shutdown: { withinMs: 5000 },
  },
]

test.each(RIGHT.map((value, index) => [index, value] as const))(
  'JSON Schema and muster check both accept configuration %i',
  async (_, value) => {
    expect(await faultsOf(value)).toEqual([])
    expect(bySchema(value), JSON.stringify(bySchema.errors)).toBe(true)
  },
)

/** Returns the path of each value inside a value, and of the value itself. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, part]) => placesIn(part, [...path, key]))]
}

/** Returns a copy with another value at a path. Undefined removes the value. */
function changed(value: unknown, [key, ...rest]: readonly string[], part: unknown): unknown {
  if (key === undefined) return part
  if (Array.isArray(value)) {
    const list = value.map((entry: unknown, index) => (String(index) === key ? changed(entry, rest, part) : entry))
    return list.filter((entry) => entry !== undefined)
  }
  const object: Json = { ...(value as Json), [key]: changed((value as Json)[key], rest, part) }
  return Object.fromEntries(Object.entries(object).filter(([, entry]) => entry !== undefined))
}

const WORDS = ['x', 'unlimited', 'match', 'relay', 'memory', 'any', 'duel', 'team']
const part = fc.oneof(
  fc.constantFrom<unknown>(undefined, true, 0, -1, 5, 0.5, 1e12, '', ...WORDS, [], ['x'], {}, { value: 5 }, [5]),
  fc.constantFrom<unknown>({ env: 'A' }, { file: 'a' }, { env: 'A', file: 'a' }, steps, { from: 1, to: 2, overMs: 5 }),
)
const change = fc
  .constantFrom(...RIGHT)
  .chain((value) => fc.tuple(fc.constant(value), fc.constantFrom(...placesIn(value).slice(1)), part))
  .map(([value, path, other]) => changed(value, path, other) as Json)

/** Faults that JSON Schema cannot express or that editors do not check: relations between fields, formats and names. */
const BEYOND = new RegExp(
  [
    'step', // no step is stricter than the one before
    'relax',
    'its first value',
    'must not be (more|less) than',
    'must be less than expireAfterMs',
    'are only allowed for type string',
    'is none of the',
    'is the name of',
    'there are two teams',
    'take .* players|require .* players',
    'must take at least one player',
    'second distance rule',
    'attribute: is a (number|list)',
    'must be a (number|string|boolean|list), the type that the rule compares',
    'must be a (number|text), a text or a boolean',
    'must be a number: it cannot relax',
    'is only allowed for comparisons of numbers',
    'rules[.]\\d+[.](value|attribute|team|otherTeam|scope|missing|aggregate|mean|uncertainty|beta|max|measure)',
    'rules[.]\\d+: must have',
    'must be a network',
    'neither user nor password',
    'must be an? (http|redis)',
    'must be 1 to 8 roles',
    'with min at most max',
    'names beginning with MM_',
    'tags beginning with',
    'needs a shared secret|needs public keys|needs lobbies.queue|needs listen.publicUrl|is only used with',
    'Set service|needs a store of one process|must not end before',
    'there is no such pool|because its pool says|unless all servers of the pool enrol|must have a key',
    'must not be deeper',
  ].join('|'),
)

test('JSON Schema and muster check agree, except on what no schema can express', async () => {
  await fc.assert(
    fc.asyncProperty(change, async (value) => {
      const faults = await faultsOf(value)
      const isBeyond = faults.some((fault) => BEYOND.test(fault))
      expect(isBeyond || bySchema(value) === (faults.length === 0), faults.join('\n')).toBe(true)
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 200 },
  )
})

test('JSON Schema and muster check both refuse an unknown configuration name at any place', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...RIGHT).chain((value) => fc.tuple(fc.constant(value), fc.constantFrom(...placesIn(value)))),
      async ([value, path]) => {
        const within = path.reduce<unknown>((inside, key) => (inside as Json)[key], value)
        const isOpen = ['environment', 'roles', 'attributes', 'sources', 'ports'].includes(path.at(-1) ?? '')
        if (typeof within !== 'object' || within === null || Array.isArray(within) || isOpen) return
        const more = changed(value, [...path, 'unheardOf'], 1)
        expect((await faultsOf(more)).join('\n')).toMatch(/unheardOf: is not known|must be|fits none/)
        expect(bySchema(more)).toBe(false)
      },
    ),
  )
})
