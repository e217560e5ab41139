import type { Clock } from './clock.js'
import { createMuster, type Muster, type MusterOptions } from './muster.js'
import type { WireTicket } from './wire.js'

/** Options of the simulated matchmaker. Milliseconds are those of its own clock. */
interface TestMusterOptions {
  /** Milliseconds from the search to the match. Default 1000. */
  readonly matchAfterMs?: number
  /** Milliseconds from the match to the server. Default 1000. */
  readonly serverAfterMs?: number
  /** True: players must accept the match. Default false. */
  readonly acceptance?: boolean
}

/** A client with a matchmaker in memory, for tests of a game's own pages. The test controls the time. */
export interface TestMuster {
  readonly muster: Muster
  /** Advances time, so that matches are found and servers start. */
  advance(ms: number): Promise<void>
  /** Refuses all further searches with this problem. Undefined: accepts them again. */
  refuse(problem: { readonly status: number; readonly code: string } | undefined): void
  /** Disconnects the client (true), or restores its connection (false). */
  offline(isOffline: boolean): void
  /** Ends the player's match, as its server would. */
  endMatch(): void
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Number of turns of the event loop within which responses arrive. */
const TURNS = 20

export function createTestMuster(options: TestMusterOptions = {}): TestMuster {
  const { matchAfterMs = 1000, serverAfterMs = 1000, acceptance = false } = options
  const sleepers = new Set<Sleeper>()
  let now = 0
  let tickets = 0
  let ticket: WireTicket | undefined
  let isOffline = false
  let refusal: { readonly status: number; readonly code: string } | undefined
  let changed = () => {}

  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { at: now + ms, wake: resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper)
          reject(new Error('aborted'))
        })
      }),
  }
  const set = (change: Partial<WireTicket>) => {
    if (ticket === undefined) return
    ticket = { ...ticket, ...change, version: ticket.version + 1 }
    const wake = changed
    changed = () => {}
    wake()
  }
  const findServer = (id: string) =>
    void clock.sleep(serverAfterMs).then(() => {
      if (ticket?.id !== id || ticket.status !== 'MATCH_FOUND') return
      const ports = { game: { internal: 7777, external: 30_000, link: 'game.example:30000', protocol: 'UDP' } }
      const assignment = { fqdn: 'game.example', ports, location: { city: 'Frankfurt' }, join_token: `token-of-${id}` }
      set({ status: 'HOST_ASSIGNED', match_id: `match-of-${id}`, assignment })
    })
  const findMatch = (id: string) =>
    void clock.sleep(matchAfterMs).then(() => {
      if (ticket?.id !== id || ticket.status !== 'SEARCHING') return
      const until = new Date(now + 10_000).toISOString()
      set({ status: 'MATCH_FOUND', ...(acceptance && { acceptance: { accepted: false, until } }) })
      if (!acceptance) findServer(id)
    })

  const answer = (status: number, body?: unknown) =>
    new Response(body === undefined ? null : JSON.stringify(body), { status })
  const problem = (status: number, code: string) => answer(status, { code, detail: `Refused: ${code}.` })

  const respond = async (method: string, path: string, body: { readonly profile: string }, signal: AbortSignal) => {
    const isRunning = ticket?.status === 'HOST_ASSIGNED' && ticket.ended === undefined
    const isQueued = ticket !== undefined && ticket.status !== 'CANCELLED' && ticket.status !== 'HOST_ASSIGNED'
    if (path === '/me')
      return answer(200, {
        tickets: isQueued || isRunning ? [ticket] : [],
        groups: [],
        matches: isRunning ? [{ match_id: ticket?.match_id, assignment: ticket?.assignment }] : [],
      })
    if (method === 'POST' && path === '/tickets') {
      if (refusal !== undefined) return problem(refusal.status, refusal.code)
      if (isQueued) return problem(409, 'player-busy')
      if (isRunning) return problem(409, 'player-playing')
      tickets += 1
      ticket = { id: `ticket-${tickets}`, profile: body.profile, status: 'SEARCHING', version: 1 }
      findMatch(ticket.id)
      return answer(201, ticket)
    }
    const [, id, verb, version] = /^\/tickets\/([^/?]+)(?:\/(accept|decline))?(?:\?.*version=(\d+))?/.exec(path) ?? []
    if (ticket === undefined || id !== ticket.id) return problem(404, 'no-such-ticket')
    if (method === 'DELETE') {
      if (!isQueued) return problem(409, 'too-late')
      set({ status: 'CANCELLED', cancel_reason: 'cancelled' })
      return answer(204)
    }
    if (verb === 'decline') set({ status: 'CANCELLED', cancel_reason: 'declined' })
    else if (verb === 'accept' && ticket.acceptance) {
      set({ acceptance: { ...ticket.acceptance, accepted: true } })
      findServer(ticket.id)
    } else if (version !== undefined && ticket.version === Number(version))
      await new Promise<void>((resolve) => {
        changed = resolve
        signal.addEventListener('abort', () => resolve())
        clock.sleep(25_000, signal).then(resolve, () => {})
      })
    return answer(200, ticket)
  }

  const request: NonNullable<MusterOptions['fetch']> = async (input, init) => {
    if (isOffline) throw new TypeError('offline')
    const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as { profile: string }) : { profile: '' }
    return respond(
      init?.method ?? 'GET',
      String(input).replace('http://muster.test', ''),
      body,
      init?.signal as AbortSignal,
    )
  }

  return {
    muster: createMuster({ url: 'http://muster.test', follow: 'poll', fetch: request, clock, random: () => 0.5 }),
    advance: async (ms) => {
      const until = now + ms
      const settle = async () => {
        for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve()
        await new Response('').text()
        for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve()
      }
      await settle()
      for (;;) {
        let next: Sleeper | undefined
        for (const one of sleepers) if (one.at <= until && (next === undefined || one.at < next.at)) next = one
        if (next === undefined) break
        now = Math.max(now, next.at)
        sleepers.delete(next)
        next.wake()
        await settle()
      }
      now = until
    },
    refuse: (given) => {
      refusal = given
    },
    offline: (given) => {
      isOffline = given
    },
    endMatch: () => set({ ended: { reason: 'match-over' } }),
  }
}
