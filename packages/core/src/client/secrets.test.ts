import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import type { Client } from './client-types.js'
import { loadDescription } from './call.js'
import { MusterError } from './errors.js'
import { inProcess } from './transport.js'
import { selfStop } from './self-stop.js'
import { everything, expectHidden, watched, failure } from './secrets.fixture.js'

beforeAll(loadDescription)

/** Generates secrets that are too long to occur in a text by chance. */
const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 12,
  maxLength: 40,
})
const anything = fc.string({ unit: 'grapheme', minLength: 12, maxLength: 40 }).filter((text) => text.trim() === text)
const secrets = fc.record({
  token: printable,
  deleteToken: printable,
  secret: fc.oneof(anything, printable),
  value: fc.oneof(anything, printable),
  address: fc.oneof(
    fc.ipV4(),
    fc.ipV6().filter((text) => text.length > 6),
  ),
  webhook: fc.uuid().map((id) => `https://hooks.invalid/${id}`),
})
type Secrets = typeof secrets extends fc.Arbitrary<infer T> ? T : never

const version = {
  app_name: 'game',
  name: 'v1',
  docker_repository: 'r',
  docker_image: 'i',
  docker_tag: 't',
  req_cpu: 100,
  req_memory: 100,
}

/** Calls, with the secrets that each of them sends. */
const operations: Readonly<
  Record<
    string,
    readonly [sends: readonly (keyof Secrets)[], call: (client: Client, secrets: Secrets) => Promise<unknown>]
  >
> = {
  'storages.create': [
    ['token', 'secret'],
    (client, { secret }) =>
      client.storages.create({
        name: 's',
        access_key_id: 'id',
        secret_access_key: secret,
        endpoint: 'https://s3.invalid',
        bucket: 'b',
      }),
  ],
  'storages.update': [
    ['token', 'secret'],
    (client, { secret }) => client.storages.update({ endpoint_name: 's', secret_access_key: secret }),
  ],
  'versions.create': [
    ['token', 'secret', 'value'],
    (client, { secret, value }) =>
      client.versions.create({ ...version, private_token: secret, envs: [{ key: 'KEY', value, is_secret: true }] }),
  ],
  'deployments.create': [
    ['token', 'value', 'address', 'webhook'],
    (client, { value, address, webhook }) =>
      client.deployments.create({
        application: 'game',
        version: '1',
        users: [{ user_type: 'ip_address', user_data: { ip_address: address } }],
        environment_variables: [{ key: 'KEY', value, is_hidden: true }],
        webhook_on_ready: { url: webhook },
      }),
  ],
  'deployments.deployLegacy': [
    ['token', 'address'],
    (client, { address }) => client.deployments.deployLegacy({ app_name: 'game', ip_list: [address] }),
  ],
  'deployments.selfStop': [
    ['deleteToken'],
    (client, { deleteToken }) =>
      client.deployments.selfStop({ request_id: 'abc', access_point_id: 'def', authorization: deleteToken }),
  ],
  'relays.create': [['token', 'address'], (client, { address }) => client.relays.create({ users: [{ ip: address }] })],
  'relays.authorizeUser': [
    ['token', 'address'],
    (client, { address }) => client.relays.authorizeUser({ session_id: 'abc', user_ip: address }),
  ],
  'applications.list': [['token'], (client) => client.applications.list()],
}

/** Ways in which a server may repeat `text`, a part of the request. */
const echoes: Readonly<Record<string, (text: string, status: number) => Response>> = {
  message: (text, status) => Response.json({ message: text }, { status }),
  'message and details': (text, status) => Response.json({ message: 'no', details: `got ${text}` }, { status }),
  'escaped twice': (text, status) => Response.json({ message: JSON.stringify({ got: text }) }, { status }),
  'percent-encoded': (text, status) => Response.json({ message: encodeURIComponent(text) }, { status }),
  text: (text, status) => new Response(text, { status, headers: { 'content-type': 'text/plain' } }),
  'broken JSON': (text, status) => new Response(`{"message": ${JSON.stringify(text)}`, { status }),
  'other fields': (text, status) => Response.json({ error: text, errors: [text], [text]: text }, { status }),
  headers: (text, status) =>
    new Response('not JSON', {
      status,
      headers: {
        'content-type': `text/plain; got=${encodeURIComponent(text)}`,
        location: `https://elsewhere.invalid/?got=${encodeURIComponent(text)}`,
        'retry-after': encodeURIComponent(text),
        'x-got': encodeURIComponent(text),
      },
    }),
}

