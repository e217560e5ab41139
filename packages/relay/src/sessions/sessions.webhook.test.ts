import { describe, expect, test } from 'vitest'
import { players, setUp } from './sessions.fixture.js'
import { createRelaySessions } from './sessions.js'

describe('webhooks of relay sessions', () => {
  const post = (url: string, body = '{"ready":true}') =>
    new Request(url.replace('https://game.example/hooks', 'http://127.0.0.1:80/anything'), { method: 'POST', body })
  const webhookBaseUrl = 'https://game.example/hooks'

  test('webhooks of relay sessions are only hints: the session is read at once, and that result counts', async () => {
    const { clock, service, sessions, webhooks, within } = setUp({ webhookBaseUrl, pollMs: 60_000, maxPollMs: 60_000 })
    const { id } = await within(sessions.create({ players }))
    const waiting = sessions.awaitReady(id)
    await clock.advance(2000)
    expect(service.calls.get).toBe(0)
    expect((await sessions.webhook(post(webhooks[0] as string))).status).toBe(204)
    await clock.advance(1)
    expect((await waiting).id).toBe(id)
  })

  test('early, repeated and forged webhooks of relay sessions cause few reads and change no session', async () => {
    const { clock, service, sessions, webhooks, within } = setUp({ webhookBaseUrl })
    const seen: string[] = []
    const spied = {
      ...service,
      create: (input: Parameters<typeof service.create>[0]) => (
        seen.push(input.webhook_url as string),
        service.create(input)
      ),
    }
    const own = createRelaySessions({ client: spied, clock, webhookBaseUrl })
    const opening = own.open({ players })
    for (let hint = 0; hint < 50; hint += 1) {
      expect(
        (await own.webhook(post(seen[0] as string, '{"session_id":"session-9","ready":true,"session_users":[]}')))
          .status,
      ).toBe(204)
      await clock.advance(10)
    }
    expect(service.calls.get).toBeLessThanOrEqual(3)
    const session = await within(opening)
    expect(session.id).toBe('session-1')
    expect(service.calls.get).toBeLessThanOrEqual(4)
    expect(webhooks).toEqual(seen)
    await sessions.close()
  })

  test('webhooks of relay sessions are refused at unknown paths and by other methods', async () => {
    const { sessions, webhooks, within } = setUp({ webhookBaseUrl })
    await within(sessions.open({ players }))
    const url = webhooks[0] as string
    expect((await sessions.webhook(post(`${url}x`))).status).toBe(404)
    expect((await sessions.webhook(post('https://game.example/hooks'))).status).toBe(404)
    expect((await sessions.webhook(new Request(url))).status).toBe(405)
  })

  test('webhooks of relay sessions are answered without waiting for the body', async () => {
    const { sessions, webhooks, within } = setUp({ webhookBaseUrl })
    await within(sessions.open({ players }))
    const body = new ReadableStream({ pull: () => new Promise(() => {}) }, { highWaterMark: 0 })
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
    const endless = new Request(webhooks[0] as string, init)
    expect((await sessions.webhook(endless)).status).toBe(204)
    expect(endless.bodyUsed).toBe(false)
  })

  test('without a public URL, webhooks of relay sessions are sent to a URL that leads nowhere', async () => {
    const { sessions, webhooks, within } = setUp()
    await within(sessions.open({ players, label: 'lobby.1' }))
    expect(webhooks[0]).toMatch(/^https:\/\/muster\.invalid\/relay\/muster\/lobby\.1\/[A-Za-z0-9]{22}$/)
  })
})
