import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { InvalidCall, type JoinRefused } from './errors.js'
import { createGameServer } from './game-server.js'
import { joinKeyOf, signJoinToken } from './join-token.js'
import type { Match, MatchResult, Player, SeatsWanted } from './served-match.js'
import type { WireMatch } from './wire.js'

/**
 * What a game server is told and does, as lines of JSON: the machines of the engines replay them. A line is
 * `{"session"}`, `{"at", "in"}` or `{"at", "out"}`, with epoch milliseconds. A machine wakes itself between the lines,
 * which are what can be seen from outside. What it does at one moment is in its order, with the request at the end. The
 * random number is always 0.5.
 */
const PATH = new URL('../../../engines/server-transcript.jsonl', import.meta.url)

const START = Date.parse('2026-11-26T12:00:00Z')
const TOKEN = 'm1.secret'
const key = joinKeyOf(TOKEN)
/** Whoever keeps players by id in a plain object meets its prototype. */
const ODD_IDS = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']
type WireTeam = WireMatch['teams'][number]
const orders = (more: object = {}) => ({ version: 7, want: 'run', matches: [], ...more })
const registered = (more: object = {}) => ({
  ...orders(more),
  id: 'm1',
  alg: 'HS256',
  key: Buffer.from(key).toString('base64url'),
  retire_at: null,
})
const duel = (id: string, ...more: string[]): WireMatch => ({
  id,
  profile: 'duel',
  equality: { mode: 'ranked' },
  intersection: { maps: ['ice'] },
  teams: [
    { name: 'red', players: [{ id: 'ann', ticket_id: 't-ann', attributes: { skill: 1200 } }] },
    { name: 'blue', players: ['ben', ...more].map((player) => ({ id: player, ticket_id: 't-ben' })) },
  ],
})
const joinToken = (player: string, more: object = {}, now = START, signedWith: Uint8Array = key) =>
  signJoinToken({ aud: 'm1', sub: player, mid: 'm7', sid: `s-${player}`, ...more }, signedWith, now)

interface Line {
  readonly session?: string
  readonly at?: number
  readonly in?: object
  readonly out?: object
}

