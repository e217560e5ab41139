import { InvalidInput } from '@muster/core'
import { Problem } from '@muster/core/http'
import { LobbyRefused, RelayClosed, type LobbyRefusalCode } from '../errors.js'

const statuses: Readonly<Record<LobbyRefusalCode, number>> = {
  'not-joinable': 404,
  'no-such-lobby': 404,
  'no-such-player': 404,
  'lobby-closed': 410,
  'not-host': 403,
  'lobby-full': 409,
  away: 409,
  'own-player': 409,
  'stale-version': 409,
  'not-ready': 409,
  'already-started': 409,
  'not-started': 409,
  leased: 409,
  'data-too-large': 400,
  'too-many-attempts': 429,
  'too-many-lobbies': 409,
  busy: 503,
}

/** The answer for an error of lobbies; undefined for an unexpected error. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof LobbyRefused) {
    const { code, message, retryAfterMs } = error
    return new Problem(statuses[code], code, message, { retryAfterMs: code === 'busy' ? 1000 : retryAfterMs })
  }
  if (error instanceof InvalidInput) return new Problem(400, 'invalid-input', error.message, { field: error.field })
  if (error instanceof RelayClosed)
    return new Problem(503, 'closed', 'this server is closing: try again', { retryAfterMs: 1000 })
  return undefined
}
