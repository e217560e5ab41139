import { afterEach, expect, test } from 'vitest'
import { BACKEND_KEY, OPERATE_KEY, openServer, openService, yamlOf } from './server.fixture.js'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

test('the crash of a game server appears in the log, console, story and metrics', async () => {
  /** A server that ends with code 1 as soon as it is started. */
  const service = await openService({
    launch: () => ({ exited: Promise.resolve(1), stop: () => {}, logs: () => '' }),
  })
  ends.push(() => service.emulator.close())
  const { server, ask, lines } = await openServer(yamlOf(service.url))
  ends.push(server.close)
  const create = async (player_id: string) => {
    const body = { profile: 'duel', player_id, player_ip: '198.51.100.7' }
    const answer = await ask('POST', '/tickets', { token: BACKEND_KEY, body })
    return (await answer.json()) as { id: string }
  }
  const [{ id }] = await Promise.all([create('ann'), create('ben')])
  const read = async () => {
    const answer = await ask('GET', `/tickets/${id}`, { token: BACKEND_KEY })
    return ((await answer.json()) as { cancel_reason: string | null }).cancel_reason
  }
  await expect.poll(read, { interval: 200 }).toBe('attempts')

  const feed = await ask('GET', '/console/api/feed', { token: OPERATE_KEY })
  let told = ''
  for await (const part of feed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    told += part
    if (told.includes('"problems":[{')) break
  }

  const why = 'the container ended by itself with exit code 1'
  const warning = lines
    .map((line) => JSON.parse(line) as { level: string; text: string; requestId?: string })
    .find(({ text }) => text.includes(why))
  expect(warning).toMatchObject({ level: 'warn', requestId: expect.any(String), matchId: expect.any(String) })
  expect(told).toContain(`A game server failed before it was READY: ${why}`)
  const story = (await (await ask('GET', `/console/api/find?id=${id}`, { token: OPERATE_KEY })).json()) as {
    stories: { events: { what: string; text: string }[] }[]
  }
  const failures = story.stories[0]?.events.filter(({ what }) => what === 'failed')
  expect(failures).toHaveLength(3)
  expect(failures?.[0]?.text).toContain(why)
  expect(await (await ask('GET', '/metrics')).text()).toMatch(
    /muster_deployments_failed_total\{.*muster_reason="failed".*\} 3/,
  )
})
