import { type Clock, dateOf } from './clock.js'
import { type Environment, localMatch, serviceVariable } from './environment.js'
import { signJoinToken } from './join-token.js'
import type { Reporting, ReportingOptions } from './reporting.js'
import type { WireMatch } from './wire.js'

/**
 * The options of a server that plays without Muster's API. Its one match is described by its environment, or has named
 * local players.
 */
export interface AloneOptions extends Pick<ReportingOptions, 'clock' | 'fetch' | 'state' | 'applyOrders' | 'problem'> {
  readonly match: WireMatch
  readonly env: Environment
}

const ATTEMPTS = 5
/** Milliseconds after which a response counts as lost. */
const ANSWER_MS = 10_000
const PAUSE_MS = 2000
const ALIVE_MS = 60_000

/**
 * Plays one match without reports to Muster. Calls MM_REGISTRATION_URL when players may connect. At the end calls
 * SERVICE_DELETE_URL (with any prefix), which stops the deployment. A URL whose variable is missing is not called.
 */
export function playAlone({ match, env, clock, fetch, state, applyOrders, problem }: AloneOptions): Reporting {
  let wake = () => {}
  let isChanged = true

  /** Aborted when the process is to end. A running call ends then. */
  const ending = new AbortController()

  const call = async (name: string, method: string, url: string, secret: string, body: object | undefined) => {
    for (let nth = 1; nth <= ATTEMPTS && !ending.signal.aborted; nth += 1) {
      const headers = { authorization: secret, ...(body && { 'content-type': 'application/json' }) }
      const [request, timer] = [new AbortController(), new AbortController()]
      const signal = AbortSignal.any([request.signal, ending.signal])
      clock.sleep(ANSWER_MS, timer.signal).then(
        () => request.abort(),
        () => {},
      )
      const answer = await fetch(url, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) }).catch(
        () => undefined,
      )
      timer.abort()
      await answer?.body?.cancel()
      if (answer !== undefined && (answer.ok || answer.status === 410)) return
      if (nth < ATTEMPTS) await clock.sleep(PAUSE_MS, ending.signal).catch(() => {})
    }
    if (!ending.signal.aborted) problem(new Error(`The URL in ${name} did not answer.`))
  }

  const sayReady = () => {
    const { MM_REGISTRATION_URL: url, MM_REGISTRATION_SECRET: secret } = env
    if (url === undefined || secret === undefined) return
    return call('MM_REGISTRATION_URL', 'POST', url, `Bearer ${secret}`, { match_id: match.id })
  }
  const stopItself = () => {
    const [url, token] = [serviceVariable(env, 'DELETE_URL'), serviceVariable(env, 'DELETE_TOKEN')]
    if (url === undefined || token === undefined) return
    return call('The DELETE_URL of the deployment service', 'DELETE', url, token, undefined)
  }

  return {
    run: async (signal) => {
      let isReady = false
      signal.addEventListener('abort', () => ending.abort(), { once: true })
      if (signal.aborted) ending.abort()
      applyOrders({ version: 1, want: 'run', matches: [match] })
      while (!signal.aborted) {
        isChanged = false
        const { matches, draining } = await state()
        const status = matches.find(({ id }) => id === match.id)?.status
        if (status === 'open' && !isReady) {
          isReady = true
          await sayReady()
        }
        if (status === 'over' || status === 'refused' || (draining && status === undefined)) {
          await stopItself()
          applyOrders({ version: 2, want: 'stop', reason: 'over', matches: [] })
          return
        }
        const waking = new AbortController()
        wake = () => waking.abort()
        // The timer keeps the process alive, as a game that listens would.
        if (!isChanged) await clock.sleep(ALIVE_MS, AbortSignal.any([waking.signal, signal])).catch(() => {})
      }
    },
    changed: () => {
      isChanged = true
      wake()
      return Promise.resolve()
    },
  }
}

/** Returns the match of MUSTER_LOCAL_PLAYERS. */
export const localMatchIn = (env: Environment): WireMatch => localMatch(env['MUSTER_LOCAL_PLAYERS'] ?? 'ann,ben')

/** Returns which variable is missing if a local server was probably meant to use Muster. Undefined otherwise. */
export function whyAlone(env: Environment): string | undefined {
  const { MUSTER_URL: url, MUSTER_LOCAL_PLAYERS: players } = env
  const credential = ['MUSTER_SERVER_TOKEN', 'MUSTER_ENROL_KEY'].find((name) => env[name])
  const end = 'So this server plays a match of its own, and Muster sends it no players.'
  if (credential !== undefined) return `${credential} is set, but MUSTER_URL is not. ${end}`
  if (!url || players !== undefined) return undefined
  return `MUSTER_URL is set, but neither MUSTER_SERVER_TOKEN nor MUSTER_ENROL_KEY is. ${end}`
}

/** Prints the join tokens, which a developer pastes into the game's clients. */
export function printTokens(key: Uint8Array, env: Environment, clock: Clock): void {
  const { id: mid, teams } = localMatchIn(env)
  const lines = teams.flatMap(({ name, players }) =>
    players.map(({ id, ticket_id: sid }) => {
      const claims = { aud: 'local', sub: id, mid, sid, ...(name !== '' && { team: name }) }
      return `  ${id}: ${signJoinToken(claims, key, dateOf(clock))}\n`
    }),
  )
  process.stdout.write(
    `This server runs alone, without Muster. Join tokens, valid for five minutes:\n${lines.join('')}`,
  )
}
