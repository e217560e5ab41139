import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InvalidConfig } from './findings.js'
import { readConfig, readConfigText } from './read-config.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-config-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const QUEUES = "queues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' } }]\n"
const BASE = `service: { url: https://service.example, token: { env: TOKEN } }\n${QUEUES}`
const env = { TOKEN: 'hunter2hunter2hunter2' }

const refused = async (read: Promise<unknown>): Promise<InvalidConfig> => {
  const error: unknown = await read.catch((one: unknown) => one)
  expect(error).toBeInstanceOf(InvalidConfig)
  return error as InvalidConfig
}
const written = async (name: string, bytes: string | Uint8Array) => {
  const path = join(folder, name)
  await writeFile(path, bytes)
  return path
}

test('a store folder filled only by the kernel (such as /proc) gives a warning, even for root', async () => {
  for (const name of ['/proc/muster', '/proc/self/muster/data', '/sys/muster']) {
    const at = await written('kernel.yaml', `${BASE}store: { folder: ${name} }\n`)
    const fields = (await readConfig(at, { env })).warnings.map(({ field }) => field)
    expect(`${name}: ${fields}`).toContain('store.folder')
  }
})

test('a store folder that cannot be created gives a warning at its place in the file', async () => {
  await written('a-file', '')
  const at = await written('folder.yaml', `${BASE}store: { folder: ./a-file/data }\n`)
  const { warnings } = await readConfig(at, { env })
  expect(warnings).toContainEqual(
    expect.objectContaining({
      severity: 'warning',
      line: 3,
      field: 'store.folder',
      message: expect.stringContaining('cannot be written by this user'),
    }),
  )
})

test('a configuration has absolute paths, every default, and secrets that are never printed', async () => {
  await written('key.txt', 'from-a-file-of-its-own\n')
  const more = 'store: { folder: ./data }\nauth: { keys: [{ name: a, role: look, key: { file: key.txt } }] }\n'
  const { config, warnings } = await readConfig(await written('right.yaml', BASE + more), { env })
  expect(config.service?.token.reveal()).toBe('hunter2hunter2hunter2')
  expect(config.auth.keys[0]?.key.reveal()).toBe('from-a-file-of-its-own')
  expect(config.store).toEqual({ kind: 'folder', path: join(folder, 'data'), fsync: 'intents' })
  expect(config.spending).toMatchObject({ maxServers: 1000, maxCreatesPerMinute: Infinity, currency: 'USD' })
  expect(config.queues.map(({ name }) => name)).toEqual(['duel'])
  expect(warnings).toEqual([])
  const shown = [JSON.stringify(config), inspect(config, { depth: 9 }), String(config.service?.token)].join()
  expect(shown).not.toMatch(/hunter2|from-a-file/)
  expect(shown).toContain('[secret]')
})

test.each([
  ['[node, server.js]', ['node', 'server.js'], '.'],
  ['{ command: [./server], folder: build/linux }', ['./server'], 'build/linux'],
])('servers that `muster dev` launches by %s run in a folder next to the file', async (given, command, where) => {
  const { config } = await readConfig(await written('launch.yaml', `${BASE}launch: ${given}\n`), { env })
  expect(config.launch).toEqual({ command, folder: join(folder, where) })
})

test('a configuration is refused if the secret of a source is not a Standard Webhooks secret', async () => {
  const sources = 'sources: { metal: { allocator: https://hoster.example, secret: { env: METAL } } }\n'
  const at = await written('sources.yaml', BASE + sources)
  const good = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const { config } = await readConfig(at, { env: { ...env, METAL: good } })
  expect(config.sources['metal']?.secret?.reveal()).toBe(good)
  const { findings } = await refused(readConfig(at, { env: { ...env, METAL: 'hunter2hunter2hunter2hunter2' } }))
  expect(findings.filter(({ severity }) => severity === 'error')).toMatchObject([
    { line: 3, field: 'sources.metal.secret', message: expect.stringMatching(/whsec_/) },
  ])
})

test('a source that launches processes has a folder next to the file, and other settings have defaults', async () => {
  const text = `${BASE}sources: { local: { launch: { command: [node, server.js] } } }\n`
  const { config } = await readConfig(await written('local.yaml', text), { env })
  expect(config.sources['local']).toEqual({
    launch: {
      command: ['node', 'server.js'],
      folder,
      state: join(folder, 'muster-servers'),
      ports: { game: 'UDP' },
      portRange: { from: 20_000, to: 29_999 },
      host: '127.0.0.1',
      max: 10,
      graceMs: 10_000,
    },
  })
})

test('a configuration may have a byte order mark, carriage returns, anchors and merges', async () => {
  const text = `\u{FEFF}service: &s { url: https://service.example, token: { env: TOKEN } }\r\nqueues:\r\n  - &duel
    name: duel
    matchSize: 2
    deploy: &d { application: game, version: '1' }
  - <<: *duel
    name: four
    matchSize: 4
`
  const { config } = await readConfig(await written('anchors.yaml', text), { env })
  expect(config.queues.map(({ name, teams }) => [name, teams[0]?.size])).toEqual([
    ['duel', 2],
    ['four', 4],
  ])
})

