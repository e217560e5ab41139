/** Puts a secret into every option, valid or not, and searches for it in everything that is shown. */
import { inspect } from 'node:util'
import { createClient, type ClientOptions } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import {
  createMatchmaker,
  createTicketApi,
  queueFromJson,
  recordTickets,
  type MatchmakerOptions,
  type TicketApiOptions,
} from '@muster/matchmaker'
import { createLobbies, createLobbyApi, type LobbiesOptions, type LobbyApiOptions } from '@muster/relay'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const place = { latitude: 52, longitude: 13 }
const service = () => Promise.reject(new Error('the service is not there'))
const deployments = { create: service, get: service, stop: service, list: service }
const relay = { open: service, wait: service, close: service, list: service, delete: service }

/** Options that may hold a secret, by path, with a valid value. */
const places = {
  matchmaker: {
    webhookUrl: (secret: string) => `https://user:${secret}@backend.example.com/${secret}?key=${secret}#${secret}`,
    'queues.0.deploy.environment.KEY': (secret: string) => secret,
    'queues.0.deploy.hiddenEnvironment.KEY': (secret: string) => secret,
    'queues.0.deploy.probe': (secret: string) => ({
      kind: 'registration',
      url: `https://backend.example.com/${secret}`,
    }),
    'queues.1.deploy.probe': (secret: string) => ({ kind: 'udp', port: 'game', payload: secret }),
  },
  ticketApi: {
    'streamTokens.key': (secret: string) => secret.padEnd(32, secret),
    'profile.whenFailed': (secret: string) => ({ attributes: { secret } }),
  },
  client: {
    token: (secret: string) => secret,
  },
  lobbies: {},
  lobbyApi: {},
} as const

/** Other options. Their valid values cannot be secret. */
const otherPlaces = {
  matchmaker: [
    'deployments',
    'store',
    'locate',
    'queues',
    'queues.0',
    'queues.0.deploy',
    'queues.0.deploy.probe.url',
    'queues.0.deploy.hiddenEnvironment',
    'secret',
    'webhookurl',
  ],
  ticketApi: ['authenticate', 'profile', 'profile.resolve', 'streamTokens', 'secret', 'apiToken'],
  client: ['tokens', 'dispatcher', 'limiter', 'secret', 'clock'],
  lobbies: ['relay', 'matchmaker', 'store', 'secret', 'password'],
  lobbyApi: ['authenticate', 'secret', 'token'],
} as const

type Maker = keyof typeof places

/** Values that somebody might set by mistake. */
const mistakes: Readonly<Record<string, (secret: string) => unknown>> = {
  unchanged: (secret) => secret,
  'in another scheme': (secret) => `ftp://user:${secret}@example.com/${secret}`,
  'with a line feed': (secret) => `${secret}\n`,
  'too long': (secret) => secret.repeat(500),
  'in a list': (secret) => [secret],
  'in an object': (secret) => ({ secret, token: secret, [`x-${secret.length}`]: secret }),
}

function withAt(options: object, path: string, value: unknown): object {
  const [key = '', ...rest] = path.split('.')
  const copy = (Array.isArray(options) ? [...(options as unknown[])] : { ...options }) as Record<string, unknown>
  const inner = copy[key]
  copy[key] =
    rest.length === 0 ? value : withAt(typeof inner === 'object' && inner !== null ? inner : {}, rest.join('.'), value)
  return copy
}

const deploy = { application: 'game', version: '1' }
const base = {
  matchmaker: () => ({
    deployments,
    queues: [
      { name: 'duel', matchSize: 2, deploy },
      { name: 'trio', matchSize: 3, deploy },
    ],
    random: seededRandom(1),
  }),
  ticketApi: () => ({ authenticate: () => ({ id: 'ann' }), profile: { resolve: () => new Map() } }),
  client: () => ({ baseUrl: 'http://127.0.0.1:9', token: 'token' }),
  lobbies: () => ({ relay }),
  lobbyApi: () => ({ authenticate: () => ({ id: 'ann' }) }),
}

/** Returns a value in all forms in which it may be printed. */
const seen = (value: unknown): string[] => [
  String(value),
  inspect(value, { depth: Infinity }),
  JSON.stringify(value) ?? '',
  ...(value instanceof Error ? [value.message, value.stack ?? '', ...seen(value.cause)] : []),
]

