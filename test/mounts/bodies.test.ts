import { connect, type Socket } from 'node:net'
import { createClient } from '@muster/core'
import { createManualClock, type ManualClock } from '@muster/core/clock'
import { bearerToken, type HttpHandler } from '@muster/core/http'
import { createMatchmaker, createTicketApi, type TicketApi } from '@muster/matchmaker'
import { createLobbies, createLobbyApi, createRelaySessions } from '@muster/relay'
import { afterEach, describe, expect, test } from 'vitest'
import { mounts } from './mounts.js'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

const bodies = { perAddress: 4, inAll: 6 }
/** A handler that must not be called. */
const nowhere = () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 'nobody' })
  closers.push(() => client.close())
  return client
}

interface Api {
  readonly create: (clock: ManualClock) => HttpHandler
  readonly path: string
  readonly body: string
}

const apis: Readonly<Record<string, Api>> = {
  tickets: {
    path: '/tickets',
    body: '{"profile":"duel","attributes":{}}',
    create: (clock) => {
      const deploy = { application: 'game', version: '1' }
      const queues = [{ name: 'duel', matchSize: 2, deploy }]
      const matchmaker = createMatchmaker({ deployments: nowhere().deployments, queues, clock })
      closers.push(() => matchmaker.close())
      return createTicketApi(matchmaker, { clock, limits: { bodies }, authenticate: known })
    },
  },
  lobbies: {
    path: '/lobbies',
    body: '{"maxPlayers":2}',
    create: (clock) => {
      const relay = createRelaySessions({ client: nowhere().relays, clock })
      const lobbies = createLobbies({ relay, clock })
      closers.push(() => lobbies.close({ keepLobbies: true }))
      return createLobbyApi(lobbies, { clock, limits: { bodies }, authenticate: known })
    },
  },
}

const known = (request: Request) => {
  const id = bearerToken(request)
  return id === undefined || id === 'nobody' ? undefined : { id }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 100_000; turns += 1) {
    if (isSo()) return
    await turn()
  }
  throw new Error(`never came: ${what}`)
}

/** A connection that sends arbitrary bytes. */
class Raw {
  readonly socket: Socket
  answered = ''

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('data', (data) => {
      this.answered += data.toString('latin1')
    })
    this.socket.on('error', () => {})
  }

  begin(method: string, path: string, who: string, more: string): void {
    const head = [
      `${method} ${path} HTTP/1.1`,
      'host: x',
      `authorization: ${who}`,
      'content-type: application/json',
      more,
    ]
    this.socket.write(`${head.join('\r\n')}\r\n\r\n`)
  }

  get status(): string | undefined {
    return /^HTTP\/1\.1 (\d+)/.exec(this.answered)?.[1]
  }

  async answer(): Promise<string | undefined> {
    await until('an answer', () => this.status !== undefined || this.socket.closed)
    return this.status
  }
}

const chunked = 'transfer-encoding: chunked'
const crumbs = (count: number) => '1\r\n \r\n'.repeat(count)
const cases = Object.keys(mounts).flatMap((mount) => Object.keys(apis).map((api) => [mount, api] as const))