/** A server whose wishes and answers are written down, and what it does. */
function openServer(lines: Line[], environment?: Readonly<Record<string, string>>) {
  const clock = createManualClock({ start: START })
  const write = (line: 'in' | 'out', what: object) => lines.push({ at: clock.now(), [line]: what })
  let commands = 0
  let requests = 0
  let isHealthy = true
  const none = () => {
    throw new Error('no request is under way')
  }
  let reply: (status: number, body?: unknown, headers?: Record<string, string>) => void = none
  let lose: () => void = none
  const begun = new Map<string, (isOpen: boolean) => void>()
  let stopped = () => {}

  const told = (player: Player) => ({
    ...player,
    team: player.team ?? null,
    groupId: player.groupId ?? null,
  })
  const seen = (match: Match) => ({
    id: match.id,
    queue: match.queue,
    attributes: match.attributes,
    teams: Object.fromEntries(Object.entries(match.teams).map(([name, players]) => [name, players.map(told)])),
  })
  const options = { build: '1.0', matches: 2, attributes: { map: 'ice' } }
  const server = createGameServer({
    ...options,
    env: { ...environment, MUSTER_URL: 'http://muster.example/api', MUSTER_SERVER_TOKEN: TOKEN },
    clock,
    random: () => 0.5,
    health: () => isHealthy,
    onProblem: ({ message }) => {
      // What a handler has thrown is known to the game.
      if (!message.startsWith('own:')) write('out', { problem: message })
    },
    fetch: (url, init) =>
      new Promise((resolve, reject) => {
        requests += 1
        const request = requests
        const path = String(url).replace('http://muster.example/api', '')
        const { instance, ...rest } = JSON.parse(String(init?.body)) as { readonly instance: string }
        expect(instance).toMatch(/^[\w-]{36}$/)
        const body = { instance: 'one', ...rest }
        const waitMs = path.includes('wait=10') ? 10_000 : 0
        write('out', { request, method: init?.method, path, body, waitMs })
        const lostAt = clock.now() + waitMs + 10_000
        const abort = () => {
          // The transport of an engine gives it up by itself, and says that no answer came.
          if (clock.now() === lostAt) write('in', { answer: request, status: 0 })
          else write('out', { abort: request })
          reply = none
          lose = none
          reject(new Error('aborted'))
        }
        init?.signal?.addEventListener('abort', abort)
        reply = (status, answer, headers = {}) => {
          reply = none
          init?.signal?.removeEventListener('abort', abort)
          const retryAfterMs = Number(headers['retry-after'] ?? 0) * 1000
          write('in', {
            answer: request,
            status,
            ...(answer !== undefined && { body: answer }),
            ...(retryAfterMs > 0 && { retryAfterMs }),
            ...(headers['date'] !== undefined && { date: headers['date'] }),
          })
          resolve(new Response(answer === undefined ? '<html>no</html>' : JSON.stringify(answer), { status, headers }))
        }
        lose = () => {
          reply = none
          init?.signal?.removeEventListener('abort', abort)
          write('in', { answer: request, status: 0 })
          reject(new Error('lost'))
        }
      }),
  })
  const flush = () => clock.advance(0)
  /** Tells what was wished, and what came of it. */
  const wish = async (what: object, act: (command: number) => unknown) => {
    commands += 1
    const command = commands
    write('in', { ...what, command })
    try {
      await Promise.race([act(command), flush()])
    } catch (error) {
      if (!(error instanceof InvalidCall)) throw error
      write('out', { failed: command, field: error.field, message: error.message })
    }
    await flush()
  }

  return {
    run: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    start: async () => {
      write('in', { do: 'start', instance: 'one', registration: options, ...(environment && { environment }) })
      const ended = server.serve({
        match: async (match) => {
          write('out', { match: seen(match) })
          match.signal.addEventListener('abort', () =>
            write('out', { ended: match.id, reason: (match.signal.reason as Error).message }),
          )
          if (!(await new Promise<boolean>((resolve) => begun.set(match.id, resolve)))) throw new Error('own: no map')
        },
        joined: (match, players) => write('out', { joined: match.id, players: players.map(told) }),
        draining: (reason) => write('out', { draining: reason }),
        stop: async (reason, until) => {
          write('out', { stop: reason, until: until.getTime() })
          await new Promise<void>((resolve) => (stopped = resolve))
        },
      })
      void ended.then(() => write('out', { finished: true }))
      await flush()
    },
    answer: async (...given: Parameters<typeof reply>) => {
      reply(...given)
      await flush()
    },
    lose: async () => {
      lose()
      await flush()
    },
    healthy: async (is: boolean) => {
      write('in', { do: 'healthy', isHealthy: is })
      isHealthy = is
      await flush()
    },
    begin: async (match: string, isOpen = true) => {
      write('in', { do: isOpen ? 'open' : 'refuse', match })
      begun.get(match)?.(isOpen)
      await flush()
    },
    over: (match: string, result?: MatchResult) =>
      wish({ do: 'over', match, ...(result && { result }) }, (command) => {
        const ending = server.matches.get(match)?.over(result)
        void ending?.then(() => write('out', { done: command }))
      }),
    seats: (match: string, wanted: SeatsWanted) =>
      wish({ do: 'seats', match, ...wanted }, () => server.matches.get(match)?.seats(wanted)),
    admit: (token: string) =>
      wish({ do: 'admit', token }, (command) => {
        void server.admit(token).then(
          (player) => write('out', { admitted: command, player: told(player) }),
          (error: JoinRefused) => write('out', { refused: command, code: error.code, message: error.message }),
        )
      }),
    left: async (player: string, mayReturnMs?: number) => {
      const time = mayReturnMs === undefined ? {} : { mayReturnMs }
      write('in', { do: 'left', player, ...time })
      server.left(player, time)
      await flush()
    },
    shutdown: async () => {
      write('in', { do: 'drain', reason: 'own wish' })
      void server.shutdown()
      await flush()
    },
    signal: async () => {
      write('in', { do: 'stop', reason: 'SIGTERM' })
      process.emit('SIGTERM')
      await flush()
    },
    stopped: async () => {
      write('in', { do: 'stopped' })
      stopped()
      await flush()
    },
  }
}

type Server = ReturnType<typeof openServer>

