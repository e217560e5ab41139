import { Conflict, InvalidInput, NotFound } from '@muster/core'
import { Problem } from '@muster/core/http'
import {
  BackfillExists,
  EnrolmentRefused,
  InvalidBackfill,
  InvalidMatch,
  InvalidTicket,
  MatchmakerClosed,
  NothingToAccept,
  MatchNotRunning,
  PlayerBusy,
  PlayerCoolingDown,
  PlayerOverLimit,
  PlayerPlaying,
  BackfillVersionConflict,
  AlreadyAssigned,
  SeatRefused,
  Unavailable,
  UnknownQueue,
  UnknownSeat,
  UnknownServer,
} from '../errors.js'
import { ServerGone, ServerNotRegistered } from '@muster/hosting/internal'
import { type Dates, isoTime } from './ticket-views.js'

/** The names of the matchmaker's fields in this API. */
const wireKeys: Readonly<Record<string, string>> = {
  queue: 'profile',
  queues: 'profiles',
  latencies: 'attributes.beacons',
  ip: 'player_ip',
}

/**
 * Returns the name of a matchmaker's field in this API. E.g. `players.1.attributes.skill` is `attributes.skill` in a
 * body about one player, and `player_tickets.1.attributes.skill` in a party's.
 */
function wireField(field: string, party: boolean): string {
  const [first = '', index = '', key = '', ...rest] = field.split('.')
  if (first !== 'players') return [wireKeys[first] ?? first, ...field.split('.').slice(1)].join('.')
  const inPlayer = key === '' ? [] : [key === 'id' ? 'player_id' : (wireKeys[key] ?? key), ...rest]
  return [...(party ? ['player_tickets', ...(index === '' ? [] : [index])] : []), ...inPlayer].join('.')
}

/** Returns the problem for a private match that the matchmaker refuses. */
function invalidMatch({ field = '', message }: InvalidMatch): Problem {
  const [teams = '', team = '', players = '', ...rest] = field.split('.')
  const inTeam = teams === 'teams' && players === 'players' && rest.length > 0
  const inPlayer = wireField(['players', ...rest].join('.'), false)
  const wire = inTeam
    ? [teams, team, players, rest[0], inPlayer].filter((part) => part !== '').join('.')
    : (wireKeys[field] ?? (field === 'skipAcceptance' ? 'skip_acceptance' : field))
  const text = message.replace(/^match: /, '')
  const detail = field === '' ? text : text.replace(field, wire)
  return new Problem(400, 'invalid-match', detail, { field: wire || undefined })
}

/** Returns the problem for a ticket that the matchmaker refuses. */
function invalidTicket({ field = '', message }: InvalidTicket, party: boolean): Problem {
  const wire = wireField(field, party)
  const text = message.replace(/^ticket: /, '')
  // In a body about one player, a fault of all players together has no field.
  const named = wire === '' ? text.replace(`${field}: `, '') : text.replace(field, wire)
  return new Problem(400, 'invalid-ticket', field === '' ? text : named, { field: wire || undefined })
}

const conflict = (
  code: string,
  { message }: Conflict,
  members?: Readonly<Record<string, string | number>>,
  retryAfterMs?: number,
): Problem => new Problem(409, code, message, { members, retryAfterMs })

const ENROLMENT_STATUSES: Partial<Readonly<Record<EnrolmentRefused['code'], number>>> = {
  'wrong-key': 401,
  address: 403,
}
const SEAT_STATUSES: Partial<Readonly<Record<SeatRefused['code'], number>>> = {
  'no-such-team': 400,
  'wrong-password': 403,
  'too-many-tries': 429,
  'no-capacity': 503,
}

/** Returns the problem for a seat that is refused. */
function seatProblem({ code, message, alternatives, seatId, retryAfterMs }: SeatRefused): Problem {
  const members = {
    ...(alternatives !== undefined && { alternatives }),
    ...(seatId !== undefined && { seat_id: seatId }),
  }
  return new Problem(SEAT_STATUSES[code] ?? 409, code, message, { members, retryAfterMs })
}

/** Errors whose problem has the error's message as its text. The first class that fits counts. */
const PLAIN: readonly (readonly [kind: abstract new (...given: never[]) => Error, status: number, code: string])[] = [
  [NothingToAccept, 409, 'nothing-to-accept'],
  [MatchNotRunning, 409, 'not-running'],
  [UnknownServer, 404, 'no-such-server'],
  [UnknownSeat, 404, 'no-such-seat'],
  [ServerNotRegistered, 409, 'server-not-registered'],
  [ServerGone, 410, 'server-gone'],
  // Fallback for the matchmaker's other errors.
  [NotFound, 404, 'not-found'],
  [Conflict, 409, 'conflict'],
]

/**
 * Returns the problem for an error of the matchmaker; undefined for an unexpected error.
 * @param party true if the body described a party.
 */
export function problemOf(error: unknown, dates: Dates, party = false): Problem | undefined {
  if (error instanceof InvalidTicket) return invalidTicket(error, party)
  if (error instanceof UnknownQueue) return new Problem(400, 'unknown-profile', error.message, { field: 'profile' })
  if (error instanceof PlayerBusy) return conflict('player-busy', error, { ticket_id: error.ticketId })
  if (error instanceof PlayerPlaying) {
    const { ticketId, matchId } = error
    const members = ticketId === undefined ? { match_id: matchId } : { ticket_id: ticketId, match_id: matchId }
    return conflict('player-playing', error, members)
  }
  if (error instanceof PlayerOverLimit) {
    return new Problem(429, 'player-over-limit', error.message, { retryAfterMs: error.retryAfterMs })
  }
  if (error instanceof PlayerCoolingDown) {
    const { until, retryAfterMs } = error
    return conflict('player-cooling-down', error, { retry_at: isoTime(dates.dateOf(until)) }, retryAfterMs)
  }
  if (error instanceof AlreadyAssigned) return conflict('too-late', error, { match_id: error.matchId })
  if (error instanceof InvalidMatch) return invalidMatch(error)
  if (error instanceof BackfillExists) return conflict('backfill-exists', error, { backfill_id: error.backfillId })
  if (error instanceof BackfillVersionConflict) return conflict('stale-version', error, { version: error.version })
  if (error instanceof SeatRefused) return seatProblem(error)
  if (error instanceof EnrolmentRefused)
    return new Problem(ENROLMENT_STATUSES[error.code] ?? 409, error.code, error.message)
  if (error instanceof MatchmakerClosed) {
    return new Problem(503, 'closed', 'The matchmaker is closing. Retry after 1 s.', { retryAfterMs: 1000 })
  }
  if (error instanceof Unavailable) {
    const { retryAfterMs } = error
    return new Problem(503, 'unavailable', 'The requested function is unavailable now. Retry later.', { retryAfterMs })
  }
  if (error instanceof InvalidInput) {
    const code = error instanceof InvalidBackfill ? 'invalid-backfill' : 'invalid-input'
    return new Problem(400, code, error.message, { field: error.field })
  }
  const plain = PLAIN.find(([kind]) => error instanceof kind)
  return plain && new Problem(plain[1], plain[2], (error as Error).message)
}
