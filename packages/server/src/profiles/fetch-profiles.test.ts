import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createFetchProfiles, type FetchProfilesOptions } from './fetch-profiles.js'

const closes: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

interface Asked {
  readonly method: string | undefined
  readonly authorization: string | undefined
  readonly body: unknown
}

/** Starts a studio that answers each call and records the requests. */
async function setUp(
  answer: (asked: Asked, response: ServerResponse) => unknown,
  options: Partial<FetchProfilesOptions> = {},
) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const call = { method: request.method, authorization: request.headers.authorization, body: JSON.parse(body) }
      asked.push(call)
      const made = answer(call, response)
      if (made !== undefined) response.end(typeof made === 'string' ? made : JSON.stringify(made))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/profiles`
  const profiles = createFetchProfiles({ url, ...options })
  closes.push(profiles.close, async () => {
    server.close()
    server.closeAllConnections()
  })
  const ask = (...ids: string[]) => Promise.resolve(profiles.resolve(ids, new AbortController().signal))
  return { asked, ask, profiles }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

test('profiles of many players are requested in one call, with the token', async () => {
  const players = {
    ann: { attributes: { skill: 1510, guild: 'red', maps: ['ice'], rank: null }, roles: ['tank'], avoid: ['ben'] },
    ben: { attributes: null, level: 3 },
    nobody: { attributes: { skill: 1 } },
  }
  const { ask, asked } = await setUp(() => ({ players, page: 1 }), { token: 'studio-token' })
  expect(await ask('ann', 'ben', 'cas')).toEqual(
    new Map<string, unknown>([
      ['ann', { attributes: { skill: 1510, guild: 'red', maps: ['ice'] }, roles: ['tank'], avoid: ['ben'] }],
      ['ben', {}],
    ]),
  )
  expect(asked).toEqual([
    { method: 'POST', authorization: 'Bearer studio-token', body: { player_ids: ['ann', 'ben', 'cas'] } },
  ])
})

test('profiles can belong to players named like members of Object.prototype', async () => {
  const { ask } = await setUp(() => '{"players":{"__proto__":{"attributes":{"skill":7}}}}')
  const found = await ask('__proto__', 'constructor', 'toString')
  expect([...found]).toEqual([['__proto__', { attributes: { skill: 7 } }]])
})

describe('a failing call for profiles', () => {
  test.each<[string, (asked: Asked, response: ServerResponse) => unknown, string]>([
    [
      'with another status',
      (_, response) => void response.writeHead(500).end('at 10.0.0.1'),
      'the URL of the profiles answered with HTTP 500',
    ],
    [
      'instead of following a redirect',
      (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'the URL of the profiles answered with HTTP 302',
    ],
    ['without JSON', () => '<html>', 'the answer of the profiles URL is not JSON'],
    [
      'without profiles',
      () => ({ ann: {} }),
      'in the answer of the profiles URL, players must hold profiles by the ids of the players',
    ],
    [
      'with a list',
      () => ({ players: [] }),
      'in the answer of the profiles URL, players must hold profiles by the ids of the players',
    ],
    ['without an answer', (_, response) => void response.destroy(), 'UND_ERR_SOCKET'],
    [
      'with an answer that is too large',
      () => ({ players: { ann: 'x'.repeat(2000) } }),
      'UND_ERR_RES_EXCEEDED_MAX_SIZE',
    ],
  ])('a failing profile request rejects with the cause if it ends %s', async (_, answer, message) => {
    const { ask } = await setUp(answer, { largestAnswer: 1000 })
    const error = await ask('ann').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Error)
    expect((error as Error).message).toBe(message)
  })

  test('a profile request to a closed port rejects without naming the address', async () => {
    const { resolve, close } = createFetchProfiles({ url: 'http://127.0.0.1:1/profiles' })
    closes.push(close)
    const error = await Promise.resolve(resolve(['ann'], new AbortController().signal)).catch(
      (reason: unknown) => reason,
    )
    expect((error as Error).message).toBe('ECONNREFUSED')
  })

  test('a profile request rejects when its answer is no longer awaited', async () => {
    const { profiles } = await setUp(() => undefined)
    const over = new AbortController()
    const failed = expect(profiles.resolve(['ann'], over.signal)).rejects.toThrow('AbortError')
    over.abort()
    await failed
  })
})
