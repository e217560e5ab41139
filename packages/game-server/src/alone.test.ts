import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createManualClock } from '@muster/core/clock'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from './clock.js'
import { localMatch, matchIn, portsIn } from './environment.js'
import { createGameServer } from './game-server.js'
import { joinKeyOf, signJoinToken } from './join-token.js'
import type { Match } from './served-match.js'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the environment of a game server', () => {
  test('a game server reads its ports from the mapping variable or from single environment variables', () => {
    const game = { name: 'game', internal: 7777, external: 30_000, protocol: 'UDP' }
    const { name: _, ...port } = game
    expect(portsIn({ SERVICE_PORTS_MAPPING: JSON.stringify({ ports: { game } }) })).toEqual({ game: port })
    const live = { ARBITRIUM_REQUEST_ID: 'r1', ARBITRIUM_PORTS_MAPPING: JSON.stringify({ ports: { game } }) }
    expect(portsIn(live)).toEqual({ game: port })
    const single = {
      SERVICE_PORT_GAME_INTERNAL: '7777',
      SERVICE_PORT_GAME_EXTERNAL: '30000',
      SERVICE_PORT_GAME_PROTOCOL: 'WS',
    }
    expect(portsIn(single)).toEqual({ game: { internal: 7777, external: 30_000, protocol: 'WS' } })
    expect(portsIn({ SERVICE_PORTS_MAPPING: '{' })).toEqual({})
  })

  test('a game server reads its match from the environment, even if its variables are split into parts', () => {
    const ticket = JSON.stringify({ id: 't1', players: ['ann'], attributes: { mode: 'ctf' } })
    const env = {
      MM_MATCH_ID: 'm7',
      MM_MATCH_PROFILE: 'duel',
      MM_TEAMS: '{"red":["t1"],"blue":["t2"]}',
      MM_TICKET_t1_PARTS: '2',
      MM_TICKET_t1_PART_1: ticket.slice(0, 9),
      MM_TICKET_t1_PART_2: ticket.slice(9),
      MM_TICKET_t2: '{"players":["ben","cat"]}',
      MM_EQUALITY: '{"mode":"ctf"}',
    }
    expect(matchIn(env)).toMatchObject({
      id: 'm7',
      teams: [
        { name: 'red', players: [{ id: 'ann', ticket_id: 't1', attributes: { mode: 'ctf' } }] },
        {
          name: 'blue',
          players: [
            { id: 'ben', ticket_id: 't2' },
            { id: 'cat', ticket_id: 't2' },
          ],
        },
      ],
      equality: { mode: 'ctf' },
    })
    const seats = {
      MM_MATCH_ID: 'm8',
      MM_TEAMS: '{"red":["t1"]}',
      MM_GROUPS: '{"t1":["t1.0","t1.1"]}',
      'MM_TICKET_t1.0': '{"players":["ann"],"attributes":{"mode":"ctf"}}',
      'MM_TICKET_t1.1': '{"players":["ben"]}',
    }
    expect(matchIn(seats)?.teams).toMatchObject([
      {
        name: 'red',
        players: [
          { id: 'ann', ticket_id: 't1.0', attributes: { mode: 'ctf' } },
          { id: 'ben', ticket_id: 't1.1' },
        ],
      },
    ])
    expect(matchIn({})).toBeUndefined()
  })

  test('MUSTER_LOCAL_PLAYERS gives the players of a local match', () => {
    expect(localMatch('ann, ben').teams).toEqual([
      {
        name: '',
        players: [
          { id: 'ann', ticket_id: 'local-ann' },
          { id: 'ben', ticket_id: 'local-ben' },
        ],
      },
    ])
    expect(localMatch('red:ann,blue:ben,').teams.map(({ name }) => name)).toEqual(['red', 'blue'])
  })
})