test('a configuration error in the value of an alias is reported at its anchor', async () => {
  const text = `service: { url: https://service.example, token: { env: TOKEN } }
queues:
  - &duel
    name: duel
    matchSize: 0
    deploy: { application: game, version: '1' }
  - { <<: *duel, name: other }
`
  const { findings } = await refused(readConfigText(text, { path: 'muster.yaml', env }))
  expect(findings.map(({ field, line, column }) => `${line}:${column} ${field}`)).toEqual([
    '5:16 queues.0.matchSize',
    '5:16 queues.1.matchSize',
  ])
})

describe('a reference to something outside the configuration', () => {
  const messagesOf = async (more: string, variables: Record<string, string> = {}) => {
    const { findings } = await refused(
      readConfigText(BASE + more, { path: join(folder, 'muster.yaml'), env: { ...env, ...variables } }),
    )
    return findings.flatMap(({ severity, field, message }) => (severity === 'error' ? [`${field}: ${message}`] : []))
  }
  const keyOf = (source: string) => `auth: { keys: [{ name: a, role: look, key: { ${source} } }] }\n`

  test('a configuration is refused if an environment variable it refers to is unset, empty or unsendable', async () => {
    const field = 'auth.keys.0.key: is a secret, but the environment variable GAME_KEY'
    expect(await messagesOf(keyOf('env: GAME_KEY'))).toEqual([`${field} is not set`])
    expect(await messagesOf(keyOf('env: GAME_KEY'), { GAME_KEY: '' })).toEqual([`${field} is empty`])
    const [words] = await messagesOf(keyOf('env: GAME_KEY'), { GAME_KEY: 'hunter2 hunter2 hunter2\n' })
    expect(words).toBe(`${field} has a space, a line break or another character that is not allowed in a header`)
  })

  test('a referenced service token may have the word `token` before it', async () => {
    const read = (TOKEN: string) => readConfigText(BASE, { path: 'muster.yaml', env: { ...env, TOKEN } })
    const { config } = await read('token 0a1b-2c3d')
    expect(config.service?.token.reveal()).toBe('token 0a1b-2c3d')
    const { findings } = await refused(read('Bearer 0a1b-2c3d'))
    expect(findings.find(({ field }) => field === 'service.token')?.message).toMatch(/TOKEN has a space/)
  })

  test('a referenced JWT secret may have any letters on one line, because it is never sent', async () => {
    const jwt = 'auth: { jwt: { secret: { env: GAME_KEY }, claims: { id: sub } } }\n'
    const sentence = 'ein Schlüssel aus mehr als vier Wörtern'
    const { config } = await readConfigText(BASE + jwt, { path: 'muster.yaml', env: { ...env, GAME_KEY: sentence } })
    expect(config.auth.jwt?.secret?.reveal()).toBe(sentence)
    expect((await messagesOf(jwt, { GAME_KEY: `${sentence}\n${sentence}` }))[0]).toMatch(
      /^auth\.jwt\.secret: .* GAME_KEY has a line break or another control character$/,
    )
  })

  test('the error of a refused reference does not repeat a name that may be the secret itself', async () => {
    expect(await messagesOf(keyOf('env: f3a9c1d2e4b5'))).toEqual([
      'auth.keys.0.key: is a secret, but the environment variable is not set',
    ])
    expect((await messagesOf(keyOf('file: f3a9c1d2e4b5'))).join()).not.toContain('f3a9c1d2e4b5')
  })

  test('a configuration is refused if a referenced file is missing, a folder or too large', async () => {
    await mkdir(join(folder, 'secrets'))
    await written('large.txt', 'x'.repeat(70_000))
    expect(await messagesOf(keyOf('file: secrets/none.txt'))).toEqual([
      'auth.keys.0.key: is a secret, but the file secrets/none.txt does not exist',
    ])
    expect((await messagesOf(keyOf('file: ./secrets')))[0]).toContain('is a folder')
    expect((await messagesOf(keyOf('file: large.txt')))[0]).toContain('is larger than 65536 bytes')
  })

  test('a configuration is refused if a referenced secret is too short or two keys are equal', async () => {
    const keys =
      'auth:\n  keys:\n    - { name: a, role: look, key: { env: A } }\n    - { name: b, role: look, key: { env: B } }\n'
    expect(await messagesOf(keys, { A: 'short', B: 'x'.repeat(16) })).toEqual([
      'auth.keys.0.key: is too short to be a secret: it has 5 characters, and needs 16',
    ])
    expect(await messagesOf(keys, { A: 'x'.repeat(16), B: 'x'.repeat(16) })).toEqual([
      'auth.keys.1.key: is the same as that of auth.keys.0: Muster could not tell these callers apart',
    ])
    expect(await messagesOf('auth: { jwt: { secret: { env: S } } }\n', { S: 'x'.repeat(31) })).toEqual([
      'auth.jwt.secret: is too short to be a secret: it has 31 characters, and needs 32',
    ])
    const shared = `${keys}  shared: { token: { env: T }, key: { env: K } }\n`
    const known = { A: 'x'.repeat(16), B: 'y'.repeat(16), T: 'y'.repeat(16), K: 'x'.repeat(31) }
    expect(await messagesOf(shared, known)).toEqual([
      'auth.shared.token: is also in auth.keys: every player would count as that caller',
      'auth.shared.key: is too short to be a secret: it has 31 characters, and needs 32',
    ])
  })

  test('a configuration is refused if keys of enrolment are equal, or equal to keys of callers', async () => {
    const place = '{ name: Frankfurt, latitude: 50.1, longitude: 8.7 }'
    const enrol = (variable: string) => `{ place: Frankfurt, key: { env: ${variable} }, max: 2 }`
    const pools = `pools: [{ name: own, places: [${place}], enrol: [${enrol('ONE')}, ${enrol('TWO')}] }]\n`
    const keys = { ONE: 'x'.repeat(32), TWO: 'y'.repeat(32) }
    expect(await messagesOf(pools, { ...keys, TWO: keys.ONE })).toEqual([
      'pools.0.enrol.1.key: is the same as pools.0.enrol.0.key: each entry needs a key of its own',
    ])
    expect(await messagesOf(pools + keyOf('env: TWO'), keys)).toEqual([
      'pools.0.enrol.1.key: is also in auth.keys: a server would count as that caller',
    ])
  })

  test('a configuration is refused if a secret equals the token that is in every copy of the game', async () => {
    const shared = 'auth: { shared: { token: { env: T }, key: { env: K } }, jwt: { secret: { env: J } } }\n'
    const more =
      'servers: { secret: { env: S } }\nstreamTokens: { key: { env: S } }\n' +
      'telemetry: { metrics: { key: { env: M } } }\n'
    const known = { T: 'x'.repeat(32), M: 'x'.repeat(32), K: 'x'.repeat(32), J: 'x'.repeat(32), S: 'x'.repeat(32) }
    const words = 'is the same as auth.shared.token, which everybody knows who has the game'
    expect(await messagesOf(shared + more, known)).toEqual([
      `auth.shared.key: ${words}`,
      `auth.jwt.secret: ${words}`,
      `servers.secret: ${words}`,
      `streamTokens.key: ${words}`,
      `telemetry.metrics.key: ${words}`,
    ])
    expect(await messagesOf(shared + more, { ...known, T: 'y'.repeat(32), M: 'REPLACE' })).toEqual([
      'telemetry.metrics.key: is too short to be a secret: it has 7 characters, and needs 16',
    ])
  })

  test.each(['localhost:6379', 'http://redis:6379', 'redis://redis:6379/first', 'redis://:50%@redis:6379'])(
    'a configuration is refused if a secret URL of Redis is none, and its error does not show it: %s',
    async (url) => {
      expect(await messagesOf('store: { redis: { url: { env: REDIS } } }\n', { REDIS: url })).toEqual([
        'store.redis.url: is a secret, but the environment variable REDIS has no URL of a Redis, ' +
          'like rediss://user:password@redis.example.com:6379',
      ])
    },
  )

  test('a configuration is refused if the referenced geo database is missing or a folder', async () => {
    expect(await messagesOf('locate: { file: city.mmdb }\n')).toEqual([
      'locate.file: cannot be read: the file does not exist, or this user may not read it',
    ])
    expect(await messagesOf('locate: { file: . }\n')).toEqual(['locate.file: is a folder: name the file in it'])
  })

  test('a configuration read with `outside: false` does not read its referenced files and variables', async () => {
    const text = `${BASE}locate: { file: city.mmdb }\n`
    const { config } = await readConfigText(text, { path: 'muster.yaml', env: {}, outside: false })
    expect(config.service?.token.reveal()).toBe('')
  })
})

