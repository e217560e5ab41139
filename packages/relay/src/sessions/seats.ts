// pure: which player has which token
import type { SessionUser } from './reading.js'
import type { RelayPlayer, RelaySeat } from './session.js'

export interface Seating {
  readonly seats: readonly RelaySeat[]
  /** Players for whom the service has no token yet. */
  readonly missing: readonly RelayPlayer[]
}

/** Tokens at an address that no player has, in ascending order: neither taken, nor listed at another address too. */
export function freeTokens(ip: string, users: readonly SessionUser[], taken: ReadonlySet<number>): number[] {
  const here = new Set(users.filter((user) => user.ip === ip).map(({ token }) => token))
  const elsewhere = new Set(users.filter((user) => user.ip !== ip).map(({ token }) => token))
  return [...here].filter((token) => !taken.has(token) && !elsewhere.has(token)).toSorted((a, b) => a - b)
}

/**
 * Gives every player an own token. The service knows players by address only, so players behind one address share its
 * tokens: in the players' order, by ascending token. Any process gets the same result, whatever order the service
 * answers in.
 */
export function seatPlayers(players: readonly RelayPlayer[], users: readonly SessionUser[]): Seating {
  const seats: RelaySeat[] = []
  const missing: RelayPlayer[] = []
  for (const { id, ip } of players) {
    const [token] = freeTokens(ip, users, new Set(seats.map((seat) => seat.token)))
    if (token === undefined) missing.push({ id, ip })
    else seats.push({ id, ip, token })
  }
  return { seats, missing }
}
