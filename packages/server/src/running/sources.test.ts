/** Tests a pool whose servers come from an allocator over HTTP. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseResultWebhook } from '@muster/core'
import { expect, onTestFinished, test } from 'vitest'
import { checkLive } from '../cli/live-check.js'
import { readConfigText } from '../config/index.js'
import { changesOf } from './reload/reload.js'
import { env, openService, yamlOf } from './server.fixture.js'
import { startServer } from './start-server.js'

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

interface Received {
  readonly path: string
  readonly content: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** Starts a hoster's program that starts no servers. */
async function openHoster(status = 200) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const content = JSON.parse(text) as Received['content']
    received.push({ path: request.url ?? '', content, headers: request.headers, text })
    const ids = (content['ids'] ?? []) as readonly string[]
    const servers = ids.map((id) => ({ id, status: 'starting' }))
    response.writeHead(status).end(JSON.stringify({ servers }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const sourced = (service: string, hoster: string) => {
  const pools =
    "pools:\n  - { name: arena, source: metal, deploy: { application: game, version: '7' } }\n" +
    `sources:\n  metal: { allocator: ${hoster}, secret: { env: METAL } }\n`
  return yamlOf(service, pools, '\n  - { name: duel, matchSize: 2, pool: arena }\n')
}
const configOf = async (text: string) =>
  (await readConfigText(text, { path: '/nowhere/muster.yaml', env: { ...env, METAL: SECRET } })).config

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('muster check --live polls each source, and does not check application versions of its pools', async () => {
  const { emulator, url } = await openService()
  onTestFinished(() => emulator.close())
  const readings = async (hoster: string) => {
    const lines: string[] = []
    const works = await checkLive({
      config: await configOf(sourced(url, hoster)),
      deploys: false,
      announce: () => {},
      said: (reading) => lines.push(`${reading.works ? 'works' : 'fails'} ${reading.what}: ${reading.says}`),
    })
    return { works, last: lines.at(-1), text: lines.join('\n') }
  }
  const [good, bad] = [await openHoster(), await openHoster(401)]
  const right = await readings(good.url)
  expect([right.works, right.last]).toEqual([true, 'works source metal: it answers a poll'])
  expect(right.text).not.toContain('version game')
  expect(good.received.map(({ path, content }) => [path, content])).toEqual([['/poll', { type: 'poll', ids: [] }]])
  const wrong = await readings(bad.url)
  expect([wrong.works, wrong.last]).toEqual([false, 'fails source metal: poll: status 401. See sources.metal.'])
})

test('muster serve signs its requests to a source, and applies a changed source only after a restart', async () => {
  const { emulator, url } = await openService()
  onTestFinished(() => emulator.close())
  const hoster = await openHoster()
  const config = await configOf(sourced(url, hoster.url))
  const lines: string[] = []
  const server = await startServer(config, { write: (line) => lines.push(line) })
  onTestFinished(async () => void (await server.close()))
  for (const id of ['ann', 'ben'])
    await server.service.createTicket({ queue: 'duel', players: [{ id, ip: '198.51.100.7' }] })
  await until(() => hoster.received.some(({ path }) => path === '/allocate'))
  const asked = hoster.received.find(({ path }) => path === '/allocate')
  expect(asked?.content).toMatchObject({ application: 'game', version: '7', environment: { MUSTER_POOL: 'arena' } })
  // The signature is valid, but the type is not that of a result.
  expect(() => parseResultWebhook(SECRET, asked?.headers ?? {}, asked?.text ?? '')).toThrow('type: must be match.over')
  expect(lines.join('')).not.toContain(SECRET)

  const other = await configOf(sourced(url, 'https://hoster.example'))
  expect(changesOf(config, other)).toEqual([
    expect.objectContaining({ field: 'sources.metal.allocator', isLive: false }),
  ])
})