describe('a configuration file that cannot be read', () => {
  const wordsOf = async (path: string) => (await refused(readConfig(path, { env }))).findings

  test.each([
    ['does not exist', () => Promise.resolve(join(folder, 'elsewhere', 'none.yaml')), 'does not exist'],
    ['is a folder', () => Promise.resolve(folder), 'is a folder: name the file in it'],
    [
      'is UTF-16',
      () => written('utf16.yaml', Buffer.from(`\u{FEFF}${BASE}`, 'utf16le')),
      'is UTF-16: save it as UTF-8',
    ],
    ['is not UTF-8', () => written('latin.yaml', Uint8Array.of(97, 58, 32, 228, 10)), 'is not UTF-8: save it as UTF-8'],
    ['is huge', () => written('huge.yaml', 'x'.repeat(2 ** 20 + 1)), 'is larger than 1048576 bytes'],
  ])('a configuration file that %s is reported with the reason', async (_, make, message) => {
    expect(await wordsOf(await make())).toEqual([{ severity: 'error', field: '', message }])
  })

  test('a missing configuration file is reported with the nearest existing name', async () => {
    await written('muster.yaml', BASE)
    const [finding] = await wordsOf(join(folder, 'muster.yml'))
    expect(finding?.message).toBe(`does not exist; did you mean ${join(folder, 'muster.yaml')}?`)
  })
})