/** Registered, with a match that is open, in the long poll. */
async function play(server: Server): Promise<void> {
  await server.start()
  await server.answer(201, registered())
  await server.run(200)
  await server.answer(200, orders())
  await server.run(5000)
  await server.answer(200, orders({ version: 8, matches: [duel('m7')] }))
  await server.run(200)
  await server.begin('m7')
  await server.answer(200, orders({ version: 8, matches: [duel('m7')] }))
  await server.run(200)
  await server.answer(200, orders({ version: 8, matches: [duel('m7')] }))
  await server.run(200)
}

/** What came of a wish is told to Muster, which has it. */
async function settle(server: Server, more: object = { matches: [duel('m7')] }): Promise<void> {
  await server.run(200)
  await server.answer(200, orders({ version: 8, ...more }))
  await server.run(200)
}

const SESSIONS: Readonly<Record<string, (server: Server) => Promise<void>>> = {
  'a match is played to its end, and the next one is refused': async (server) => {
    await play(server)
    await server.admit(joinToken('ann'))
    await settle(server)
    await server.over('m7', { ranking: [['ann'], ['zoe']] })
    await server.over('m7', { ranking: [['ann'], ['ann']] })
    await server.over('m7', { ranking: [['ann'], []] })
    await server.over('m7', { data: 'ä'.repeat(4100) })
    await server.over('m7', { ranking: [['ann'], ['ben']], data: { rounds: 3 } })
    await server.over('m7')
    await server.admit(joinToken('ben'))
    await server.run(200)
    await server.answer(200, orders({ version: 9, matches: [duel('m8')] }))
    await server.begin('m8', false)
    await settle(server, { version: 10 })
    await server.run(2000)
  },
  'players come with tokens that are right, wrong and old': async (server) => {
    await play(server)
    for (const token of [
      'no token',
      'a.b',
      `${joinToken('ann')}.more`,
      joinToken('ann').replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url')),
      joinToken('ann', {}, START, new Uint8Array(32)),
      joinToken('ann').slice(0, -2),
      joinToken('ann', { aud: 'm2' }),
      joinToken('ann', {}, START - 300_000),
      joinToken('ann', { mid: 7 }),
      'x'.repeat(3000),
    ])
      await server.admit(token)
    await server.admit(joinToken('ann', { mid: 'm6' }))
    await server.run(2000)
    await server.admit(joinToken('zoe'))
    await server.run(2000)
    await server.admit(joinToken('ann'))
    await settle(server)
    await server.admit(joinToken('ann'))
    await server.admit(joinToken('ann', {}, START + 1000))
    await settle(server)
    await server.left('ann', 30_000)
    await settle(server)
    await server.admit(joinToken('ann', {}, START + 1000))
    await settle(server)
    await server.left('ann', 1000)
    await server.run(1000)
    await settle(server)
    await server.admit(joinToken('ann', {}, START + 2000))
    await server.admit(joinToken('ben', { team: 'blue', grp: 'g' }))
    await settle(server)
    await server.left('ben')
    await server.left('zoe')
    await settle(server)
    await server.admit(joinToken('ben', {}, START + 2000))
    await server.admit(joinToken('ben', { sid: 's-new' }, START + 2000))
    await settle(server)
  },
  'a player is faster than the orders, and the clock of the server is wrong': async (server) => {
    await server.start()
    await server.admit(joinToken('ann', {}, START + 600_000))
    await server.run(500)
    await server.answer(201, registered(), { date: 'Thu, 26 Nov 2026 12:10:00 GMT' })
    await server.run(200)
    await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: 'Thu, 26 Nov 2026 12:10:01 GMT' })
    await server.begin('m7')
    await server.admit(joinToken('ben'))
    await server.run(200)
    await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: 'Thu, 26 Nov 2026 12:00:02 GMT' })
    await server.admit(joinToken('ben'))
    await server.run(400)
  },
  'Muster does not answer, refuses, and has restarted': async (server) => {
    await server.start()
    await server.lose()
    await server.run(250)
    await server.answer(401, { detail: 'no' })
    await server.run(500)
    await server.answer(201, registered({ matches: [duel('m7')] }))
    await server.begin('m7')
    await server.run(200)
    for (const status of [503, 502, 500, 503, 503, 503]) {
      await server.answer(status)
      await server.run(8000)
    }
    await server.answer(429, { detail: 'slower' }, { 'retry-after': '40' })
    await server.run(39_999)
    await server.run(1)
    await server.answer(400, { field: 'matches.0.status', detail: 'must be one of …' })
    await server.run(7500)
    await server.answer(200)
    await server.run(7500)
    await server.over('m7')
    await server.run(200)
    await server.answer(409, { code: 'server-not-registered' })
    await server.run(200)
    await server.answer(200, registered({ matches: [duel('m7')] }))
    await settle(server, {})
    await server.healthy(false)
    await server.run(10_000)
    await server.answer(200, orders({ version: 8 }))
    await server.run(200)
  },
  'seats are open, and others come': async (server) => {
    await play(server)
    await server.seats('m7', { open: true, teams: { green: 1 } })
    await server.seats('m7', { open: true, teams: { red: 0.5 } })
    await server.seats('m7', { open: true, teams: { blue: 1 } })
    await settle(server)
    await server.run(1000)
    await server.answer(200, orders({ version: 9, matches: [duel('m7', 'cas')] }))
    await server.admit(joinToken('cas'))
    await settle(server, { version: 9, matches: [duel('m7', 'cas')] })
    await server.seats('m7', { open: false })
    await server.run(50)
    await server.left('cas')
    await settle(server, { version: 9, matches: [duel('m7', 'cas')] })
    await server.run(1000)
    const { teams, ...match } = duel('m7')
    const [red, blue] = teams as [WireTeam, WireTeam]
    const players = [...blue.players, { id: 'cas', ticket_id: 't-new' }]
    const again = { ...match, teams: [red, { name: 'blue', players }] }
    await server.answer(200, orders({ version: 10, matches: [again] }))
    await server.left('cas')
    await server.admit(joinToken('cas', {}, START + 9000))
    await server.admit(joinToken('cas', { sid: 's-new' }, START + 9000))
    await settle(server, { version: 10, matches: [again] })
    await server.run(1000)
    await server.answer(200, orders({ version: 11 }))
    await server.run(200)
  },
  'players never come: their seats are free for others, and they come by new ones': async (server) => {
    await play(server)
    await server.left('ann')
    await settle(server)
    await server.left('ann')
    await server.admit(joinToken('ann'))
    await server.run(2000)
    await server.left('ben', 1000)
    await settle(server)
    await server.admit(joinToken('ben'))
    await settle(server)
    const { teams, ...match } = duel('m7')
    const [, blue] = teams as [WireTeam, WireTeam]
    const again = { ...match, teams: [{ name: 'red', players: [{ id: 'ann', ticket_id: 't-new' }] }, blue] }
    await server.admit(joinToken('ann', { sid: 's-new' }))
    await server.run(1000)
    await server.answer(200, orders({ version: 9, matches: [again] }))
    await settle(server, { version: 9, matches: [again] })
    await server.answer(200, orders({ version: 10, matches: [duel('m8')] }))
    await server.begin('m8')
    await settle(server, { version: 10, matches: [duel('m8')] })
    await server.left('ann', 500)
    await settle(server, { version: 10, matches: [duel('m8')] })
    await server.run(500)
    await server.admit(joinToken('ann', { mid: 'm8' }))
    await server.run(2000)
  },
  'Muster drains the server, and stops it': async (server) => {
    await play(server)
    await server.answer(200, orders({ version: 9, want: 'drain', reason: 'surplus', matches: [duel('m7')] }))
    await settle(server, { version: 9, want: 'drain', matches: [duel('m7')] })
    await server.over('m7')
    await settle(server, { version: 10, want: 'stop', reason: 'surplus' })
    await server.run(1000)
    await server.stopped()
  },
  'players have ids that are members of every object': async (server) => {
    const odd = {
      ...duel('m7'),
      teams: [{ name: 'red', players: ODD_IDS.map((id) => ({ id, ticket_id: `t-${id}` })) }],
    }
    await server.start()
    await server.answer(201, registered({ matches: [odd] }))
    await server.begin('m7')
    await settle(server, { matches: [odd] })
    await server.admit(joinToken('constructor'))
    await settle(server, { matches: [odd] })
    await server.left('toString')
    await server.over('m7', { ranking: ODD_IDS.map((id) => [id]) })
    await settle(server, {})
  },
  'a server that is gone has its grace, and refuses matches and players': async (server) => {
    await play(server)
    await server.answer(410, { detail: 'This server is not wanted any more. End its process.' })
    await server.run(250)
    await server.answer(200, orders({ version: 9, matches: [duel('m7'), duel('m9')] }))
    await server.admit(joinToken('ann', { mid: 'm9' }))
    await server.admit(joinToken('zoe'))
    await server.run(24_750)
  },
  'the process is ended by a signal, and Muster hears of it': async (server) => {
    await play(server)
    await server.signal()
    await server.run(200)
    await server.answer(200, orders({ version: 9, want: 'drain', matches: [duel('m7')] }))
    await server.run(500)
    await server.stopped()
    await server.run(100)
    await server.answer(200, orders({ version: 9, want: 'stop' }))
  },
  'the process is ended by a signal while Muster is silent': async (server) => {
    await play(server)
    await server.shutdown()
    await server.over('m7')
    await server.run(100)
    await server.signal()
    await server.run(100)
    await server.lose()
    await server.run(100)
    await server.stopped()
    await server.run(2000)
  },
}

