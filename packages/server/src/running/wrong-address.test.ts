/** Runs the program with a service whose address, paths or token differ from the configuration. */
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { describe, expect, test, type TestContext } from 'vitest'
import { checkLive } from '../cli/live-check.js'
import type { ServiceReading } from './service-reads.js'
import { configOf, openServer, openService, SERVICE_TOKEN, yamlOf } from './server.fixture.js'

/** The test that opens something, which is closed at the test's end. */
type Scene = Pick<TestContext, 'onTestFinished'>

interface Gateway {
  /** Requests that reached it, as `METHOD /path`. */
  readonly seen: string[]
  readonly url: string
}

/** Starts a gateway in front of a service. It serves creates at `/v2/deployments` and everything else below `/v1`. */
async function openGateway(service: string, missing: 'page' | 'json', { onTestFinished }: Scene): Promise<Gateway> {
  const seen: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const [path = ''] = url.split('?')
    seen.push(`${method} ${path}`)
    const isCreate = path === '/v2/deployments'
    if ((!isCreate || method !== 'POST') && !path.startsWith('/v1/')) {
      const [type, body] =
        missing === 'page'
          ? ['text/html', '<html><body><h1>404 Not Found</h1></body></html>']
          : ['application/json', '{"message":"The requested URL was not found on the server."}']
      outgoing.writeHead(404, { 'content-type': type }).end(body)
      return
    }
    const target = new URL(isCreate ? '/deployments' : url, service)
    const passed = httpRequest(target, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function openWorld(scene: Scene, missing: 'page' | 'json' = 'page') {
  const { onTestFinished } = scene
  const { emulator, url } = await openService()
  onTestFinished(() => emulator.close())
  const client = createClient({ baseUrl: url, token: SERVICE_TOKEN })
  onTestFinished(() => client.close())
  const gateway = await openGateway(url, missing, scene)
  const running = async () => (await client.deployments.list()).data.length
  return { emulator, client, gateway, running }
}

const withSettings = (text: string, settings: string) =>
  text.replace('token: { env: SERVICE_TOKEN }', `token: { env: SERVICE_TOKEN }, settings: ${settings}`)
const V2 = '{ createDeploymentPath: /v2/deployments }'

/** Resolves once a condition holds. The test's own timeout ends the wait. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function program(text: string, { onTestFinished }: Scene) {
  const { server, lines, ask } = await openServer(text)
  onTestFinished(async () => void (await server.close()))
  const join = async (id: string) => {
    const ticket = await server.service.createTicket({ queue: 'duel', players: [{ id, ip: '198.51.100.7' }] })
    return async () => (await server.service.getTicket(ticket.id))?.status
  }
  const ready = async () => {
    const answer = await ask('GET', '/readyz')
    return { status: answer.status, ...((await answer.json()) as { readonly why: readonly string[] }) }
  }
  return { server, lines, join, ready }
}

describe.concurrent('a deployment service with a different path for creates', () => {
  test('players get a server from a service with another create path in service.settings', async (scene) => {
    const { gateway } = await openWorld(scene)
    const { join } = await program(withSettings(yamlOf(gateway.url), V2), scene)
    const [ann] = await Promise.all([join('ann'), join('ben')])
    await until(async () => (await ann?.()) === 'HOST_ASSIGNED')
    expect(gateway.seen).toContain('POST /v2/deployments')
  })

  test.for(['page', 'json'] as const)(
    'if the create path is wrong, the log names the missing route and no ticket is cancelled (404 answer: %s)',
    async (missing, scene) => {
      const { gateway } = await openWorld(scene, missing)
      const { join, lines } = await program(yamlOf(gateway.url), scene)
      const players = await Promise.all(['ann', 'ben'].map(join))
      await until(() => gateway.seen.filter((request) => request === 'POST /deployments').length >= 4)
      for (const status of players) expect(['SEARCHING', 'MATCH_FOUND']).toContain(await status())
      expect(lines.join('')).toContain('or have no POST /deployments (status 404)')
    },
  )
})

describe.concurrent.each(['page', 'json'] as const)(
  'a service.url that ends in /v2, where the service answers 404 with a %s',
  (missing) => {
    test('a service.url that ends in /v2 never creates two servers, and the reason is reported', async (scene) => {
      const { gateway, running } = await openWorld(scene, missing)
      const { join, lines, ready } = await program(yamlOf(`${gateway.url}/v2`), scene)
      await Promise.all(['ann', 'ben', 'cas', 'dee', 'eve', 'fay', 'gus', 'hal'].map(join))
      await until(() => lines.some((line) => line.includes('leave it out')))
      await until(() => gateway.seen.filter((request) => request === 'GET /v2/v1/deployments').length >= 4)
      expect(gateway.seen.filter((request) => request === 'POST /v2/deployments').length).toBeLessThan(2)
      expect(await running()).toBeLessThan(2)
      expect(await ready()).toMatchObject({
        status: 503,
        why: ['the service has no route that lists servers (404): see service.url'],
      })
      expect(lines.join('')).toContain('or have no GET /v1/deployments (status 404)')
    })
  },
)

describe.concurrent('muster check --live', () => {
  const live = async (text: string, deploys = false) => {
    const readings: ServiceReading[] = []
    const announced: string[] = []
    const works = await checkLive({
      config: await configOf(text),
      deploys,
      said: (reading) => readings.push(reading),
      announce: (line) => announced.push(line),
    })
    const lines = readings.map(({ what, works: isRight, says }) => `${isRight ? 'works' : 'fails'} ${what}: ${says}`)
    return { works, lines, announced }
  }

  test('muster check --live reports each check that works, and creates nothing', async (scene) => {
    const { gateway, running } = await openWorld(scene)
    const { works, lines } = await live(withSettings(yamlOf(gateway.url), V2))
    expect([works, await running()]).toEqual([true, 0])
    expect(lines).toEqual([
      expect.stringMatching(/^works locations: \d+ places$/),
      'works applications: 1 application',
      'works version my-game 1.0: studio/server:1.0',
      'works servers with the tag mm-test: 0 run',
    ])
    expect(new Set(gateway.seen.map((request) => request.split(' ')[0]))).toEqual(new Set(['GET']))
  })

  test('muster check --live --deploy announces the price, creates one server and stops it', async (scene) => {
    const { gateway, running, client } = await openWorld(scene)
    const text = withSettings(yamlOf(gateway.url, 'spending: { pricePerMinute: 0.01, currency: EUR }'), V2)
    const { works, lines, announced } = await live(text, true)
    expect(works).toBe(true)
    expect(announced).toEqual([
      expect.stringMatching(/^Creates one server of my-game 1\.0 in .+, for 0\.06 EUR at most/),
    ])
    expect(lines.slice(-3)).toEqual([
      expect.stringMatching(/^works create: \S+ after [\d.]+ s$/),
      expect.stringMatching(/^works READY: after [\d.]+ s, with the port game$/),
      'works stop: confirmed',
    ])
    const [requestId = ''] = /create: (\S+)/.exec(lines.join('\n'))?.slice(1) ?? []
    await until(async () => (await client.deployments.get({ request_id: requestId })).running !== true)
    await until(async () => (await running()) === 0)
  })

  test('muster check --live reports that the create path is missing, and creates nothing', async (scene) => {
    const { gateway, running } = await openWorld(scene)
    const { works, lines } = await live(yamlOf(gateway.url), true)
    expect([works, await running()]).toEqual([false, 0])
    expect(lines.at(-1)).toMatch(
      /^fails create: .*have no POST \/deployments .*See service\.settings\.createDeploymentPath/,
    )
  })

  test('muster check --live detects that service.url ends in a version that does not belong there', async (scene) => {
    const { gateway } = await openWorld(scene, 'json')
    for (const version of ['/v1', '/v2/']) {
      const { works, lines } = await live(yamlOf(`${gateway.url}${version}`), true)
      expect(works).toBe(false)
      expect(lines[0]).toContain(`service.url ends in ${version.slice(0, 3)}, and the service answers without it`)
      expect(lines.at(-1)).toBe('fails deployment: no server was created, because a check above failed')
    }
    expect(gateway.seen.some((request) => request.startsWith('POST'))).toBe(false)
  })

  test('muster check --live reports a missing version, an inactive version, and a refused token', async (scene) => {
    const { gateway, client } = await openWorld(scene)
    const queues = "\n  - { name: duel, matchSize: 2, deploy: { application: my-game, version: '9' } }\n"
    const text = withSettings(yamlOf(gateway.url, '', queues), V2)
    expect((await live(text)).lines).toContain('fails version my-game 9: is not there: no server of it can be created')
    await client.versions.update({ app_name: 'my-game', version_name: '1.0', is_active: false })
    expect((await live(withSettings(yamlOf(gateway.url), V2))).lines).toContain(
      'fails version my-game 1.0: is not active: no server of it can be created',
    )
    const strange = createEmulator({ token: 'another-token' })
    scene.onTestFinished(() => strange.close())
    const { works, lines } = await live(yamlOf((await strange.listen()).url))
    expect(works).toBe(false)
    expect(lines[0]).toMatch(/^fails locations: .*the token is missing, wrong or expired.*See service\.token\.$/)
    expect(lines.join('\n')).not.toContain(SERVICE_TOKEN)
  })
})