describe('errors and events of a server that repeats what it was sent', () => {
  test.each(Object.entries(operations))(
    'errors and events contain no secret and no address, even if the server repeats its input: %s',
    async (_, [sends, call]) => {
      const status = fc.constantFrom(200, 302, 400, 401, 404, 409, 410, 418, 422, 424, 429, 500, 503)
      await fc.assert(
        fc.asyncProperty(secrets, status, fc.constantFrom(...Object.values(echoes)), async (known, code, echo) => {
          const clock = createManualClock()
          const hidden = sends.map((name) => known[name])
          const bodies: string[] = []
          const dispatcher = inProcess(async (request) => {
            bodies.push(`${request.headers.get('authorization')} ${await request.text()}`)
            return echo(`${hidden.join(' , ')} ; ${bodies.at(-1)}`, code)
          })
          const { client, events } = watched({ token: known.token, clock, dispatcher })
          const error = await failure(clock, call(client, known))
          // The service must have received the secrets. Otherwise the test proves nothing.
          for (const secret of hidden)
            expect(bodies[0]?.includes(JSON.stringify(secret).slice(1, -1)) || bodies[0]?.includes(secret)).toBe(true)
          expect(events.length).toBeGreaterThan(1)
          if (code !== 200) expect(error).toBeInstanceOf(MusterError)
          // A successful response may contain secrets, so only errors and events are checked.
          const shown = everything(error instanceof Error ? error : undefined, events)
          for (const secret of hidden) expectHidden(secret, shown)
        }),
        { numRuns: 30 },
      )
    },
  )

  test('an error keeps the server’s message except for its secrets, which are redacted', async () => {
    const clock = createManualClock()
    const dispatcher = inProcess(async () =>
      Response.json({ message: 'Token tok-123456 of 203.0.113.9 has expired' }, { status: 401 }),
    )
    const { client } = watched({ token: 'tok-123456', clock, dispatcher })
    const error = (await failure(clock, client.applications.list())) as Error
    expect(error.message).toMatch(/: Token \[redacted\] of \[address\] has expired$/)
  })

  test.each<[string, number, Record<string, string>]>([
    ['the origin of a redirect', 302, { location: 'https://tok-123456.elsewhere.invalid/' }],
    ['the content type', 200, { 'content-type': 'tok-123456/203.0.113.9' }],
  ])('errors and events contain no secret and no address from %s', async (_, status, headers) => {
    const clock = createManualClock()
    const { client } = watched({
      token: 'tok-123456',
      clock,
      dispatcher: inProcess(async () => new Response('no JSON', { status, headers })),
    })
    const error = await failure(clock, client.applications.list())
    expect(error).toMatchObject({ name: 'UnexpectedResponse' })
    for (const secret of ['tok-123456', '203.0.113.9']) expectHidden(secret, everything(error))
  })
})

describe('self-stop through the client', () => {
  const seenBy = (status: number) => {
    const seen: string[][] = []
    const dispatcher = inProcess(async (request) => {
      seen.push([...request.headers, [request.url], [await request.text()]].map(String))
      return Response.json({ message: 'delete-token-1' }, { status })
    })
    return { seen, dispatcher }
  }

  test('client.deployments.selfStop sends the delete token unchanged, and never reads the API token', async () => {
    const clock = createManualClock()
    const { seen, dispatcher } = seenBy(503)
    let asked = 0
    const { client } = watched({ token: () => `api-token-${++asked}`, clock, dispatcher })
    const input = { request_id: 'abc', access_point_id: 'def', authorization: 'delete-token-1' }
    expectHidden('delete-token-1', everything(await failure(clock, client.deployments.selfStop(input))))
    expect(seen).toHaveLength(2)
    for (const request of seen)
      expect(request.filter((text) => text.includes('token'))).toEqual(['authorization,delete-token-1'])
    expect(asked).toBe(0)
  })

  test('client.deployments.selfStop needs only the injected variables, and shows none of them', async () => {
    const clock = createManualClock()
    const { seen, dispatcher } = seenBy(403)
    const url = 'https://service.invalid/v1/self/stop/abc/def'
    const environment = { SERVICE_DELETE_URL: url, SERVICE_DELETE_TOKEN: 'delete-token-1', SERVICE_REQUEST_ID: 'abc' }
    const error = await failure(clock, selfStop({ environment, dispatcher, clock, random: () => 0.5 }))
    expect(error).toMatchObject({ name: 'Forbidden', requestId: 'abc' })
    expectHidden('delete-token-1', everything(error))
    expect(seen).toHaveLength(1)
    expect(seen[0]).toEqual(expect.arrayContaining(['authorization,delete-token-1', url]))
  })
})