/** Variables of the deployment service, and what the server makes of its ports. */
const ENVIRONMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'the prefix of the specification is found by its request id': {
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORTS_MAPPING: '{"ports":{"game":{"name":"game","internal":7777,"external":30000,"protocol":"UDP"}}}',
    ARBITRIUM_PORTS_MAPPING: '{"ports":{"other":{"internal":1}}}',
  },
  'the prefix of a live service is found by its request id': {
    ARBITRIUM_REQUEST_ID: 'r1',
    ARBITRIUM_PORTS_MAPPING: '{"ports":{"game":{"internal":7777,"external":30000},"web":{"internal":8080}}}',
    SERVICE_PORTS_MAPPING: '{"ports":{"other":{"internal":1}}}',
  },
  'the prefix is set': {
    MUSTER_SERVICE_PREFIX: 'ACME',
    ACME_PORT_GAME_INTERNAL: '7777',
    ACME_PORT_GAME_EXTERNAL: '30000',
    ACME_PORT_WEB_SOCKET_INTERNAL: '8080',
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORT_OTHER_INTERNAL: '1',
  },
  'without a request id the prefix is that of the specification': {
    ARBITRIUM_REQUEST_ID: '',
    SERVICE_PORT_GAME_INTERNAL: '7777',
    ARBITRIUM_PORT_OTHER_INTERNAL: '1',
  },
  'what is no port is left out': {
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORTS_MAPPING: JSON.stringify({
      ports: { a: null, b: { internal: '7' }, c: { internal: 70_000 }, d: { internal: 1.5 }, e: 5, f: { internal: 9 } },
    }),
  },
  'without a mapping that can be read, the variables of each port count': {
    SERVICE_REQUEST_ID: 'r1',
    SERVICE_PORTS_MAPPING: '{"ports":[',
    SERVICE_PORT_GAME_INTERNAL: '7777',
    SERVICE_PORT_A_INTERNAL: '',
    SERVICE_PORT_B_INTERNAL: ' 7',
    SERVICE_PORT_C_INTERNAL: '1e3',
    SERVICE_PORT_D_INTERNAL: '99999',
    SERVICE_PORT__INTERNAL: '7',
  },
}

/** What is done at one moment, with the request at the end. */
function inOrder(lines: readonly Line[]): Line[] {
  const rank = ({ out }: Line) => (out !== undefined && 'request' in out ? 1 : 0)
  const groups: Line[][] = []
  for (const line of lines) {
    const last = groups.at(-1)?.at(-1)
    if (line.out !== undefined && last?.out !== undefined && last.at === line.at) groups.at(-1)?.push(line)
    else groups.push([line])
  }
  return groups.flatMap((group) => group.toSorted((a, b) => rank(a) - rank(b)))
}

test('the transcript is what the game server does today; `--update` writes it anew', async () => {
  const lines: Line[] = []
  for (const [session, act] of Object.entries(SESSIONS)) {
    const own: Line[] = []
    await act(openServer(own))
    lines.push({ session }, ...inOrder(own))
  }
  for (const [session, environment] of Object.entries(ENVIRONMENTS)) {
    const own: Line[] = []
    await openServer(own, environment).start()
    lines.push({ session: `where it runs: ${session}` }, ...own)
  }
  expect(lines.length).toBeGreaterThan(300)
  await expect(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`).toMatchFileSnapshot(PATH.pathname)
})
