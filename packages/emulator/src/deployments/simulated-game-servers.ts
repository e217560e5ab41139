import { seededRandom } from '@muster/core/clock'
import type { Surroundings } from '../timers.js'
import type { Container, Launch } from './launch-process.js'
import { drawWait } from './lifecycle.js'

/**
 * Behaviour of simulated game servers. Durations are medians in milliseconds of simulated time, before `speed`,
 * drawn from a log-normal distribution; probabilities are from 0 to 1.
 */
export interface GameServerSettings {
  /** Milliseconds from the container's start until the server registers. Default 3,000. */
  readonly bootMs: number
  /** Milliseconds of a match, from the time at which players may connect. Default 60,000. */
  readonly matchMs: number
  /** Spread of `bootMs` and `matchMs`: standard deviation of the logarithm. Default 0.3. */
  readonly spread: number
  /** Number of matches that a server serves at a time. Default 1. */
  readonly matches: number
  /** Probability that the process crashes during a match. Default 0. */
  readonly crash: number
  /** Probability that the server stops reporting during a match. Default 0. */
  readonly silent: number
  /** Probability that the server refuses a match. Default 0. */
  readonly refuse: number
  /** Probability that a report states a falsehood about players. Default 0. */
  readonly lie: number
}

/** The default behaviour (our choice). */
export const defaultGameServerSettings: GameServerSettings = {
  bootMs: 3000,
  matchMs: 60_000,
  spread: 0.3,
  matches: 1,
  crash: 0,
  silent: 0,
  refuse: 0,
  lie: 0,
}

