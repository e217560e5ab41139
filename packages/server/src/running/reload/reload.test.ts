import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSigningKey, openKeyServer } from '../../auth/jwks.fixture.js'
import { Secret } from '../../config/index.js'
import {
  BACKEND_KEY,
  configOf,
  DUEL,
  openServer,
  openService,
  OPERATE_KEY,
  type ServerUnderTest,
  yamlOf,
} from '../server.fixture.js'
import { startServer } from '../start-server.js'

const TRIO = `
  - name: trio
    matchSize: 3
    deploy: { application: my-game, version: '1.0' }
`

let service: Awaited<ReturnType<typeof openService>>
let under: ServerUnderTest
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.emulator.close())

const close = async () => {
  await under.server.close()
}
const reload = async (more: string, queues?: string) =>
  under.server.reload(await configOf(yamlOf(service.url, more, queues)))
const textsOf = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { text: string }).text)

const create = (queue: string, ...ids: string[]) =>
  under.ask('POST', '/tickets/batch', {
    token: BACKEND_KEY,
    body: { tickets: ids.map((id) => ({ profile: queue, player_ip: '192.0.2.7', player_id: id, attributes: {} })) },
  })

const pooled = (min: number, version = '1.0') => `
listen: { port: 0, publicUrl: 'http://127.0.0.1:1' }
pools:
  - name: arena
    deploy: { application: my-game, version: '${version}', hiddenEnvironment: { KEY: hunter2 } }
    places: [{ name: Frankfurt, latitude: 50.1, longitude: 8.7 }]
    at: [{ cron: '* * * * *', minutes: 2, min: ${min} }]
`
const POOLED = '\n  - { name: duel, matchSize: 2, pool: arena }\n'

describe('a reload of pools', () => {
  const config = (more: string) => configOf(yamlOf(service.url, more, POOLED).replace('listen: { port: 0 }\n', ''))
  const created = () => service.emulator.inspect().deployments.length

  test('a reload of pools applies at once, and logs no variables of their servers', async () => {
    const lines: string[] = []
    const server = await startServer(await config(pooled(0)), { write: (line) => lines.push(line) })
    try {
      const before = created()
      await server.reload(await config(pooled(2).replace('hunter2', 'hunter3')))
      expect(textsOf(lines)).toContain('Config changed: pools.arena.at.0.min 0 → 2')
      expect(lines.join('')).not.toContain('hunter')
      await expect.poll(created).toBe(before + 2)
      await server.reload({ ...(await config(pooled(2))), servers: { secret: new Secret('s'.repeat(32)) } })
      expect(textsOf(lines).at(-1)).toBe('Config changed, restart required: servers nothing → given')
    } finally {
      await server.close()
    }
  })
})

test('a reload keeps the signing keys of players while their address does not answer', async () => {
  const key = await createSigningKey('one')
  const login = await openKeyServer((_, response) => response.end(JSON.stringify({ keys: [key.publicKey] })))
  const of = (more: string) =>
    configOf(yamlOf(service.url, more).replace('secret: { env: JWT_SECRET }', `jwks: ${login.url}`))
  const server = await startServer(await of(''), { write: () => {} })
  try {
    const statusOf = async (id: string) => {
      const token = await key.sign({ sub: id }, Math.floor(Date.now() / 1000) + 600)
      return (await fetch(`${server.url}/me`, { headers: { authorization: `Bearer ${token}` } })).status
    }
    expect(await statusOf('ann')).toBe(200)
    await login.close()
    await server.reload(await of("cors: { origins: ['https://play.example.com'] }"))
    expect(await statusOf('ben')).toBe(200)
  } finally {
    await server.close()
  }
})

