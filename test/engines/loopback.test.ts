/** Programs of engines/ in C++ and C# play over loopback: both players and their game server. C# uses a relay too. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { LobbyView, RelayCredentials } from '@muster/relay'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { openArcade } from '../relay/arcade.js'
import { joinBy } from '../relay/playing.js'
import { openCounter } from '../ticket-api/counter.js'
import { folder, languages } from './languages.js'

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const main = fileURLToPath(new URL('../../packages/server/dist/cli/main.js', import.meta.url))
const deploy = { application: 'game', version: '1', probe: { kind: 'registration' as const, withinMs: 60_000 } }

describe.each(languages)('the $name SDK', ({ runsHere, hasRelay, build, command: [program, ...flags] }) => {
  const children: ChildProcessWithoutNullStreams[] = []
  beforeAll(() => {
    if (runsHere) build()
  })
  afterAll(() => children.forEach((child) => child.kill()))

  /** Starts a program and collects its output lines. */
  const start = (...given: string[]) => startWith({}, ...given)
  const startWith = (variables: Readonly<Record<string, string>>, ...given: string[]) => {
    const child = spawn(program, [...flags, ...given], { env: { ...process.env, ...variables } })
    children.push(child)
    child.stderr.pipe(process.stderr)
    const said: string[] = []
    createInterface(child.stdout).on('line', (line) => said.push(line))
    let hasEnded = false
    child.once('close', () => (hasEnded = true))
    onTestFailed(() => {
      const lines = said.map((line) => line.slice(0, 40)).join(', ')
      process.stderr.write(`${given[0]} ${hasEnded ? 'has ended' : 'still runs'}: ${lines}\n`)
    })
    return { said, hasEnded: () => hasEnded, write: (line: string) => child.stdin.write(`${line}\n`) }
  }

  test.skipIf(!runsHere)(
    'two players are matched and admitted by the server of the SDK, and Muster gets the result',
    async () => {
      const results: unknown[] = []
      const { url, emulator, deployments, matchmaker, shut } = await openCounter({
        studio: { matchmaker: { queues: [{ name: 'duel', matchSize: 2, deploy }] } },
        api: {
          authenticate: (request) => {
            const id = (request.headers.get('authorization') ?? '').replace('Bearer ', '')
            return id === '' || id.includes('.') ? undefined : { id }
          },
          address: () => '203.0.113.7',
        },
      })
      matchmaker.on('matchOver', ({ result }) => results.push(result))
      const players = ['ann', 'ben'].map((name) => start('client', url, name, 'duel'))
      await until('a server boots', () => deployments()[0]?.current_status === 'Status.READY')
      const environment = emulator.environment(deployments()[0]?.request_id ?? '')
      const server = start('server', url, environment?.['MUSTER_SERVER_TOKEN'] ?? '')
      await until('both are assigned', () => players.every(({ hasEnded }) => hasEnded()))
      for (const { said } of players) {
        expect(said.slice(0, -2)).toEqual(['searching', 'found', 'assigned'])
        expect(said.at(-2)).toMatch(/^\S+:\d+$/)
      }
      const tokens = players.map(({ said }) => said.at(-1) ?? '')
      for (const token of [tokens[0], tokens[0], `${tokens[1]}A`, tokens[1]]) server.write(token ?? '')
      await until('the server has ended', () => server.hasEnded())
      expect(server.said).toEqual([
        'match duel',
        'admitted ann',
        'refused used',
        'refused forged',
        'admitted ben',
        'over',
        'ended The match is over.',
        expect.stringMatching(/^stop /),
        'finished',
      ])
      expect(results).toEqual([{ ranking: [['ben']] }])
      expect(await shut()).toEqual(nothingLeft)
    },
  )

  test.skipIf(!runsHere)('players accept a match by requests that name it', async () => {
    const lengths: unknown[] = []
    const ranked = {
      name: 'ranked',
      matchSize: 2,
      acceptance: { withinMs: 30_000 },
      deploy: { ...deploy, probe: undefined },
    }
    const { url, matchmaker, shut } = await openCounter({
      studio: { matchmaker: { queues: [ranked] } },
      api: {
        authenticate: (request) => {
          if (request.url.endsWith('/accept')) lengths.push(request.headers.get('content-length'))
          return { id: (request.headers.get('authorization') ?? '').replace('Bearer ', '') }
        },
        address: () => '203.0.113.7',
      },
    })
    const found: string[] = []
    matchmaker.on('matchFound', ({ matchId }) => void found.push(matchId))
    const players = ['ann', 'ben'].map((name) => start('client', url, name, 'ranked'))
    await until('both are assigned', () => players.every(({ hasEnded }) => hasEnded()))
    const [matchId] = found
    const { length } = JSON.stringify({ match_id: matchId })
    expect(lengths).toEqual([String(length), String(length)])
    expect(await shut()).toEqual(nothingLeft)
  })

  test.skipIf(!runsHere)('a server of the SDK with the key of a pool enrols itself, and gets players', async () => {
    const MUSTER_ENROL_KEY = 'a-key-of-the-arena-in-frankfurt-1'
    const places = [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }]
    const enrol = [{ key: MUSTER_ENROL_KEY, place: 'Frankfurt', max: 1 }]
    const { url, matchmaker, shut } = await openCounter({
      studio: {
        matchmaker: {
          queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
          pools: [{ name: 'arena', places, enrol }],
        },
      },
      api: {
        authenticate: (request) => {
          const id = (request.headers.get('authorization') ?? '').replace('Bearer ', '')
          return /^(ann|ben)$/.test(id) ? { id } : undefined
        },
        address: () => '203.0.113.7',
      },
    })
    const MUSTER_SERVER_PORTS = 'game=7777/udp'
    const server = startWith({ MUSTER_URL: url, MUSTER_ENROL_KEY, MUSTER_SERVER_PORTS }, 'verify')
    const players = ['ann', 'ben'].map((name) => start('client', url, name, 'duel'))
    await until('both are assigned', () => players.every(({ hasEnded }) => hasEnded()))
    for (const { said } of players) expect(said.at(-2)).toBe('203.0.113.7:7777')
    const [{ id = '', source } = {}] = matchmaker.inspect().servers
    expect(source).toBe('enrolled')
    await matchmaker.stopServer(id)
    await until('the server has ended', () => server.hasEnded())
    expect(server.said).toEqual([])
    expect(await shut()).toEqual(nothingLeft)
  })

  test.skipIf(!runsHere)(
    '`muster dev` runs the game server of the SDK for queued players, and is notified of its end',
    async () => {
      const dir = mkdtempSync(join(folder, 'dev-'))
      const [tokensIn, out] = [join(dir, 'tokens'), join(dir, 'out')]
      execFileSync('mkfifo', [tokensIn])
      const line = `exec "$@" server "$MUSTER_URL" "$MUSTER_SERVER_TOKEN" < ${tokensIn} > ${out}`
      const key = 'the-key-of-everything'
      const options = ['--token', key, '--port', '0', '--emulator-port', '0']
      const command = ['sh', '-c', line, 'sh', program, ...flags]
      const dev = spawn(process.execPath, [main, 'dev', ...options, '--', ...command])
      children.push(dev)
      let text = ''
      dev.stdout.on('data', (part) => (text += part))
      await until('it listens', () => /^ *API /m.test(text))
      const url = /^ *API +(\S+)/m.exec(text)?.[1] ?? ''
      const players = ['ann', 'ben'].map((name) => start('client', url, `${key}:${name}`, 'duel'))
      await until('both are assigned', () => players.every(({ hasEnded }) => hasEnded()))
      for (const { said } of players) expect(said.slice(0, -2)).toEqual(['searching', 'found', 'assigned'])
      const tokens = players.map(({ said }) => said.at(-1) ?? '')
      writeFileSync(tokensIn, `${tokens.join('\n')}\n`)
      // Muster has the result and stops the server, without waiting for its process to end.
      await until('the server has ended', () => /: has ended with/.test(text))
      expect(readFileSync(out, 'utf8').split('\n').slice(0, 3)).toEqual(['match duel', 'admitted ann', 'admitted ben'])
      const me = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${key}:ann` } })
      expect(await me.json()).toMatchObject({ tickets: [], matches: [] })
      dev.kill('SIGTERM')
      const [code] = (await once(dev, 'close')) as [number | null]
      expect(code).toBe(0)
    },
  )

  test.skipIf(!runsHere)('`muster verify-server` finds no fault in the game server of the SDK', async () => {
    const child = spawn(process.execPath, [main, 'verify-server', '--json', '--', program, ...flags, 'verify'])
    children.push(child)
    let said = ''
    child.stdout.on('data', (text) => (said += text))
    await once(child, 'close')
    const { lines } = JSON.parse(said) as { readonly lines: readonly { readonly outcome: string }[] }
    expect(lines.filter(({ outcome }) => outcome === 'FAIL')).toEqual([])
    expect(lines.length).toBeGreaterThan(20)
  })
  if (!hasRelay) return

  const peerOf = ({ role, host, port, sessionToken, userToken }: RelayCredentials) =>
    start('relay', role, host, `${port}`, `${sessionToken}`, `${userToken}`)

  test.skipIf(!runsHere)('the SDK plays over the relay with another peer, and is notified of its removal', async () => {
    const ann = { id: 'ann', ip: '203.0.113.7' }
    const ben = { id: 'ben', ip: '203.0.113.8' }
    const cid = { id: 'cid', ip: '203.0.113.9' }
    const { call, credentialsOf, shut } = await openArcade()
    const game = { maxPlayers: 3, visibility: 'private', requireReady: false }
    const { lobbyId, code } = await call<LobbyView>(ann, 'POST', '/lobbies', game)
    for (const player of [ben, cid]) await call(player, 'POST', '/lobbies/join', { code })
    await call(ann, 'POST', `/lobbies/${lobbyId}/start`)
    const host = peerOf(await credentialsOf(ann, lobbyId))
    const client = peerOf(await credentialsOf(ben, lobbyId))
    const other = await joinBy(await credentialsOf(cid, lobbyId))
    onTestFinished(() => other.close())
    const heard: string[] = []
    other.onMessage(({ data }) => heard.push(data.toString()))
    await until('both are valid', () => [host, client].every(({ said }) => said.at(-1) === 'valid'))
    const longest = 'x'.repeat(1187)
    for (const line of [`${longest}x`, 'hello', longest]) client.write(line)
    other.send(Buffer.from('ahoy'))
    const sentBack = ['received hello', `received ${longest}`]
    await until('each has what it sent', () => heard.length > 0 && sentBack.every((line) => client.said.includes(line)))
    expect(heard).toEqual(['ahoy'])
    expect(client.said).toContain('refused a payload has at most 1187 bytes, got 1188')
    expect(client.said.filter((line) => line.startsWith('received '))).toHaveLength(2)
    await call(ann, 'DELETE', `/lobbies/${lobbyId}/members/ben`)
    await until('the client ends', () => client.hasEnded())
    expect(client.said.at(-1)).toBe('invalid')
    expect(host.hasEnded()).toBe(false)
    expect(await shut()).toEqual([])
  })

  test.skipIf(!runsHere)(
    'the SDK survives datagrams that no relay sends, and a temporary loss of the relay',
    async () => {
      const tokens = { userToken: 4_000_000_001, sessionToken: 3_500_589_645 }
      const header = '01286bee4dc2a6d0'
      const heard: string[] = []
      const open = async (at: number) => {
        const socket = createSocket('udp4').bind(at, '127.0.0.1')
        socket.on('message', (datagram) => heard.push(datagram.toString('hex')))
        await once(socket, 'listening')
        return socket
      }
      let relay = await open(0)
      const { port } = relay.address()
      const host = peerOf({ role: 'host', host: '127.0.0.1', port, sessionId: '', protocol: 'UDP', ...tokens })
      const [, { port: peerPort }] = (await once(relay, 'message')) as [Buffer, RemoteInfo]
      expect(heard).toEqual([`${header}01`])
      const send = (...bytes: number[]) => relay.send(Buffer.from(bytes), peerPort, '127.0.0.1')
      for (const odd of [[], [1], [1, 0], [1, 6], [1, 2, 0], [2], [2, 1, 0, 0], [3, 2]]) send(...odd)
      send(2, ...Array.from({ length: 1200 }, () => 65))
      send(1, 2)
      send(2, 1, 2, 3, 0xff, 65)
      await until('the host sends it back', () => heard.includes(`${header}02010203ff41`))
      expect(host.said).toEqual(['valid', 'received A'])
      relay.close()
      await until('the relay counts as lost', () => host.said.at(-1) === 'lost')
      relay = await open(port)
      await once(relay, 'message')
      send(1, 4)
      await until('the session has timed out', () => host.said.at(-1) === 'timedout')
      await once(relay, 'message')
      send(1, 5)
      send(1, 2)
      await until('the host ends', () => host.hasEnded())
      relay.close()
      expect(host.said.slice(2)).toEqual(['lost', 'timedout', 'error'])
    },
  )
})

const sharp = languages.find(({ name }) => name === 'C# by HttpWebRequest')

describe.skipIf(sharp?.runsHere !== true)('the requests of C# by HttpWebRequest', () => {
  beforeAll(() => sharp?.build())
  /** Sends requests, and returns the status of each answer. */
  const send = async (url: string, timeoutMs: number, count: number) => {
    const [program = '', ...flags] = sharp?.command ?? []
    const child = spawn(program, [...flags, 'send', url, `${timeoutMs}`, `${count}`])
    onTestFinished(() => void child.kill())
    child.stderr.pipe(process.stderr)
    const said: string[] = []
    createInterface(child.stdout).on('line', (line) => said.push(line))
    await once(child, 'close')
    return said
  }
  const listen = async (handle: RequestListener) => {
    const server = createServer(handle)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('an answer that a proxy keeps alive by spaces counts as lost in time', async () => {
    const url = await listen((_, response) => {
      const padding = setInterval(() => response.write(' '), 50)
      response.once('close', () => clearInterval(padding))
    })
    expect(await send(url, 1000, 1)).toEqual(['0'])
  })

  test('many clients of one process may wait at the same time, and expect no interim response', async () => {
    const waiting: ServerResponse[] = []
    const expected: unknown[] = []
    const url = await listen(({ headers }, response) => {
      expected.push(headers.expect)
      if (waiting.push(response) === 40) for (const one of waiting) one.end('{}')
    })
    expect(await send(url, 60_000, 40)).toEqual(Array.from({ length: 40 }, () => '200'))
    expect(new Set(expected)).toEqual(new Set([undefined]))
  })
})
