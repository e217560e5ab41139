import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Audit, FoundStories } from '@muster/console/internal'
import { BACKEND_KEY, openServer, openService, OPERATE_KEY, type ServerUnderTest, yamlOf } from '../server.fixture.js'

let service: Awaited<ReturnType<typeof openService>>
let folder: string
let under: ServerUnderTest | undefined
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.emulator.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-folder-'))
})
afterEach(async () => {
  await under?.server.close()
  under = undefined
  rmSync(folder, { recursive: true })
})

const yaml = () => yamlOf(service.url, `store: { folder: ${folder} }`)
const open = async (text = yaml()) => (under = await openServer(text))

/** Opens a browser's event stream with a token that was issued earlier. Resolves with its status. */
async function follow({ ask }: ServerUnderTest, url: string): Promise<number> {
  const { status, body } = await ask('GET', url)
  await body?.cancel()
  return status
}

async function streamUrl({ ask }: ServerUnderTest): Promise<string> {
  const body = { profile: 'duel', player_id: 'ann', player_ip: '192.0.2.7', attributes: {} }
  const created = await ask('POST', '/tickets', { token: BACKEND_KEY, body })
  const { id } = (await created.json()) as { id: string }
  const answer = await ask('POST', `/tickets/${id}/stream-token`, { token: BACKEND_KEY })
  return ((await answer.json()) as { url: string }).url
}

test('after a restart with a store folder, a browser continues with its stream token', async () => {
  const before = await open()
  const url = await streamUrl(before)
  expect(await follow(before, url)).toBe(200)
  await before.server.close()
  expect(await follow(await open(), url)).toBe(200)
})

test('the key of stream tokens is readable by its user only, and replaced if incompletely written', async () => {
  const { server } = await open()
  const path = join(folder, 'streams.key')
  const key = readFileSync(path)
  expect([key.length, statSync(path).mode & 0o777]).toEqual([32, 0o600])
  await server.close()
  writeFileSync(path, key.subarray(0, 7))
  await open()
  expect(readFileSync(path)).toHaveLength(32)
})

test('if the key of stream tokens cannot be read, the error names its file', async () => {
  mkdirSync(join(folder, 'streams.key'))
  await expect(open()).rejects.toThrow(`The key of stream tokens ${join(folder, 'streams.key')} cannot be read: EISDIR`)
})

test.runIf(process.getuid?.() === 0)('all that root writes into a store folder belongs to the owner', async () => {
  chownSync(folder, 65_534, 65_534)
  const { ask, server } = await open()
  await ask('POST', '/console/api/queues/duel/pause', { token: OPERATE_KEY })
  await streamUrl(under as ServerUnderTest)
  await server.close()
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  expect(all.toSorted().map((name) => name.replace(/\d+/, 'N'))).toEqual([
    'acts',
    'acts/N.ndjson',
    'muster.log',
    'stories',
    'stories/N.ndjson',
    'streams.key',
  ])
  expect(all.filter((name) => statSync(join(folder, name)).uid !== 65_534)).toEqual([])
})

test('a process that fails to start releases its store folder at once for the next process', async () => {
  const { server } = await open()
  await server.close()
  await expect(open(yaml().replace('name: test', 'name: other'))).rejects.toThrow('"test"')
  const { lines } = await open()
  expect(lines.join()).not.toContain('Waiting for it to end')
})

test('console stories and operator actions survive a restart', async () => {
  const join = async ({ ask }: ServerUnderTest, player: string) => {
    const body = { profile: 'duel', player_id: player, player_ip: '192.0.2.7', attributes: {} }
    return ((await (await ask('POST', '/tickets', { token: BACKEND_KEY, body })).json()) as { id: string }).id
  }
  const find = async ({ ask }: ServerUnderTest, id: string) =>
    (await (await ask('GET', `/console/api/find?id=${id}`, { token: OPERATE_KEY })).json()) as FoundStories
  const before = await open()
  const [ann] = [await join(before, 'ann'), await join(before, 'ben')]
  const found = async () => (await find(before, ann)).stories[0]?.events.map(({ what }) => what)
  await expect.poll(found).toContain('assigned')
  await before.ask('POST', '/console/api/queues/duel/pause', { token: OPERATE_KEY })
  await before.server.close()

  const after = await open()
  await expect.poll(async () => (await after.ask('GET', '/readyz')).status).toBe(200)
  const [story] = (await find(after, ann)).stories
  expect(story?.events.map(({ what }) => what)).toEqual(['created', 'found', 'deployed', 'ready', 'assigned'])
  const acts = (await (await after.ask('GET', '/console/api/acts', { token: OPERATE_KEY })).json()) as Audit
  expect(acts.acts).toMatchObject([{ who: 'live-ops', what: 'pause-queue', id: 'duel' }])
  const match = story?.related.find(({ kind }) => kind === 'match')?.id ?? ''
  expect((await find(after, match)).stories).toMatchObject([{ kind: 'match', state: 'running' }])
})
