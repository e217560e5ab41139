import { expect, test } from 'vitest'
import { readConfigText } from './read-config.js'

const SERVICE = 'service: { url: https://service.example, token: { env: TOKEN } }\n'
const QUEUES = "queues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' } }]\n"
const AUTH = 'auth: { keys: [{ name: a, role: operate, key: { env: A } }] }\n'
const CALM = `${SERVICE}${QUEUES}store: { folder: data }\n${AUTH}`

const warningsOf = async (text: string) => {
  const { warnings } = await readConfigText(text, { path: 'muster.yaml', outside: false })
  return warnings.map(({ severity, line, field }) => `${severity} ${line} ${field}`)
}

test('a configuration without risks has no warnings', async () => {
  expect(await warningsOf(CALM)).toEqual([])
})

const queue = (more: string) =>
  CALM.replace(QUEUES, `queues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' }, ${more} }]\n`)
const POOLS = "pools:\n  - { name: arena, deploy: { application: game, version: '1' }, warm: { max: 1000 } }\n"
const SOURCE = '{ allocator: https://hoster.example, secret: { env: R } }'
const POOLED = CALM.replace("deploy: { application: game, version: '1' }", 'pool: arena') + POOLS.replace('1000', '5')
const ENROL = 'places: [{ name: A, latitude: 0, longitude: 0 }], enrol: [{ key: { env: E }, place: A, max: 1 }]'
const OWN = `${POOLED.slice(0, POOLED.indexOf('pools:'))}pools: [{ name: arena, ${ENROL} }]\n`
const UNSENT = "version: '1', tags: [a], requireCachedLocations: true"
const SOURCED = `${POOLED.replace('warm: {', 'source: metal, warm: {')}sources:\n  metal: ${SOURCE}\n`
const PUBLIC = "addresses: { trustedProxies: [10.0.0.0/8] }\nlisten: { publicUrl: 'https://mm.example'"
const redis = (url: string) =>
  `${CALM.replace('{ folder: data }', `{ redis: { url: '${url}' } }`)}streamTokens: { key: { env: S } }\n`
const UNCHECKED = 'beacons: { enabled: false }\n'
const profiles = 'profiles: { url: https://profiles.example, whenDown: { attributes: { skill: 5 } } }\n'
const RATED = 'rules: [{ kind: not, rule: { kind: difference, attribute: rating, max: 5 } }]'
const DECOMPOSED = 'he\u0301ros'
const SIMILAR =
  "rules: [{ kind: require, attribute: level, operator: '=', value: 40 }, " +
  "{ kind: equal, attribute: level, missing: { value: '40' } }, " +
  `{ kind: any, rules: [{ kind: roles, roles: { h\u00e9ros: 1 } }, { kind: roles, roles: { ${DECOMPOSED}: 1 } }] }]`
const CLAIMS = AUTH.replace(
  ' } }]',
  ' } }], jwt: { issuer: https://id.example, secret: { env: S }, claims: { attributes: { skill: skill } } }',
)

