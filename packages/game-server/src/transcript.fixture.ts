import { createManualClock, dateOf } from '@muster/core/clock'
import { expect } from 'vitest'
import { InvalidCall, type JoinRefused } from './errors.js'
import { createGameServer } from './game-server.js'
import { joinKeyOf, signJoinToken } from './join-token.js'
import type { MatchResult } from './match-result.js'
import type { Match, Player, SeatsWanted } from './served-match.js'
import type { WireMatch } from './wire.js'

// Runs a game server and writes down its commands and answers, for `transcript.test.ts`.

export const START = Date.parse('2026-11-26T12:00:00Z')
const TOKEN = 'm1.secret'
/** A key with which a process adds itself to a pool, and the knock that such a process receives. */
export const ENROL_KEY = 'a-key-of-the-arena-in-frankfurt-1'
export const KNOCK = 'muster-knock-tXb2-9fQ'
export const key = joinKeyOf(TOKEN)
/** Ids that a plain object would find in its prototype. */
export const ODD_IDS = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']
export type WireTeam = WireMatch['teams'][number]
export const orders = (more: object = {}) => ({ version: 7, want: 'run', matches: [], ...more })
export const registered = (more: object = {}) => ({
  ...orders(more),
  id: 'm1',
  alg: 'HS256',
  key: Buffer.from(key).toString('base64url'),
  retire_at: null,
})
export const duel = (id: string, ...more: string[]): WireMatch => ({
  id,
  profile: 'duel',
  equality: { mode: 'ranked' },
  intersection: { maps: ['ice'] },
  teams: [
    { name: 'red', players: [{ id: 'ann', ticket_id: 't-ann', attributes: { skill: 1200 } }] },
    { name: 'blue', players: ['ben', ...more].map((player) => ({ id: player, ticket_id: 't-ben' })) },
  ],
})
export const joinToken = (player: string, more: object = {}, now = START, signedWith: Uint8Array = key) =>
  signJoinToken({ aud: 'm1', sub: player, mid: 'm7', sid: `s-${player}`, ...more }, signedWith, now)

export interface Line {
  readonly session?: string
  readonly at?: number
  readonly in?: object
  readonly out?: object
}

/** A server whose commands and answers are written down, and what it does. */
export function openServer(lines: Line[], environment?: Readonly<Record<string, string>>, handleSignals = true) {
  const clock = createManualClock({ start: START })
  const write = (line: 'in' | 'out', what: object) => lines.push({ at: clock.now(), [line]: what })
  let commands = 0
  let requests = 0
  let isHealthy = true
  const none = () => {
    throw new Error('there is no request to reply to')
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
  const enrols = environment?.['MUSTER_ENROL_KEY'] !== undefined
  const options = { build: '1.0', matches: 2, attributes: { map: 'ice' } }
  const server = createGameServer({
    ...options,
    handleSignals,
    env: { ...environment, MUSTER_URL: 'http://muster.example/api', ...(!enrols && { MUSTER_SERVER_TOKEN: TOKEN }) },
    clock: { ...clock, date: () => dateOf(clock) },
    random: () => 0.5,
    health: () => isHealthy,
    onProblem: ({ message }) => {
      // A problem that begins with `own:` was thrown by the game's own handler. The transcript omits it, because the
      // game knows it already.
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
        // A token is written down only if it differs from the one that the transport sends by default.
        const sent = new Headers(init?.headers).get('authorization')?.replace('Bearer ', '')
        const own = sent === (enrols ? ENROL_KEY : TOKEN) ? {} : { token: sent }
        write('out', { request, method: init?.method, path, body, waitMs, ...own })
        const lostAt = clock.now() + waitMs + 10_000
        const abort = () => {
          // An abort at `lostAt` is a timeout. An engine's transport times out by itself, and reports that no response
          // arrived.
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
  /** Writes down a command and its outcome. */
  const give = async (what: object, act: (command: number) => unknown) => {
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
    /** Sets the machine's clock. Only its dates change. */
    setClock: async (byMs: number) => {
      clock.step(byMs)
      write('in', { do: 'clock', aheadMs: clock.wallStepMs() })
      await flush()
    },
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
      give({ do: 'over', match, ...(result && { result }) }, (command) => {
        const ending = server.matches.get(match)?.over(result)
        void ending?.then(() => write('out', { done: command }))
      }),
    seats: (match: string, wanted: SeatsWanted) =>
      give({ do: 'seats', match, ...wanted }, () => server.matches.get(match)?.seats(wanted)),
    admit: (token: string) =>
      give({ do: 'admit', token }, (command) => {
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
    knock: async (text: string) => {
      write('in', { do: 'knock', text })
      expect(server.knocked(Buffer.from(text))).toBe(true)
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

export type Server = ReturnType<typeof openServer>

/** Brings the server to the long poll: registered, with an open match. */
export async function play(server: Server): Promise<void> {
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

/** Lets the server report the outcome of a command, and answers the report. */
export async function settle(server: Server, more: object = { matches: [duel('m7')] }): Promise<void> {
  await server.run(200)
  await server.answer(200, orders({ version: 8, ...more }))
  await server.run(200)
}

/** Sorts the lines of the same time: the request comes last. */
export function inOrder(lines: readonly Line[]): Line[] {
  const rank = ({ out }: Line) => (out !== undefined && 'request' in out ? 1 : 0)
  const groups: Line[][] = []
  for (const line of lines) {
    const last = groups.at(-1)?.at(-1)
    if (line.out !== undefined && last?.out !== undefined && last.at === line.at) groups.at(-1)?.push(line)
    else groups.push([line])
  }
  return groups.flatMap((group) => group.toSorted((a, b) => rank(a) - rank(b)))
}
