import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@muster/core/clock'
import type { Now } from '@muster/console/internal'
import { afterEach, expect, test } from 'vitest'
import { BACKEND_KEY, OPERATE_KEY, openServer, openService, yamlOf, type ServerUnderTest } from './server.fixture.js'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const HOURS_MS = 7_200_000

/** Returns the first frame of the console that has players. */
async function frameOf({ ask }: ServerUnderTest): Promise<Now> {
  const feed = await ask('GET', '/console/api/feed', { token: OPERATE_KEY })
  let heard = ''
  for await (const part of feed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    heard += part
    const frame = heard.split('\n\n').findLast((one) => one.startsWith('event: now') && one.includes('"players":1'))
    if (frame !== undefined && heard.endsWith('\n\n')) return JSON.parse(frame.slice(frame.indexOf('{'))) as Now
  }
  throw new Error('the feed has ended')
}

test('the console shows right waits and arrivals after the clock of the machine was set and a restart', async () => {
  const service = await openService()
  ends.push(() => service.emulator.close())
  const folder = await mkdtemp(join(tmpdir(), 'muster-clock-'))
  ends.push(() => rm(folder, { recursive: true }))
  const text = yamlOf(service.url, `store: { folder: ${folder} }`)
  let stepMs = 0
  const first = await openServer(text, { clock: { ...systemClock, wallStepMs: () => stepMs } })
  stepMs = HOURS_MS
  await new Promise((resolve) => setTimeout(resolve, 600))
  await first.server.close()
  const second = await openServer(text)
  ends.push(second.server.close)
  const body = { profile: 'duel', player_id: 'ann', player_ip: '198.51.100.7' }
  // A search reads the events of earlier processes. Until then, arrivals are not counted.
  await second.ask('GET', '/console/api/find?id=ann', { token: OPERATE_KEY })
  expect((await second.ask('POST', '/tickets', { token: BACKEND_KEY, body })).status).toBe(201)
  const { queues } = await frameOf(second)
  expect(queues[0]).toMatchObject({ players: 1, arrivalsPerMinute: 1 })
  expect(queues[0]?.oldest).toBeLessThan(60_000)
})