test.each([
  ['SERVICE', {}],
  ['ARBITRIUM', { ARBITRIUM_REQUEST_ID: 'r1' }],
  ['ACME', { MUSTER_SERVICE_PREFIX: 'ACME' }],
])(
  'a match server without MUSTER_URL stops its own deployment by the variables of the prefix %s',
  async (prefix, more) => {
    const heard: string[] = []
    const backend = createServer((request, response) => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
    const env = {
      MM_MATCH_ID: 'm7',
      MM_TEAMS: '{"red":["t1"]}',
      MM_TICKET_t1: '{"players":["ann"]}',
      MM_REGISTRATION_URL: `${url}/server-ready`,
      MM_REGISTRATION_SECRET: 'ready',
      MUSTER_SERVER_TOKEN: 'm1.token',
      [`${prefix}_DELETE_URL`]: `${url}/self/stop`,
      [`${prefix}_DELETE_TOKEN`]: 'stop',
      ...more,
    }
    const server = createGameServer({ env, handleSignals: false })
    expect(server.mode).toBe('environment')
    let match: Match | undefined
    const served = server.serve({ match: (given) => void (match = given) })
    await expect.poll(() => heard).toEqual(['POST /server-ready Bearer ready'])
    const token = signJoinToken({ aud: 'm1', sub: 'ann', mid: 'm7', sid: 't1' }, joinKeyOf('m1.token'), Date.now())
    expect(await server.admit(token)).toMatchObject({ id: 'ann', team: 'red' })
    await match?.over()
    await served
    expect(heard[1]).toBe('DELETE /self/stop stop')
    backend.close()
  },
)

test('a match server stops its deployment soon after its match, though MM_REGISTRATION_URL never answers', async () => {
  const clock = createManualClock()
  const heard: string[] = []
  const silent = async (url: unknown, { method, signal }: RequestInit = {}) => {
    heard.push(`${method} ${String(url)}`)
    if (method === 'DELETE') return new Response(null, { status: 204 })
    return new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }
  const env = {
    MM_MATCH_ID: 'm7',
    MM_TEAMS: '{"red":["t1"]}',
    MM_TICKET_t1: '{"players":["ann"]}',
    MM_REGISTRATION_URL: 'http://localhost/server-ready',
    MM_REGISTRATION_SECRET: 'ready',
    SERVICE_DELETE_URL: 'http://localhost/self/stop',
    SERVICE_DELETE_TOKEN: 'stop',
  }
  const problems: string[] = []
  const onProblem = ({ message }: Error) => void problems.push(message)
  const server = createGameServer({ env, handleSignals: false, clock, fetch: silent as typeof fetch, onProblem })
  let match: Match | undefined
  const served = server.serve({ match: (given) => void (match = given) })
  await clock.advance(1000)
  await match?.over()
  await clock.until(served)
  expect(clock.now() - Date.UTC(2026, 0, 1)).toBeLessThan(62_000)
  expect(heard.at(-1)).toBe('DELETE http://localhost/self/stop')
  expect(problems).toEqual(['The URL in MM_REGISTRATION_URL did not answer.'])
})

test('a game server without Muster checks tokens by the wall clock, even after the clock was set', async () => {
  const env = {
    MM_MATCH_ID: 'm7',
    MM_TEAMS: '{"red":["t1"]}',
    MM_TICKET_t1: '{"players":["ann"]}',
    MUSTER_SERVER_TOKEN: 'm1.token',
  }
  for (const stepMs of [7_200_000, -7_200_000]) {
    const clock = { ...systemClock, date: () => Date.now() + stepMs }
    const server = createGameServer({ env, handleSignals: false, clock })
    let match: Match | undefined
    const served = server.serve({ match: (given) => void (match = given) })
    const signed = (date: number) =>
      signJoinToken({ aud: 'm1', sub: 'ann', mid: 'm7', sid: 't1' }, joinKeyOf('m1.token'), date)
    expect(await server.admit(signed(clock.date()))).toMatchObject({ id: 'ann' })
    await expect(server.admit(signed(clock.date() - 400_000))).rejects.toMatchObject({ code: 'expired' })
    await match?.over()
    await served
  }
})

test('a local game server plays one match of the configured players and prints their tokens', async () => {
  const lines: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  const server = createGameServer({ env: { MUSTER_LOCAL_PLAYERS: 'red:ann,blue:ben' }, handleSignals: false })
  expect(server.mode).toBe('local')
  let match: Match | undefined
  const served = server.serve({ match: (given) => void (match = given) })
  await expect.poll(() => server.status).toBe('PLAYING')
  const token = /ann: (\S+)/.exec(lines.join('\n'))?.[1] ?? ''
  expect(await server.admit(token)).toMatchObject({ id: 'ann', team: 'red', matchId: 'local' })
  await match?.over({ ranking: [['ann'], ['ben']] })
  await served
})

test.each([
  [{ MUSTER_SERVER_TOKEN: 'm1.token' }, 'MUSTER_SERVER_TOKEN is set, but MUSTER_URL is not.'],
  [{ MUSTER_ENROL_KEY: 'a-key' }, 'MUSTER_ENROL_KEY is set, but MUSTER_URL is not.'],
  [
    { MUSTER_URL: 'http://localhost:8080', MUSTER_SERVER_TOKEN: '' },
    'MUSTER_URL is set, but neither MUSTER_SERVER_TOKEN nor MUSTER_ENROL_KEY is.',
  ],
  [{ MUSTER_URL: 'http://localhost:8080', MUSTER_LOCAL_PLAYERS: 'ann' }, undefined],
  [{ MUSTER_SERVER_TOKEN: 'm1.token', MM_MATCH_ID: 'm7', MM_TEAMS: '{}' }, undefined],
  [{}, undefined],
])('a game server says if it plays without Muster for lack of a variable: %j', async (env, said) => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const problems: string[] = []
  const onProblem = ({ message }: Error) => void problems.push(message)
  const server = createGameServer({ env, handleSignals: false, onProblem })
  const served = server.serve({})
  await expect.poll(() => server.status).toBe('PLAYING')
  await [...server.matches.values()][0]?.over()
  await served
  const end = ' So this server plays a match of its own, and Muster sends it no players.'
  expect(problems).toEqual(said === undefined ? [] : [said + end])
})

const silentBackend = async () => {
  const backend = createServer(() => {})
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    backend.close()
    backend.closeAllConnections()
  })
  return `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
}

test.each([
  ['', async () => ({})],
  [
    ', though MM_REGISTRATION_URL never answers',
    async () => ({ MM_MATCH_ID: 'm7', MM_REGISTRATION_URL: await silentBackend(), MM_REGISTRATION_SECRET: 'ready' }),
  ],
])('SIGTERM drains a game server: the game stops, then the process ends by itself%s', async (_, more) => {
  const program = `
    import { createGameServer } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
    const server = createGameServer()
    await server.serve({
      match: () => console.log('playing'),
      draining: (reason) => console.log('draining', reason),
      stop: async (reason) => console.log('stopping', reason),
    })
    console.log('ended')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { PATH: process.env['PATH'], ...(await more()) },
  })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  await expect.poll(() => output).toContain('playing')
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])))
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  expect(output).toContain('draining SIGTERM\nstopping SIGTERM\nended')
})