/** Returns everything that a matchmaker reports about a match whose deployment fails. */
async function toldByMatchmaker(options: MatchmakerOptions): Promise<string[]> {
  const clock = createManualClock()
  const told: string[] = []
  const bare = createMatchmaker({ ...options, clock })
  const matchmaker = recordTickets(bare, (line) => told.push(line), { queues: options.queues, clock })
  for (const event of [
    'ticketCreated',
    'matchFound',
    'ticketRequeued',
    'problem',
    'deploymentCreated',
    'cancelled',
  ] as const) {
    bare.on(event, (what) => told.push(...seen(what)))
  }
  for (const id of ['ann', 'ben']) matchmaker.createTicket({ id, queue: 'duel', players: [{ id, coordinates: place }] })
  for (let step = 0; step < 12; step += 1) {
    await matchmaker.tick()
    await clock.advance(1000)
  }
  told.push(
    ...seen(matchmaker.inspect()),
    ...seen(matchmaker.exportTickets()),
    ...seen(matchmaker.explain('ann')),
    ...seen(matchmaker),
    ...seen(bare),
  )
  await clock.until(matchmaker.close())
  return told
}

const makers: Readonly<Record<Maker, (options: object) => Promise<string[]> | string[]>> = {
  matchmaker: (options) => toldByMatchmaker(options as MatchmakerOptions),
  ticketApi: async (options) => {
    const api = createTicketApi(createMatchmaker(base.matchmaker() as never), options as TicketApiOptions)
    const answers = [
      await api(new Request('http://localhost/openapi.json')),
      await api(new Request('http://localhost/tickets/x')),
    ]
    return [...seen(api), ...seen(api.counts()), ...(await Promise.all(answers.map((answer) => answer.text())))]
  },
  client: async (options) => {
    const client = createClient(options as ClientOptions)
    const told: string[] = seen(client)
    const failed = await client.deployments
      .get({ request_id: 'x' }, { timeoutMs: 200, retry: false } as never)
      .catch((error: unknown) => error)
    told.push(...seen(failed))
    await client.close()
    return told
  },
  lobbies: (options) => seen(createLobbies(options as LobbiesOptions)),
  lobbyApi: (options) => seen(createLobbyApi({} as never, options as unknown as LobbyApiOptions)),
}

async function toldBy(maker: Maker, options: object): Promise<string[]> {
  try {
    return await makers[maker](options)
  } catch (error) {
    return seen(error)
  }
}

const secret = fc.stringMatching(/^[a-zA-Z\d]{12,24}$/).map((text) => `planted-${text}`)

describe.each(Object.keys(places) as Maker[])('an error of the component %s', (maker) => {
  const right = Object.entries(places[maker] as Readonly<Record<string, (text: string) => unknown>>)
  const cases = [
    ...right.map(([path, value]) => [path, 'in its own form', value] as const),
    ...[...right.map(([path]) => path), ...otherPlaces[maker]].flatMap((path) =>
      Object.entries(mistakes).map(([how, value]) => [path, how, value] as const),
    ),
  ]
  test.each(cases)(
    'if a secret is given at %s (%s), no error message of the component shows the secret',
    async (path, _, value) => {
      await fc.assert(
        fc.asyncProperty(secret, async (planted) => {
          const told = await toldBy(maker, withAt(base[maker](), path, value(planted)))
          expect(told.length).toBeGreaterThan(0)
          expect(told.find((text) => text.includes(planted))?.slice(0, 500)).toBeUndefined()
        }),
        // Few, to save time: `pnpm fuzz` tries others.
        { numRuns: 2 },
      )
    },
  )
})

test.each([
  (secret: string) => `https://user:${secret}@example.com`,
  (secret: string) => `ftp://${secret}@example.com`,
  (secret: string) => `https://example.com?key=${secret}`,
])('an error of the client does not show a secret in the base URL: %s', (url) => {
  fc.assert(
    fc.property(secret, (planted) => {
      expect(() => createClient({ baseUrl: url(planted), token: 'token' })).toThrow('option baseUrl')
      expect(() => createClient({ baseUrl: url(planted), token: 'token' })).not.toThrow(planted)
    }),
  )
})

test('an error does not show a secret in a queue that is not JSON', () => {
  fc.assert(
    fc.property(secret, fc.nat(), (planted, at) => {
      const text = JSON.stringify({
        name: 'duel',
        matchSize: 2,
        deploy: { ...deploy, hiddenEnvironment: { KEY: planted } },
      })
      const cut = text.slice(0, at % text.length)
      const broken = [cut, `${cut}?${text.slice(cut.length)}`]
      for (const one of broken) {
        try {
          queueFromJson(one)
        } catch (error) {
          expect(seen(error).find((line) => line.includes(planted))).toBeUndefined()
        }
      }
    }),
  )
})