interface GameServerDeps extends Omit<Surroundings, 'timers'> {
  /** Sends the servers' requests. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

/** Seconds for which Muster holds a report until there are new orders. */
const WAIT_SECONDS = 10
/** Milliseconds until a request without a response is repeated. */
const RETRY_MS = 1000
const CRASHED = 1

/**
 * Simulates the containers of deployments that report to Muster. Each server registers at MUSTER_URL with its
 * MUSTER_SERVER_TOKEN, plays its matches, and ends when ordered. A deployment without these variables is simulated
 * without a game server.
 */
export function simulatedGameServers(settings: GameServerSettings, deps: GameServerDeps): Launch {
  return ({ request_id: requestId, env }) => {
    const { MUSTER_URL: url, MUSTER_SERVER_TOKEN: token } = env
    if (url === undefined || token === undefined) return undefined
    const random = seededRandom(Math.floor(deps.random() * 2 ** 32))
    return startServer({ requestId, url, token, settings, ...deps, random })
  }
}

interface ServerOptions extends GameServerDeps {
  readonly requestId: string
  readonly url: string
  readonly token: string
  readonly settings: GameServerSettings
}

interface SimulatedMatch {
  status: 'open' | 'refused' | 'over'
  readonly players: readonly string[]
}

/** Muster's orders to a server: see docs/servers.md. */
interface ReceivedOrders {
  readonly version: number
  readonly want: string
  readonly matches: readonly { id: string; teams: readonly { players: readonly { id: string }[] }[] }[]
}

function startServer({ requestId, url, token, settings, clock, random, speed, fetch }: ServerOptions): Container {
  const ending = new AbortController()
  const lines: string[] = []
  const playing = new Map<string, SimulatedMatch>()
  let exitCode = 0
  let seq = 0
  let version: number | undefined
  let isSilent = false
  /** Ends the request that waits for orders, because the server has something to report. */
  let speak = () => {}

  const log = (line: string) => {
    lines.push(`${line}\n`)
    if (lines.length > 200) lines.shift()
  }
  const draw = (ms: number) => drawWait(ms, settings.spread, random) / speed
  const happens = (probability: number) => random() < probability
  const end = (code: number) => {
    if (ending.signal.aborted) return
    exitCode = code
    ending.abort(new Error('the game server has ended'))
  }
  const after = (ms: number, act: () => void) => {
    clock.sleep(ms, ending.signal).then(act, () => {})
  }

  const begin = (id: string, players: readonly string[]) => {
    if (happens(settings.refuse)) return void playing.set(id, { status: 'refused', players })
    const match: SimulatedMatch = { status: 'open', players }
    playing.set(id, match)
    log(`match ${id} begins with ${players.length} players`)
    const lasts = draw(settings.matchMs)
    if (happens(settings.crash)) after(lasts / 2, () => end(CRASHED))
    if (happens(settings.silent))
      after(lasts / 2, () => {
        isSilent = true
        speak()
      })
    after(lasts, () => {
      match.status = 'over'
      log(`match ${id} is over`)
      speak()
    })
  }

  /** Applies the matches of the orders. Returns true if they differ from the previous ones. */
  const applyOrders = ({ matches, want }: ReceivedOrders): boolean => {
    if (want === 'stop') end(0)
    let isNew = false
    for (const id of playing.keys()) if (!matches.some((match) => match.id === id)) playing.delete(id)
    for (const { id, teams } of matches) {
      if (playing.has(id)) continue
      isNew = true
      begin(
        id,
        teams.flatMap(({ players }) => players.map((player) => player.id)),
      )
    }
    return isNew
  }

  const reportOf = ({ status, players }: SimulatedMatch, id: string) => {
    const isLie = happens(settings.lie)
    return {
      id,
      status,
      players: Object.fromEntries(players.map((player) => [player, isLie && happens(0.5) ? 'left' : 'in'])),
      ...(status === 'over' && { result: { ranking: players.map((player) => [player]) } }),
    }
  }

  /**
   * Sends a request. Resolves with the orders, or with the status of an error. @throws if there was no readable
   * response.
   */
  const ask = async (
    method: string,
    path: string,
    body: object,
    signal: AbortSignal,
  ): Promise<ReceivedOrders | number> => {
    const response = await fetch(`${url.replace(/\/$/, '')}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ instance: requestId, ...body }),
      signal,
    })
    return response.ok ? ((await response.json()) as ReceivedOrders) : response.status
  }

  /** Sends a report. Waits for orders, unless the server has something to report before. */
  const report = async (waits: boolean): Promise<ReceivedOrders | number | undefined> => {
    const speaking = new AbortController()
    speak = () => speaking.abort()
    seq += 1
    const matches = [...playing].map(([id, match]) => reportOf(match, id))
    const path = waits && version !== undefined ? `?wait=${WAIT_SECONDS}&version=${version}` : ''
    try {
      return await ask('PUT', `/servers/me${path}`, { seq, matches }, AbortSignal.any([speaking.signal, ending.signal]))
    } catch (error) {
      // The request was ended by `speak`. The next report contains the changes.
      if (speaking.signal.aborted) return undefined
      throw error
    } finally {
      speak = () => {}
    }
  }

  const serve = async (): Promise<void> => {
    await clock.sleep(draw(settings.bootMs), ending.signal)
    let isRegistered = false
    let waits = true
    while (!ending.signal.aborted) {
      if (isSilent) await clock.sleep(Number.MAX_SAFE_INTEGER, ending.signal)
      let answer: ReceivedOrders | number | undefined
      try {
        answer = isRegistered
          ? await report(waits)
          : await ask('POST', '/servers', { matches: settings.matches }, ending.signal)
      } catch {
        // Counts as status 503: the simulated server continues to play while Muster does not respond.
        answer = 503
      }
      waits = false
      if (answer === undefined) continue
      if (typeof answer !== 'number') {
        isRegistered = true
        version = answer.version
        // New matches are reported as open immediately.
        waits = !applyOrders(answer)
      } else if (answer === 410) end(0)
      else if (answer === 409) isRegistered = false
      else {
        log(`Muster answers ${answer}`)
        await clock.sleep(RETRY_MS, ending.signal)
      }
    }
  }

  const exited = serve()
    .catch((error: unknown) => {
      if (!ending.signal.aborted) log(String(error))
    })
    .then(() => exitCode)
  return { exited, stop: () => end(0), logs: () => lines.join('') }
}