describe.each(cases)('mounted in %s, the API of %s', (mount, name) => {
  async function setUp() {
    const clock = createManualClock()
    const api = apis[name] as Api
    const { port, close } = await (mounts[mount] as (typeof mounts)[string])(api.create(clock))
    const open = () => {
      const raw = new Raw(port)
      closers.push(async () => raw.socket.destroy())
      return raw
    }
    closers.push(close)
    const asleep = clock.sleepers
    /** Waits until this number of bodies is unfinished. Each unfinished body has a timer. */
    const unfinished = (count: number) => until(`${count} unfinished bodies`, () => clock.sleepers - asleep === count)
    return { clock, api, open, unfinished }
  }

  test('a mounted API ends the oldest of too many slow bodies, and the other bodies at their deadline', async () => {
    const { clock, api, open, unfinished } = await setUp()
    const all: Raw[] = []
    for (let index = 0; index < 12; index += 1) {
      const raw = open()
      raw.begin('POST', api.path, `player-${index}`, chunked)
      raw.socket.write(crumbs(200))
      all.push(raw)
      await unfinished(Math.min(index + 1, bodies.perAddress))
      if (index >= bodies.perAddress) expect(await (all[index - bodies.perAddress] as Raw).answer()).toBe('408')
    }
    const last = all.slice(-bodies.perAddress)
    for (const raw of last) raw.socket.write(crumbs(200))
    await clock.advance(9000)
    expect(last.map(({ status }) => status)).toEqual(last.map(() => undefined))
    await clock.advance(1000)
    for (const raw of last) expect(await raw.answer()).toBe('408')
    await unfinished(0)
  })

  test('a mounted API answers an unknown caller before the body has arrived', async () => {
    const { api, open } = await setUp()
    for (const more of [chunked, 'content-length: 500']) {
      const raw = open()
      raw.begin('POST', api.path, 'nobody', more)
      expect(await raw.answer()).toBe('401')
    }
  })

  test('a mounted API accepts a slow body within its deadline', async () => {
    const { clock, api, open, unfinished } = await setUp()
    const raw = open()
    raw.begin('POST', api.path, 'ann', `content-length: ${api.body.length}`)
    await unfinished(1)
    for (const character of api.body.slice(0, -1)) raw.socket.write(character)
    await clock.advance(9000)
    raw.socket.write(api.body.slice(-1))
    expect(await raw.answer()).toBe('201')
    await unfinished(0)
  })

  test('a mounted API refuses a body that is too large, with or without its length', async () => {
    const { api, open } = await setUp()
    const said = open()
    said.begin('POST', api.path, 'ann', 'content-length: 10000000')
    expect(await said.answer()).toBe('413')
    const hidden = open()
    hidden.begin('POST', api.path, 'ann', chunked)
    hidden.socket.write(`9000\r\n${' '.repeat(0x9000)}\r\n`)
    expect([undefined, '413']).toContain(await hidden.answer())
  })
})

test.each(Object.keys(mounts))(
  'mounted in %s, the API answers an unknown game server before its body has arrived',
  async (mount) => {
    const clock = createManualClock()
    const { port, close } = await (mounts[mount] as (typeof mounts)[string])((apis['tickets'] as Api).create(clock))
    closers.push(close)
    const raw = new Raw(port)
    closers.push(async () => raw.socket.destroy())
    raw.begin('POST', '/server-ready', 'guess', chunked)
    raw.socket.write(crumbs(100))
    expect(await raw.answer()).toBe('403')
  },
)

test.each(['node:http', 'Express', 'Fastify', 'Hono'])(
  'mounted in %s, pipelined streams and long polls end with their socket',
  async (mount) => {
    const clock = createManualClock()
    const api = (apis['tickets'] as Api).create(clock) as TicketApi
    const { port, close } = await (mounts[mount] as (typeof mounts)[string])(api)
    closers.push(close)
    const raw = new Raw(port)
    closers.push(async () => raw.socket.destroy())
    const body = '{"profile":"duel","attributes":{}}'
    raw.begin('POST', '/tickets', 'ann', `content-length: ${body.length}`)
    raw.socket.write(body)
    expect(await raw.answer()).toBe('201')
    const { id } = JSON.parse(raw.answered.split('\r\n\r\n')[1] ?? '') as { readonly id: string }
    for (let index = 0; index < 3; index += 1) {
      raw.begin('GET', `/tickets/${id}/events`, 'ann', 'accept: text/event-stream')
      raw.begin('GET', `/tickets/${id}?wait=30`, 'ann', 'accept: application/json')
    }
    await until('six that wait', () => api.counts().waiting === 6)
    raw.socket.destroy()
    await until('nobody who waits', () => api.counts().waiting === 0)
    expect(api.counts().waiting).toBe(0)
  },
)
