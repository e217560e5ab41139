// pure: stored JSON; the header of a stored ticket
import type { Ticket, TicketStatus } from '@muster/matchmaker'
import type { HeaderLetter } from './store.js'

/**
 * Parses stored JSON. @param what e.g. `header`.
 * @throws Error that quotes nothing of it, because it may hold addresses and secrets
 */
export function readStored<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw new Error(`a stored ${what} is damaged: it is not JSON`)
  }
}

/**
 * The changing part of a ticket. It is stored as lines. The first is `<letter><version>[ <matchId>]`, so that a script
 * can read state, version and match without parsing JSON. The rest follows as JSON, and then the assignment as JSON, if
 * there is one. The assignment is the same for all tickets of a match:
 *
 *     A3 ma0f3k…
 *     {"attempts":0,"queue":"ranked","team":"red","matchedAt":1763783640000,"assignedAt":1763783650000}
 *     {"fqdn":"a1b2c3.example.com","ports":{}}
 */
export type StoredTicketState = Omit<Ticket, 'id' | 'queues' | 'players' | 'priority' | 'createdAt'>

const LETTERS: Readonly<Record<TicketStatus, HeaderLetter>> = {
  SEARCHING: 'S',
  MATCH_FOUND: 'M',
  HOST_ASSIGNED: 'A',
  CANCELLED: 'C',
}
const STATUSES = Object.fromEntries(Object.entries(LETTERS).map(([status, letter]) => [letter, status])) as Readonly<
  Record<HeaderLetter, TicketStatus>
>

/** The part of a header that scripts can read. */
export interface HeaderPrefix {
  readonly letter: HeaderLetter
  readonly version: number
  readonly matchId: string | undefined
}

const PREFIX = /^([SMAC])([1-9]\d*)(?: ([^\n]+))?(?:\n|$)/

/** Parses the first line of a header. @throws Error that quotes nothing of the text if it is not a header */
export function readPrefix(header: string): HeaderPrefix {
  const found = PREFIX.exec(header)
  if (found === null)
    throw new Error('the stored header of a ticket is damaged: it does not begin with a state and a version')
  return { letter: found[1] as HeaderLetter, version: Number(found[2]), matchId: found[3] }
}

/** Returns the header of a ticket. Accepts whole tickets too, and omits what the body contains. */
export function encodeHeader(state: StoredTicketState): string {
  const { status, version, matchId, waitingFor, attempts, queue, team, matchedAt } = state
  const { acceptance, assignedAt, assignment, ended, left, cancelledAt, cancelReason } = state
  const place = matchId === undefined ? '' : ` ${matchId}`
  const times = { matchedAt, acceptance, assignedAt, ended, left, cancelledAt, cancelReason }
  const rest = { attempts, waitingFor, queue, team, ...times }
  const last = assignment === undefined ? '' : `\n${JSON.stringify(assignment)}`
  return `${LETTERS[status]}${version}${place}\n${JSON.stringify(rest)}${last}`
}

/**
 * Returns the state in a header. For a ticket without a header, returns the initial state. Fields that do not belong to
 * the status are omitted, because `cancel` leaves them in the header.
 */
export function decodeHeader(header: string | undefined): StoredTicketState {
  if (header === undefined) return { version: 1, status: 'SEARCHING', waitingFor: 'players', attempts: 0 }
  const { letter, version, matchId } = readPrefix(header)
  const [, json = '{}', assignment] = header.split('\n')
  const rest = readStored<Partial<StoredTicketState>>(json, 'header')
  const status = STATUSES[letter]
  return {
    version,
    status,
    waitingFor: letter === 'S' ? rest.waitingFor : undefined,
    attempts: rest.attempts ?? 0,
    matchId,
    queue: rest.queue,
    team: rest.team,
    matchedAt: rest.matchedAt,
    acceptance: letter === 'M' ? rest.acceptance : undefined,
    assignedAt: rest.assignedAt,
    assignment: assignment === undefined ? undefined : readStored(assignment, 'assignment'),
    ended: letter === 'A' ? rest.ended : undefined,
    left: letter === 'A' ? rest.left : undefined,
    cancelledAt: rest.cancelledAt,
    cancelReason: rest.cancelReason,
  }
}