describe('a reload of the configuration', () => {
  beforeEach(async () => {
    under = await openServer(yamlOf(service.url, '', DUEL + TRIO))
    return close
  })

  test('a reload of an unchanged configuration logs that nothing changed', async () => {
    expect(await reload('', DUEL + TRIO)).toEqual({ changes: [], refused: [] })
    expect(textsOf(under.lines).at(-1)).toBe('Config reloaded; nothing has changed.')
  })

  test('a reload applies what can be applied, and names what needs a restart', async () => {
    await reload('limits: { bodyBytes: 100 }\ntelemetry: { log: { level: warn, format: text } }', DUEL + TRIO)
    expect(textsOf(under.lines).slice(-1)).toEqual([
      'Config changed, restart required: telemetry.log.format "json" → "text"',
    ])
    expect(under.server.config().limits.bodyBytes).toBe(100)
    const body = { profile: 'duel', attributes: { note: 'x'.repeat(200) } }
    expect((await under.ask('POST', '/tickets', { token: BACKEND_KEY, body })).status).toBe(413)
  })

  test('a reload back to the values of the start requires no restart', async () => {
    const queues = DUEL + TRIO
    await reload('matching: { tickMs: 50, listLagMs: 9 }', queues)
    await reload('matching: { listLagMs: 8 }', queues)
    expect(textsOf(under.lines).slice(-2)).toEqual([
      'Config changed back to what this process runs: matching.tickMs 50 → 250',
      'Config changed, restart required: matching.listLagMs 9 → 8',
    ])
  })

  test('a reload that makes the log silent is still logged, and so is one that ends the silence', async () => {
    await reload('telemetry: { log: { level: silent } }', DUEL + TRIO)
    await reload('limits: { delayMs: unlimited, bodyBytes: 100 }\ntelemetry: { log: { level: silent } }', DUEL + TRIO)
    await reload('telemetry: { log: { level: info } }', DUEL + TRIO)
    expect(textsOf(under.lines).slice(-3)).toEqual([
      'Config changed: telemetry.log.level "info" → "silent"',
      'Config changed: limits.bodyBytes 100 → nothing',
      'Config changed: telemetry.log.level "silent" → "info"',
    ])
  })

  test('a reload from a silent log to warnings logs what needs a restart', async () => {
    await reload('telemetry: { log: { level: silent } }', DUEL + TRIO)
    await reload('matching: { tickMs: 50 }\ntelemetry: { log: { level: warn } }', DUEL + TRIO)
    expect(textsOf(under.lines).at(-1)).toBe('Config changed, restart required: matching.tickMs 250 → 50')
  })

  test('a reload with a pool of a new source is refused with a remedy, and changes nothing', async () => {
    const before = under.server.config()
    const pools = `pools: [{ name: arena, source: metal, deploy: { application: my-game, version: '1.0' } }]`
    const sources = 'sources: { metal: { launch: { command: [node] } } }'
    await expect(
      reload(`${sources}\n${pools}`, `${DUEL}${TRIO}  - { name: last, matchSize: 2, pool: arena }`),
    ).rejects.toThrow('pools.0.source: needs the source "metal", which this process started without. Restart it.')
    expect(under.server.config()).toBe(before)
  })

  test('the console shows the limit of servers that applies until the restart, and the new price', async () => {
    const { maxServers } = under.server.config().spending
    await reload('spending: { maxServers: 7, pricePerMinute: 0.5 }', DUEL + TRIO)
    const feed = await under.ask('GET', '/console/api/feed', { token: OPERATE_KEY })
    let told = ''
    for await (const part of feed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      told += part
      if (told.includes('"mostCreatesPerMinute"')) break
    }
    expect(told).toContain(`"most":${maxServers},`)
    expect(told).toContain('"pricePerMinute":0.5')
  })

  test('a reload keeps the counts of rate limits', async () => {
    const perAddress = 'limits: { delayMs: unlimited, perAddress: { limit: 2, windowMs: 60000 } }'
    await reload(perAddress, DUEL + TRIO)
    const guess = async () => (await under.ask('GET', '/me', { token: 'a-guess-at-a-token' })).status
    expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429])
    await reload(perAddress.replace('delayMs: unlimited', 'delayMs: 5000'), DUEL + TRIO)
    expect(await guess()).toBe(429)
  })

  test('a reload cancels the tickets of a removed queue as refused, and logs each', async () => {
    expect((await create('trio', 'ann', 'ben')).status).toBe(200)
    const { refused } = await reload('')
    expect(refused.map(({ queue }) => queue)).toEqual(['trio', 'trio'])
    expect(textsOf(under.lines).slice(-3)).toEqual([
      'The changed queue rejects a queued ticket.',
      'The changed queue rejects a queued ticket.',
      'The changed queues reject 2 queued tickets.',
    ])
  })

  test('a reload of an invalid configuration changes nothing', async () => {
    const before = under.server.config()
    const addresses = { ...before.addresses, trustedProxies: ['10.0.0.1'] }
    const wrong = { ...before, addresses, queues: before.queues.slice(0, 1) }
    await expect(under.server.reload(wrong)).rejects.toThrow('trustedProxies')
    expect(under.server.config()).toBe(before)
    expect((await create('trio', 'ann')).status).toBe(200)
  })

  test('a reload replaces a key at once: the old key is refused, and the new key is accepted', async () => {
    const config = await configOf(yamlOf(service.url, '', DUEL + TRIO))
    const changed = 'another-backend-key-of-the-game'
    const keys = config.auth.keys.map((one) => (one.role === 'backend' ? { ...one, key: new Secret(changed) } : one))
    expect((await create('trio', 'ann')).status).toBe(200)
    await under.server.reload({ ...config, auth: { ...config.auth, keys } })
    expect((await create('trio', 'ben')).status).toBe(401)
    expect((await under.ask('GET', '/queues', { token: changed })).status).toBe(200)
  })
})
