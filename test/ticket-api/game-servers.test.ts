/** Tests game servers over HTTP: slow, broken and many of them, at the routes for game servers only. */
import { connect, type Socket } from 'node:net'
import { systemClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { openCounter } from './counter.js'

const deploy = { application: 'game', version: '1', probe: { kind: 'registration' as const, withinMs: 60_000 } }

/**
 * Starts a match of ann and ben whose server has registered. Unlike players' tokens, a game server's token is not a
 * name.
 */
async function open(given: Parameters<typeof openCounter>[0] = {}) {
  const counter = await openCounter({
    studio: { matchmaker: { queues: [{ name: 'duel', matchSize: 2, deploy }] } },
    ...given,
    api: {
      authenticate: (request) => {
        const id = (request.headers.get('authorization') ?? '').replace('Bearer ', '')
        return id.includes('.') ? undefined : { id, role: id === 'backend' ? 'backend' : 'player' }
      },
      ...given.api,
    },
  })
  const { emulator, deployments, request, join, matchmaker } = counter
  join('ann', 'ben')
  await until('a server runs', () => deployments()[0]?.current_status === 'Status.READY')
  const tokenOf = (nth: number) =>
    emulator.environment(deployments()[nth]?.request_id ?? '')?.['MUSTER_SERVER_TOKEN'] ?? ''
  const token = tokenOf(0)
  const register = (who = token, instance = 'one') => request(who, 'POST', '/servers', { instance })
  const report = (state: object, query = '', who = token) =>
    request(who, 'PUT', `/servers/me${query}`, { instance: 'one', ...state })
  const matchId = () => matchmaker.inspect().matches[0]?.matchId ?? ''
  return { ...counter, token, tokenOf, register, report, matchId }
}

/** A connection that sends and reads in any order and at any time. */
class Raw {
  readonly socket: Socket
  answered = ''
  isClosed = false

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname)
    this.socket.on('data', (data) => (this.answered += data.toString('latin1')))
    this.socket.on('close', () => (this.isClosed = true))
    this.socket.on('error', () => {})
  }

  begin(method: string, path: string, token: string, length: number): void {
    const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`
    this.socket.write(`${head}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`)
  }
}

const pause = (ms: number) => systemClock.sleep(ms)

test('a game server registers, gets its match, and receives players with join tokens', async () => {
  const { register, report, matchId, hasServer, call, shut } = await open()
  const registered = (await (await register()).json()) as { id: string; version: number; matches: { id: string }[] }
  expect(registered.matches.map(({ id }) => id)).toEqual([matchId()])
  const answer = await report({ seq: 1, matches: [{ id: matchId(), status: 'open' }] })
  expect(answer.status).toBe(200)
  await hasServer('ann-ben')
  const { matches } = await call<{ matches: { assignment: { join_token: string } }[] }>('ann', 'GET', '/me')
  const [, payload = ''] = matches[0]?.assignment.join_token.split('.') ?? []
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ aud: registered.id, sub: 'ann' })
  const over = {
    id: matchId(),
    status: 'over',
    players: { ann: 'in', ben: 'in' },
    result: { ranking: [['ben'], ['ann']] },
  }
  expect(await (await report({ seq: 2, matches: [over] })).json()).toMatchObject({ want: 'stop' })
  expect(await shut()).toEqual(nothingLeft)
})

test('a server’s body is read even in single bytes, and cut off if it never ends', async () => {
  const { url, token, register, report, matchId, shut } = await open({
    api: { limits: { bodies: { timeoutMs: 1500 } } },
  })
  const body = JSON.stringify({ instance: 'one' })
  const slow = new Raw(url)
  slow.begin('POST', '/servers', token, body.length)
  for (const byte of body) {
    slow.socket.write(byte)
    await pause(5)
  }
  await until('the slow one is answered', () => slow.answered.includes('200 OK'))
  const endless = new Raw(url)
  endless.begin('PUT', '/servers/me', token, 100_000)
  endless.socket.write('{"instance":"one","seq":1,')
  expect((await register()).status).toBe(200)
  expect((await report({ seq: 2, matches: [{ id: matchId(), status: 'open' }] })).status).toBe(200)
  await until('the endless one is cut', () => endless.answered.includes('408') || endless.isClosed, 10_000)
  slow.socket.destroy()
  endless.socket.destroy()
  expect(await shut()).toEqual(nothingLeft)
})

test('a server’s body over its limit is refused before it is sent completely', async () => {
  const { url, token, register, report, shut } = await open()
  await register()
  const large = new Raw(url)
  large.begin('PUT', '/servers/me', token, 50_000_000)
  large.socket.write('{"instance":"one",')
  await until('it is refused', () => large.answered.includes('413'))
  large.socket.destroy()
  expect((await report({ seq: 1 })).status).toBe(200)
  expect(await shut()).toEqual(nothingLeft)
})

test('a game server that disconnects in a long poll leaves no waiter behind, and can be restarted', async () => {
  const { url, token, register, report, matchId, hasServer, shut } = await open()
  await register()
  const matches = [{ id: matchId(), status: 'open' }]
  await report({ seq: 1, matches })
  await hasServer('ann-ben')
  const known = (await (await report({ seq: 2, matches })).json()) as { version: number }
  const body = JSON.stringify({ instance: 'one', seq: 3, matches })
  const gone = new Raw(url)
  gone.begin('PUT', `/servers/me?wait=20&version=${known.version}`, token, body.length)
  gone.socket.write(body)
  await pause(300)
  expect(gone.answered).toBe('')
  gone.socket.destroy()
  await pause(100)
  const second = (await (await register(token, 'two')).json()) as { matches: object[] }
  expect(second.matches).toHaveLength(1)
  expect(await (await report({ seq: 5 })).json()).toMatchObject({ want: 'drain', reason: 'replaced' })
  expect(await shut()).toEqual(nothingLeft)
})