test.each([
  ['no auth keys', SERVICE + QUEUES + 'store: { folder: data }\n', ['warning 1 auth', 'warning 1 console']],
  ['nothing is stored', CALM.replace('store: { folder: data }', 'store: memory'), ['warning 3 store']],
  ['an unencrypted deployment service', CALM.replace('https://service', 'http://service'), ['warning 1 service.url']],
  ['a deployment service on this machine', CALM.replace('https://service.example', 'http://127.0.0.1:9'), []],
  ['a version at the end of service.url', CALM.replace('example,', 'example/v2/,'), ['warning 1 service.url']],
  ['a path in service.url', CALM.replace('example,', 'example/api,'), []],
  ['unlimited servers', `${CALM}spending: { maxServers: unlimited }\n`, ['warning 5 spending.maxServers']],
  [
    'orphaned servers that are never stopped',
    `${CALM}matching: { orphanGraceMs: never }\n`,
    ['warning 5 matching.orphanGraceMs'],
  ],
  [
    'a public URL without trusted proxies',
    `${CALM}listen: { publicUrl: 'https://mm.example', admin: '127.0.0.1:9' }\n`,
    ['warning 5 listen.publicUrl'],
  ],
  [
    'a public URL with a path',
    `${CALM}${PUBLIC.replace('mm.example', 'mm.example/api')} }\ntelemetry: { metrics: { enabled: false } }\n`,
    ['warning 6 listen.publicUrl'],
  ],
  [
    'an address header without trusted proxies',
    `${CALM}addresses: { header: x-real-ip }\n`,
    ['warning 5 addresses.header'],
  ],
  ['metrics open to all hosts', `${CALM}listen: { host: 0.0.0.0 }\n`, ['warning 1 telemetry.metrics']],
  ['metrics closed to everyone', `${CALM}${PUBLIC} }\n`, ['warning 1 telemetry.metrics']],
  ['metrics with a key', `${CALM}${PUBLIC} }\ntelemetry: { metrics: { key: { env: K } } }\n`, []],
  [
    'listeners of IPv4 and of IPv6 at one port',
    `${CALM}listen: { host: 0.0.0.0, port: 9090, admin: '[::1]:9090' }\n`,
    [],
  ],
  ['metrics on the admin listener', `${CALM}${PUBLIC}, admin: '127.0.0.1:9' }\n`, []],
  [
    'metrics open at a public URL',
    `${CALM}${PUBLIC}, host: 0.0.0.0 }\ntelemetry: { metrics: { open: true } }\n`,
    ['warning 7 telemetry.metrics'],
  ],
  [
    'a source with fewer ports than servers',
    `${CALM}sources: { own: { launch: { command: [node], max: 3, portRange: { from: 20000, to: 20001 } } } }\n`,
    ['warning 5 sources.own', 'warning 5 sources.own.launch.portRange'],
  ],
  ['launch, which only `muster dev` uses', `${CALM}launch: [node, server.js]\n`, ['warning 5 launch']],
  ['a Redis on this machine', redis('redis://127.0.0.1'), []],
  ['an encrypted Redis', redis('rediss://redis.example'), []],
  ['an unencrypted Redis', redis('redis://redis.example'), ['warning 3 store.redis.url']],
  ['acceptance with a cooldown', queue('acceptance: { withinMs: 9000 }'), []],
  [
    'acceptance without a cooldown',
    queue('acceptance: { withinMs: 9000 }, cooldown: { for: [] }'),
    ['warning 2 queues.0.acceptance'],
  ],
  [
    'a distance rule for players without places',
    queue('rules: [{ kind: distance, maxKm: 5 }]'),
    ['warning 2 queues.0.rules.0'],
  ],
  ['a distance rule that accepts missing places', queue('rules: [{ kind: distance, maxKm: 5, missing: any }]'), []],
  [
    'latencies that are not verified',
    queue('rules: [{ kind: any, rules: [{ kind: latency, maxMs: 5 }, { kind: avoid }] }]') + UNCHECKED,
    ['warning 2 queues.0.rules.0'],
  ],
  [
    'attributes that players choose without a profile check',
    queue('playerMayState: [maps, skill]') + profiles,
    ['warning 2 queues.0.playerMayState.1'],
  ],
  [
    'an attribute named like the party size',
    queue('rules: [{ kind: difference, attribute: PARTY_SIZE, max: 1 }]'),
    ['warning 2 queues.0.rules.0'],
  ],
  ['a rule about the party size', queue('rules: [{ kind: difference, attribute: $partySize, max: 1 }]'), []],
  ['attribute values that look alike', queue(SIMILAR), ['warning 2 queues.0.rules.1', 'warning 2 queues.0.rules.2']],
  [
    'attribute values that are equal or clearly differ',
    queue(SIMILAR.replace("'40'", "'41'").replace(DECOMPOSED, 'tank')),
    [],
  ],
  ['an attribute that only a backend may set', queue(RATED), []],
  ['an attribute that no caller may set', queue(RATED).replace(AUTH, CLAIMS), ['warning 2 queues.0.rules.0']],
  ['an attribute from a token claim', queue(RATED.replace('rating', 'skill')).replace(AUTH, CLAIMS), []],
  ['an attribute that players may set', queue(`${RATED}, playerMayState: [rating]`).replace(AUTH, CLAIMS), []],
  [
    'servers without a URL to register at',
    CALM.replace("version: '1'", "version: '1', probe: { kind: registration }"),
    ['warning 2 queues.0.deploy.probe'],
  ],
  [
    'servers without a URL to report joins to',
    CALM.replace("version: '1'", "version: '1', joinWithinMs: 60000"),
    ['warning 2 queues.0.deploy.joinWithinMs'],
  ],
  [
    'servers with a URL to report joins to',
    `${CALM.replace("version: '1'", "version: '1', joinWithinMs: 60000")}${PUBLIC}, admin: '127.0.0.1:9' }\n`,
    [],
  ],
  ['a pool whose servers have no URL, reported once', POOLED, ['warning 6 pools']],
  ['a pool of own machines, which get the URL from whoever starts them', OWN, []],
  [
    'a pool of own machines, whose servers enrol again after a restart',
    OWN.replace('store: { folder: data }', 'store: memory'),
    ['warning 3 store'],
  ],
  [
    'a pool of own machines that still names its build',
    POOLED.replace('warm: {', `${ENROL}, source: enrolled, warm: {`),
    [],
  ],
  [
    'unused pools whose servers have no URL',
    `${CALM}${POOLS}`,
    ['warning 6 pools', 'warning 6 pools.0', 'warning 6 pools.0.warm.max'],
  ],
  [
    'pools of servers that are forgotten at a restart',
    `${POOLED.replace('store: { folder: data }', 'store: memory')}${PUBLIC}, admin: '127.0.0.1:9' }\n`,
    ['warning 3 store', 'warning 6 pools'],
  ],
  ['a pool without risks', `${POOLED}${PUBLIC}, admin: '127.0.0.1:9' }\n`, []],
  ['a pool with a source, without risks', `${SOURCED}${PUBLIC}, admin: '127.0.0.1:9' }\n`, []],
  [
    'an unused source, and an unencrypted one',
    `${SOURCED.replace('https://hoster', 'http://hoster')}  wood: ${SOURCE}\n${PUBLIC}, admin: '127.0.0.1:9' }\n`,
    ['warning 8 sources.metal.allocator', 'warning 9 sources.wood'],
  ],
  [
    'deploy fields that an allocator does not receive',
    `${SOURCED.replace("version: '1'", UNSENT)}${PUBLIC}, admin: '127.0.0.1:9' }\n`,
    ['warning 6 pools.0.deploy.tags', 'warning 6 pools.0.deploy.requireCachedLocations'],
  ],
  [
    'an unencrypted results URL',
    `${CALM}results: { url: http://game.example, secret: { env: R } }\n`,
    ['warning 5 results.url'],
  ],
  [
    'a public URL with a port that browsers refuse',
    `${CALM}${PUBLIC.replace('.example', '.example:6000')}, admin: '127.0.0.1:9' }\n`,
    ['warning 6 listen.publicUrl'],
  ],
  [
    'a rate-limit share that Redis already divides',
    CALM.replace('env: TOKEN } }', 'env: TOKEN }, share: 0.5 }').replace(
      '{ folder: data }',
      '{ redis: { url: redis://127.0.0.1 } }',
    ),
    ['warning 1 service.share', 'warning 3 store.redis'],
  ],
])('a configuration has exactly the expected warnings about risks: %s', async (_, text, expected) => {
  expect(await warningsOf(text)).toEqual(expected)
})

test('a store in memory is reported with what a restart does to running servers', async () => {
  const inMemory = async (text: string) => {
    const from = text.replace('store: { folder: data }', 'store: memory')
    const { warnings } = await readConfigText(from, { path: 'muster.yaml', outside: false })
    return warnings.find(({ field }) => field === 'store')?.message
  }
  const lost = 'is memory: a restart loses the waiting tickets'
  expect(await inMemory(CALM)).toBe(`${lost}, and stops the servers of matches only later, as orphans`)
  expect(await inMemory(SOURCED)).toBe(`${lost}, and never stops the running servers of the source metal`)
  expect(await inMemory(OWN.replace(SERVICE, ''))).toBe(`${lost}, and ends the matches on own machines`)
})
