import type { TeamShape } from '@muster/kernel'
import type { Queue } from '../queues/queue.js'
import type { ReturnReason, StopReason } from '@muster/servers'
import type { PrivateSeat } from '../tickets/checked-ticket.js'
import type { Match, TicketRecord } from '../tickets/records.js'
import type { Placed } from '../tickets/vacancies.js'

/** Why a match ends. */
export interface EndOfMatch {
  readonly reason: ReturnReason
  /** Whether that counts as an attempt: of each of its tickets, or of those of these ids. Default false. */
  readonly counts?: boolean | readonly string[] | undefined
  /** Why its server is stopped. Default: `reason`. */
  readonly stop?: StopReason | undefined
}

/** A new match that gets a server at once. */
export const newMatch = (matchId: string, queue: Queue, teams: readonly TeamShape[], foundAt: number): Match => ({
  matchId,
  queue,
  teams,
  foundAt: Math.floor(foundAt),
  expansionMs: 0,
  seated: NOBODY,
  placed: NOBODY,
  phase: 'due',
  teamsUnknown: false,
  fullBy: Infinity,
  requestId: undefined,
  assignment: undefined,
  backfill: undefined,
})

/** A queue as it is for a private match: who leaves before the server runs is not replaced, nor kept from waiting. */
export const privateQueue = (queue: Queue, { asks }: PrivateSeat): Queue => ({
  ...queue,
  replaceLeavers: false,
  cooldown: undefined,
  acceptance: asks && queue.acceptance !== undefined ? { ...queue.acceptance, replace: false } : undefined,
})

const NOBODY: readonly never[] = []

/** Whether the ticket is in the match, and has no server yet. */
export const isSeated = (record: TicketRecord, match: Match): boolean =>
  record.status === 'MATCH_FOUND' && record.seat?.match === match

/** The tickets of the match that have no server yet. */
export const waitingFor = (match: Match): readonly TicketRecord[] =>
  match.seated.filter((record) => isSeated(record, match))

export const playersOf = (records: readonly TicketRecord[]): readonly string[] =>
  records.flatMap(({ players }) => players.map(({ id }) => id))

export const placed = (records: readonly TicketRecord[]): readonly Placed[] =>
  records.map((ticket) => ticket.seat ?? { ticket, team: 0 })
